"""Where code stands in a model's reply: its fenced blocks, and the text around them.

Fences as in CommonMark (spec.commonmark.org/0.31.2/#fenced-code-blocks), and as models really write them: behind
prose, on the last line of the code, never closed. One pass over the lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

PYTHON_TAGS = frozenset({"", "python", "python3", "py", "py3", "pycon", "pyi", "ipython", "ipython3", "tool_code"})


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its text, its language in lower case (empty: untagged), whether its end was seen."""

    source: str
    language: str
    closed: bool

    @property
    def maybe_python(self) -> bool:
        return self.language in PYTHON_TAGS


@dataclass(frozen=True, slots=True)
class Layout:
    """A reply's fenced blocks in order, and its lines outside of them."""

    blocks: tuple[Block, ...]
    prose: str


def layout(text: str) -> Layout:
    """Tell fenced blocks from prose. Lines end in ``\\n``."""
    reading = _Reading()
    for line in text.split("\n"):
        reading.take(line)
    if reading.opened:
        reading.close(at_end=True)
    return Layout(tuple(reading.blocks), "\n".join(reading.prose))


@dataclass(frozen=True, slots=True)
class _Fence:
    """A line that is a fence: ``info`` is what stands behind the marks."""

    indent: int
    mark: str
    length: int
    info: str

    @property
    def language(self) -> str:
        found = re.search(r"[a-z0-9_+#-]+", self.info[:60].lower())
        return found[0] if found else ""


@dataclass(slots=True)
class _Reading:
    """The state between two lines."""

    blocks: list[Block] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    opened: _Fence | None = None
    lines: list[str] = field(default_factory=list)

    def take(self, line: str) -> None:
        if "`" not in line and "~" not in line:  # as most lines
            (self.prose if self.opened is None else self.lines).append(line)
            return
        fence = _fence(line)
        if self.opened is None:
            self._take_outside(line, fence)
        elif fence and _opens_another(fence, self.opened):
            self.close()
            self.opened = fence
        elif fence and _closes(fence, self.opened):
            self.close()
        elif _closes_behind_code(line, self.opened):
            self.lines.append(line.rstrip().rstrip("`"))
            self.close()
        else:
            self.lines.append(line)

    def _take_outside(self, line: str, fence: _Fence | None) -> None:
        self.opened = fence or _fence_behind_prose(line)
        if self.opened:
            self.prose.append("")
        elif code := _block_on_one_line(line):
            self.blocks.append(code)
        else:
            self.prose.append(line)

    def close(self, at_end: bool = False) -> None:
        if self.opened is not None:
            source = "\n".join(_less_indented(self.lines, self.opened.indent))
            self.blocks.append(Block(source, self.opened.language, closed=not at_end))
        self.opened, self.lines = None, []


def _fence(line: str) -> _Fence | None:
    body = line.lstrip(" \t")
    for mark in "`~":
        length = len(body) - len(body.lstrip(mark))
        if length >= 3:
            info = body[length:].strip()
            return None if mark == "`" and "`" in info else _Fence(len(line) - len(body), mark, length, info)
    return None


def _fence_behind_prose(line: str) -> _Fence | None:
    """``Here it is: ```python``."""
    start = line.find("```")
    fence = _fence(line[start:]) if start > 0 else None
    return fence if fence and fence.info.lower() in PYTHON_TAGS else None


def _block_on_one_line(line: str) -> Block | None:
    body = line.strip()
    if len(body) <= 6 or not (body.startswith("```") and body.endswith("```")):
        return None
    code = body.strip("`").strip()
    tag, _, rest = code.partition(" ")
    return Block(rest, tag.lower(), closed=True) if tag.lower() in PYTHON_TAGS else Block(code, "", closed=True)


def _opens_another(fence: _Fence, opened: _Fence) -> bool:
    """A tagged fence within a block: the end of that block was forgotten, or the block quotes a whole reply."""
    if not fence.info or fence.indent > opened.indent + 3:
        return False
    if opened.language in PYTHON_TAGS and fence.length < opened.length:
        return False
    return fence.language in PYTHON_TAGS or " " not in fence.info


def _closes(fence: _Fence, opened: _Fence) -> bool:
    """Deeper fences are text of a docstring; words behind a closing fence are prose that lost its own line."""
    return fence.mark == opened.mark and fence.length >= opened.length and fence.indent <= opened.indent + 3


def _closes_behind_code(line: str, opened: _Fence) -> bool:
    """``return x```` at the end of a block."""
    body = line.rstrip()
    code = body.rstrip("`")
    return opened.mark == "`" and len(body) - len(code) == opened.length and bool(code.strip()) and "`" not in code


def _less_indented(lines: list[str], indent: int) -> list[str]:
    """What a list item's indentation added is taken away, if all lines have it."""
    if all(not line[:indent].strip() for line in lines):
        return [line[indent:] for line in lines]
    return lines

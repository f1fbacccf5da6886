"""Markdown: the fenced blocks of a model's reply and the text around them, and texts quoted in a prompt.

Fences follow CommonMark (spec.commonmark.org/0.31.2/#fenced-code-blocks), and the habits of models: fences after prose,
on the last line of the code, or never closed. Quoted texts are fenced so that their content cannot end the fence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_CUT = "\n# ... cut here: {} more characters"
_LIST = r"(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*"
_FENCE = re.compile(rf"\s*(?P<item>{_LIST})(?P<mark>`{{3,}}|~{{3,}})(?P<rest>.*)")
_ABOVE = 3  # lines of prose above a block among which its heading is
BYTES_PER_TOKEN = 3
"""The low end for tokenizers on prose and code (3 to 5), so that estimates are rather too high."""
PYTHON_TAGS = frozenset({"", "python", "python3", "py", "py3", "pycon", "pyi", "ipython", "ipython3", "tool_code"})


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its text, its language in lower case (empty: untagged), and whether it was closed.

    ``info``: all text after the marks of its first fence. ``heading``: the line of prose above it, empty without one.
    """

    source: str
    language: str
    closed: bool
    info: str = ""
    heading: str = ""

    @property
    def maybe_python(self) -> bool:
        return self.language in PYTHON_TAGS


@dataclass(frozen=True, slots=True)
class Layout:
    """A reply's fenced blocks in order, and its lines outside of them."""

    blocks: tuple[Block, ...]
    prose: str


def layout(text: str) -> Layout:
    """Split a reply into fenced blocks and prose, in one pass. Lines end in ``\\n``."""
    parser = _LayoutParser()
    for line in text.split("\n"):
        parser.add(line)
    if parser.opened:
        parser.close(at_end=True)
    return Layout(tuple(parser.blocks), "\n".join(parser.prose))


@dataclass(frozen=True, slots=True)
class _Fence:
    """A line that is a fence; ``info``: the text after its marks."""

    indent: int
    mark: str
    length: int
    info: str

    @property
    def language(self) -> str:
        match = re.search(r"[a-z0-9_+#-]+", self.info[:60].lower())
        return match[0] if match else ""


@dataclass(slots=True)
class _LayoutParser:
    """The state of ``layout`` between two lines."""

    blocks: list[Block] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    opened: _Fence | None = None
    lines: list[str] = field(default_factory=list)
    heading: str = ""
    read: int = 0  # lines of prose before the end of the last block

    def add(self, line: str) -> None:
        if "`" not in line and "~" not in line:  # most lines
            (self.prose if self.opened is None else self.lines).append(line)
            return
        fence = _fence(line)
        if self.opened is None:
            self._add_outside(line, fence)
        elif fence and _opens_another(fence, self.opened):
            self.close()
            self._open(fence)
        elif fence and _closes(fence, self.opened):
            self.close()
        elif _closes_after_code(line, self.opened):
            self.lines.append(line.rstrip().rstrip("`"))
            self.close()
        else:
            self.lines.append(line)

    def _add_outside(self, line: str, fence: _Fence | None) -> None:
        if opening := fence or _fence_after_prose(line):
            self._open(opening)
            self.prose.append("")
        elif code := _block_on_one_line(line):
            self.blocks.append(code)
        else:
            self.prose.append(line)

    def _open(self, fence: _Fence) -> None:
        above = self.prose[max(self.read, len(self.prose) - _ABOVE) :]
        self.heading = next((line.strip() for line in reversed(above) if line.strip()), "")
        self.opened = fence

    def close(self, at_end: bool = False) -> None:
        if (fence := self.opened) is not None:
            source = "\n".join(_less_indented(self.lines, fence.indent))
            self.blocks.append(Block(source, fence.language, not at_end, fence.info, self.heading))
        self.opened, self.lines, self.read = None, [], len(self.prose)


def _fence(line: str) -> _Fence | None:
    body = line.lstrip(" \t")
    for mark in "`~":
        length = len(body) - len(body.lstrip(mark))
        if length >= 3:
            info = body[length:].strip()
            return None if mark == "`" and "`" in info else _Fence(len(line) - len(body), mark, length, info)
    return None


def _fence_after_prose(line: str) -> _Fence | None:
    """The fence in a line like ``Here it is: ```python``."""
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
    """Whether a tagged fence within a block opens another one: the end of the first is missing, or it is a quote."""
    if not fence.info or fence.indent > opened.indent + 3:
        return False
    if opened.language in PYTHON_TAGS and fence.length < opened.length:
        return False
    return fence.language in PYTHON_TAGS or " " not in fence.info


def _closes(fence: _Fence, opened: _Fence) -> bool:
    """Whether a fence closes a block; deeper fences belong to a docstring, and words after a closing fence to prose."""
    return fence.mark == opened.mark and fence.length >= opened.length and fence.indent <= opened.indent + 3


def _closes_after_code(line: str, opened: _Fence) -> bool:
    """Whether a line like ``return x```` ends a block."""
    body = line.rstrip()
    code = body.rstrip("`")
    return opened.mark == "`" and len(body) - len(code) == opened.length and bool(code.strip()) and "`" not in code


def _less_indented(lines: list[str], indent: int) -> list[str]:
    """The lines without the indentation of their list item, if all have it."""
    if all(not line[:indent].strip() for line in lines):
        return [line[indent:] for line in lines]
    return lines


def fenced(program: str, limit: int | None = None, language: str = "python") -> str:
    """A program, or text without a ``language``, in a block, at most ``limit`` characters; None: the whole text."""
    hidden = 0 if limit is None else len(program) - limit
    shown = program[:limit].rstrip() + _CUT.format(hidden) if hidden > 0 else program
    fence = "`" * max(3, _longest_run(shown) + 1)  # spec.commonmark.org/0.31.2/#fenced-code-blocks
    return f"{fence}{language}\n{shown}\n{fence}"


def fence_after(line: str, fence: str) -> str:
    """The mark of the block that is open after a line, empty: none; ``fence``: the mark before the line.

    As in CommonMark, but at any indentation, because models ignore the indentation of lists.
    """
    match = _FENCE.match(line)
    if not match:
        return fence
    mark, rest = match["mark"], match["rest"]
    if not fence:
        return "" if mark[0] == "`" and "`" in rest else mark
    return "" if mark.startswith(fence) and not rest.strip() and not match["item"] else fence


def shortened(text: str, limit: int) -> str:
    """At most ``limit`` characters of a Markdown text; a block that is cut is closed."""
    if len(text) <= limit:
        return text
    kept = text[: limit - len("\n...\n```")].rstrip()
    if (fence := _left_open(kept)) and len(fence) > len("```"):
        kept = text[: limit - len("\n...\n") - len(fence)].rstrip()
        fence = _left_open(kept)
    return (f"{kept}\n...\n{fence}" if fence else f"{kept}\n...")[:limit]


def fair_shares(texts: Mapping[str, str], room: int) -> dict[str, int]:
    """The limit of each text by its name, so that all fit into ``room``; short texts leave their room to the others."""
    sizes = {name: len(text) for name, text in texts.items()}
    for place, name in enumerate(sorted(sizes, key=lambda name: sizes[name])):
        sizes[name] = min(sizes[name], room // (len(sizes) - place))
        room -= sizes[name]
    return sizes


def one_line(text: str, limit: int) -> str:
    """The beginning of a text on one line, with single spaces and without fences."""
    line = " ".join(re.sub(r"```\w*", " ", text[: limit * 4]).split())
    return line if len(line) <= limit else f"{line[: limit - 3].rstrip()}..."


def escaped(text: str, limit: int) -> str:
    """The beginning of a text on one line, with line ends and invisible characters escaped and spaces unchanged."""
    line = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text[:limit]
    )
    return line if max(len(text), len(line)) <= limit else f"{line[: limit - 3]}..."


def inline_code(text: str) -> str:
    """A line as a code span, whatever it contains (spec.commonmark.org/0.31.2/#code-spans)."""
    marks = "`" * (_longest_run(text) + 1)
    return f"{marks} {text} {marks}" if "`" in (text[:1], text[-1:]) else f"{marks}{text}{marks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _left_open(text: str) -> str:
    fence = ""
    for line in text.split("\n"):
        fence = fence_after(line, fence)
    return fence

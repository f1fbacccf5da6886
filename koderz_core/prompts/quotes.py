"""Texts quoted in a prompt: fenced so that nothing in them ends the fence, cut so that it shows."""

from __future__ import annotations

import re

_CUT = "\n# ... cut here: {} more characters"
_LIST = r"(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*"
_FENCE = re.compile(rf"\s*(?P<item>{_LIST})(?P<mark>`{{3,}}|~{{3,}})(?P<rest>.*)")


def fenced(program: str, limit: int | None = None) -> str:
    """A program in a Python block, at most ``limit`` characters of it; None: all."""
    hidden = 0 if limit is None else len(program) - limit
    shown = program[:limit].rstrip() + _CUT.format(hidden) if hidden > 0 else program
    fence = "`" * max(3, _longest_run(shown) + 1)  # spec.commonmark.org/0.31.2/#fenced-code-blocks
    return f"{fence}python\n{shown}\n{fence}"


def fence_after(line: str, fence: str) -> str:
    """The mark of the block that is open after a line, empty: none; ``fence``: the one before it.

    As spec.commonmark.org/0.31.2/#fenced-code-blocks, but at any indentation: models do not keep to that of a list.
    """
    found = _FENCE.match(line)
    if not found:
        return fence
    mark, rest = found["mark"], found["rest"]
    if not fence:
        return "" if mark[0] == "`" and "`" in rest else mark
    return "" if mark.startswith(fence) and not rest.strip() and not found["item"] else fence


def shortened(text: str, limit: int) -> str:
    """At most ``limit`` characters of a text in Markdown; a block that is cut open is closed again."""
    if len(text) <= limit:
        return text
    kept = text[: limit - len("\n...\n```")].rstrip()
    if (fence := _left_open(kept)) and len(fence) > len("```"):
        kept = text[: limit - len("\n...\n") - len(fence)].rstrip()
        fence = _left_open(kept)
    return (f"{kept}\n...\n{fence}" if fence else f"{kept}\n...")[:limit]


def one_line(text: str, limit: int) -> str:
    """The beginning of a text, white space of any kind as single spaces, without fences."""
    line = " ".join(re.sub(r"```\w*", " ", text[: limit * 4]).split())
    return line if len(line) <= limit else f"{line[: limit - 3].rstrip()}..."


def escaped(text: str, limit: int) -> str:
    """The beginning of a text on one line, its spaces as they are: what ends a line or does not show is escaped."""
    line = "".join(_visible(char) for char in text[:limit])
    return line if max(len(text), len(line)) <= limit else f"{line[: limit - 3]}..."


def inline_code(text: str) -> str:
    """A line as code within a sentence, whatever it holds (spec.commonmark.org/0.31.2/#code-spans)."""
    marks = "`" * (_longest_run(text) + 1)
    return f"{marks} {text} {marks}" if "`" in (text[:1], text[-1:]) else f"{marks}{text}{marks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _visible(char: str) -> str:
    return char if char.isprintable() else char.encode("unicode_escape").decode("ascii")


def _left_open(text: str) -> str:
    fence = ""
    for line in text.split("\n"):
        fence = fence_after(line, fence)
    return fence

"""Texts quoted in a prompt: fenced so that nothing in them ends the fence, cut so that it shows."""

from __future__ import annotations

import re

_CUT = "\n# ... cut here: {} more characters"


def fenced(program: str, limit: int) -> str:
    """A program in a Python block, at most ``limit`` characters of it."""
    hidden = len(program) - limit
    shown = program[:limit].rstrip() + _CUT.format(hidden) if hidden > 0 else program
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)  # spec.commonmark.org/0.31.2/#fenced-code-blocks
    return f"{fence}python\n{shown}\n{fence}"


def shortened(text: str, limit: int) -> str:
    """At most ``limit`` characters of a text in Markdown; a block that is cut open is closed again."""
    if len(text) <= limit:
        return text
    kept = text[: limit - len("\n...\n```")].rstrip() + "\n..."
    return kept + ("\n```" if len(re.findall("^ *```", kept, re.MULTILINE)) % 2 else "")


def one_line(text: str, limit: int) -> str:
    """The beginning of a text, white space of any kind as single spaces, without fences."""
    line = " ".join(re.sub(r"```\w*", " ", text[: limit * 4]).split())
    return line if len(line) <= limit else f"{line[: limit - 3].rstrip()}..."

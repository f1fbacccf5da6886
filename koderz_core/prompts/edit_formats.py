"""The edits in a reply: search/replace blocks as aider reads them, and unified diffs with the faults of models.

The format of the blocks: github.com/Aider-AI/aider, aider/coders/editblock_prompts.py. A block without its last line is
accepted only if its fence is closed. A diff may lack line numbers, or have wrong ones, and may lack its file names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from koderz_core.prompts.markdown import Block, layout
from koderz_core.prompts.replacement import Edit, RefusedError, shown_line

MOST_EDITS = 100  # of one reply
_ABOVE = 4  # lines above a block among which its file is named
_LONGEST_NAME = 300
_SEARCH = re.compile(r"[ \t]*<{5,9}[ \t]*(?:SEARCH|ORIGINAL|HEAD|BEFORE)\b.*", re.IGNORECASE)
_DIVIDER = re.compile(r"[ \t]*={5,9}[ \t]*")
_REPLACE = re.compile(r"[ \t]*>{5,9}[ \t]*(?:REPLACE|UPDATED|AFTER)\b.*|[ \t]*>{5,9}[ \t]*", re.IGNORECASE)
_STRICT = ("<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})(.*)")
_NAME = re.compile(r"[^\s`'\"*()<>,;:]+")
_HUNK = re.compile(r"@@(?: -(?P<start>\d{1,9})(?:,(?P<old>\d{1,9}))? \+\d{1,9}(?:,(?P<new>\d{1,9}))?)?\b.*|@@.*")
_DIFF_TAGS = ("diff", "patch", "udiff")
_MARKS = ("", " ", "+", "-", "\\")
_NOWHERE = "/dev/null"
_DIFF = re.compile(r"^(?:@@ .*|--- \S.*\n\+\+\+ \S.*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Known:
    """The paths of all files, and the endings of their names. Computed once, because a reply may have many lines."""

    paths: frozenset[str]
    endings: tuple[str, ...]

    @staticmethod
    def of(paths: Iterable[str]) -> Known:
        known = frozenset(paths)
        endings = {f".{path.rpartition('.')[2]}" for path in known if "." in path.rpartition("/")[2]} | {".py"}
        return Known(known, tuple(endings))


def path_in(line: str, known: Known) -> str:
    """The path of a file that a line names, empty if it names none: a known one, or a word with such an ending."""
    text = line.strip().strip("`*# ").rstrip(":").strip("`* ")[:_LONGEST_NAME]
    if text in known.paths:
        return text
    words = [word.rstrip(".") for word in _NAME.findall(text)]
    named = [word for word in words if word in known.paths] or [word for word in words if word.endswith(known.endings)]
    return named[-1] if named else ""


def has_blocks(text: str) -> bool:
    """Whether a reply contains the first line of a search/replace block."""
    return any(map(_SEARCH.fullmatch, text.split("\n")))


def blocks_in(text: str, known: Known) -> Iterator[Edit]:
    """The search/replace blocks of a reply, in order. Raises RefusedError for one that is not complete."""
    lines, path, place = text.split("\n"), "", 0
    while place < len(lines):
        if _SEARCH.fullmatch(lines[place]):
            path = _path_above(lines, place, known) or path
            edit, place = _block(lines, place, path)
            yield edit
        else:
            place += 1


def _path_above(lines: Sequence[str], place: int, known: Known) -> str:
    """The file named in the lines above, up to the end of another block."""
    for line in islice(reversed(lines[max(0, place - _ABOVE) : place]), _ABOVE):
        if _REPLACE.fullmatch(line):
            return ""
        fence = _FENCE.fullmatch(line)
        if name := path_in(fence[1] if fence else line, known):
            return name
    return ""


def _block(lines: Sequence[str], start: int, path: str) -> tuple[Edit, int]:
    """The block whose first line is at ``start``, and the place after it."""
    following = range(start + 1, len(lines))
    divider = next((at for at in following if _DIVIDER.fullmatch(lines[at])), None)
    other = next((at for at in following if _SEARCH.fullmatch(lines[at])), len(lines))
    if divider is None or divider > other:
        raise RefusedError(f"a SEARCH/REPLACE block of {path or 'no file'} has no line =======")
    end = next((at for at in range(divider + 1, other) if _REPLACE.fullmatch(lines[at])), None)
    if end is None:
        end = next((at for at in range(other - 1, divider, -1) if _FENCE.fullmatch(lines[at])), None)
    if end is None:
        raise RefusedError(f"a SEARCH/REPLACE block of {path or 'no file'} is not complete: it has no last line")
    exact = tuple(lines[at].strip() for at in (start, divider, end)) == _STRICT
    return Edit(path, tuple(lines[start + 1 : divider]), tuple(lines[divider + 1 : end]), exact=exact), end + 1


def diffs_in(text: str, known: Known) -> Iterator[Edit]:
    """The hunks of the unified diffs in a reply, in order. Raises RefusedError for files that come or go."""
    parts = layout(text)
    blocks = [block for block in parts.blocks if _is_diff(block)]
    for block in blocks:
        yield from _hunks(block.source.split("\n"), path_in(block.heading, known), fenced=True)
    if not blocks and _DIFF.search(parts.prose):
        yield from _hunks(parts.prose.split("\n"), "", fenced=False)


def _is_diff(block: Block) -> bool:
    """Whether a block is a diff by its language or, whatever its language, by its first line."""
    begins = block.source.lstrip("\n").startswith(("--- ", "diff --git ", "@@ "))
    return block.language in _DIFF_TAGS or (begins and bool(_DIFF.search(block.source)))


def _hunks(lines: Sequence[str], path: str, *, fenced: bool) -> Iterator[Edit]:
    """The hunks of one diff. Without any ``@@`` line, all its lines after the names of the file are one hunk."""
    headed = any(map(_HUNK.fullmatch, lines))
    place = 0
    while place < len(lines):
        line, after = lines[place], lines[place + 1] if place + 1 < len(lines) else ""
        if line.startswith("--- ") and after.startswith("+++ "):
            path, place = _file_of(line, after), place + 2
        elif heading := _HUNK.fullmatch(line):
            edit, place = _hunk(lines, place + 1, path, heading, fenced=fenced)
            yield edit
        elif not headed and line[:1] in ("+", "-", " ") and line.strip():
            edit, place = _hunk(lines, place, path, None, fenced=fenced)
            yield edit
        else:
            place += 1


def _file_of(old: str, new: str) -> str:
    """The file of a diff's two first lines."""
    before, after = (line[4:].partition("\t")[0].strip().strip('"') for line in (old, new))
    if _NOWHERE in (before, after):
        what = "adds" if before == _NOWHERE else "deletes"
        name = shown_line(re.sub(r"^[ab]/", "", after if before == _NOWHERE else before))
        raise RefusedError(f"the diff {what} the file {name}, and only given files may be changed")
    return re.sub(r"^[ab]/", "", after)


def _hunk(
    lines: Sequence[str], place: int, path: str, heading: re.Match[str] | None, *, fenced: bool
) -> tuple[Edit, int]:
    """The hunk whose lines begin at ``place``, and the place after it."""
    body = list[str]()
    while place + len(body) < len(lines) and not _ends(lines, place + len(body), fenced=fenced):
        body.append(lines[place + len(body)])
    numbered = heading is not None and heading["start"] is not None
    counted = _counted(body, heading) if heading and numbered else 0
    before, after = _sides(body[:counted] if counted else _without_blank_end(body))
    start = int(heading["start"]) if heading and numbered else None
    return Edit(path, before, after, start, exact=bool(counted)), place + len(body)


def _ends(lines: Sequence[str], place: int, *, fenced: bool) -> bool:
    """Whether a line is after a hunk; in a block, a line without a mark is a line of the file whose space is lost."""
    line = lines[place]
    if line.startswith("--- "):
        return any(after.startswith("+++ ") for after in lines[place + 1 : place + 2])
    return line.startswith(("diff --git ", "@@")) or not (fenced or line[:1] in _MARKS)


def _counted(body: Sequence[str], heading: re.Match[str]) -> int:
    """The number of lines of a hunk whose heading has the right numbers of lines; 0 if they are wrong."""
    wanted = tuple(1 if heading[group] is None else int(heading[group]) for group in ("old", "new"))
    sizes = [0, 0]
    for number, line in enumerate(body):
        if tuple(sizes) == wanted and not line.startswith("\\"):
            return 0 if line.strip() else number
        if line[:1] not in _MARKS:
            return 0
        sizes[0] += line[:1] in ("", " ", "-")
        sizes[1] += line[:1] in ("", " ", "+")
    return len(body) if tuple(sizes) == wanted else 0


def _sides(body: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The old and the new lines."""
    lines = [(line[:1], line[1:] if line[:1] in (" ", "+", "-") else line) for line in body if line[:1] != "\\"]
    return tuple(line for mark, line in lines if mark != "+"), tuple(line for mark, line in lines if mark != "-")


def _without_blank_end(body: list[str]) -> list[str]:
    last = max((place for place, line in enumerate(body) if line.strip()), default=-1)
    return body[: last + 1]

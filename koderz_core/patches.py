"""Unified diffs of text files, as ``git diff`` and ``diff -u`` write them: making, reading and applying them.

A patch that koderz makes applies exactly. Text from a model is read with the same functions and may be hostile or
broken: it raises ``PatchError`` with a reason that can be shown.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_NO_END = "\\ No newline at end of file"
_NOWHERE = "/dev/null"
_GIT = "diff --git "
_GIT_FACT = re.compile(
    "(old mode|new mode|new file mode|deleted file mode|(?:dis)?similarity index|index|rename from|rename to|copy from|"
    "copy to) (.*)"
)
_ESCAPE = re.compile(rb'\\(?:([23][0-7]{2})|(["\\]))')  # git's, without those of control characters
_CONTENT = ("--- ", "Binary files ", "GIT binary patch")  # what git writes next, if the content of the file changes
_SHOWN = 80  # characters of a line in a message
_MOST_LINES = 10_000  # of both texts, without their common beginning and end, that are compared line by line
_MOST_PAIRS = 1_000_000  # of equal lines, one in each text; with more, difflib may take minutes


class PatchError(Exception):
    """A patch that cannot be read or applied; its text is a reason that names the file."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Consecutive lines of a file: those that must be there, and those that replace them; ``start`` counts from 1.

    Lines keep their line end; only the last line of a file may have none.
    """

    start: int
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """The changes of one file. ``old`` is None for a new file, ``new`` for a deleted one; paths have slashes.

    An empty file that is new or deleted, and a file that is only renamed or copied, have no hunks. ``copies``: the old
    file stays.
    """

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...]
    copies: bool = False

    @property
    def moves(self) -> bool:
        """Whether the old path is free after the change."""
        return self.old is not None and self.new != self.old and not self.copies

    @property
    def path(self) -> str:
        """The path of the file after the change, or of a deleted file."""
        return self.new or self.old or ""


def make_patch(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The patch that turns the files ``before`` into ``after`` (texts by path); empty if they are equal."""
    parts, empty = list[str](), list[str]()  # a heading of git must not come before the lines --- and +++
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old or new:
            parts += _file_patch(path, old, new) if old != new else ()
        elif old != new:
            mode = "new file mode" if old is None else "deleted file mode"
            empty.append(f"{_GIT}a/{path} b/{path}\n{mode} 100644\n")
    return "".join([*parts, *empty])


def read_patch(text: str) -> tuple[FilePatch, ...]:
    """The changes of each file in a patch, also those that ``git diff`` writes without hunks. Raises PatchError.

    All other lines are ignored, such as text, changes of binary files and changes of a mode. Line numbers are hints
    only, but the numbers of lines in a hunk's heading must be right.
    """
    lines = lines_of(text)
    found: list[FilePatch] = []
    place = 0
    while place < len(lines):
        if lines[place].startswith("--- ") and lines[place + 1 : place + 2] and lines[place + 1].startswith("+++ "):
            old, new = (_path(line[4:]) for line in lines[place : place + 2])
            copies = None not in {old, new} and _is_copy(lines, place)
            hunks, place = _hunks(lines, place + 2, new or old or "")
            if old is None and new is None:
                raise PatchError("a file in the patch has no name")
            found.append(FilePatch(old, new, hunks, copies))
            continue
        if change := _without_hunks(lines, place):
            found.append(change)
        elif _HUNK.match(lines[place]):
            raise PatchError(f"line {place + 1} begins a hunk before any file is named (lines --- and +++)")
        place += 1
    return tuple(found)


def apply_patch(patch: str, files: Mapping[str, str]) -> dict[str, str]:
    """The files after a patch: all texts by path, without deleted files. Raises PatchError.

    A hunk whose lines are not where its heading says may apply where its lines occur exactly once.
    """
    return apply_changes(read_patch(patch), files)


def apply_changes(changes: Iterable[FilePatch], files: Mapping[str, str]) -> dict[str, str]:
    """As ``apply_patch``, for changes that were read."""
    changes, result = tuple(changes), dict(files)
    moved = {change.old for change in changes if change.moves}
    replaced = dict[str, str]()  # files whose place another one took, such as of two that exchange their names
    for change in changes:
        if change.old is None:
            if change.path in result:
                raise PatchError(f"{change.path} would be a new file, but it exists")
            result[change.path] = "".join(line for hunk in change.hunks for line in hunk.after)
            continue
        source = replaced if change.old in replaced and change.new != change.old else result
        if change.old not in (files if change.copies else source):
            raise PatchError(f"{change.old} does not exist")
        # A copy is one of the file before the patch, which may change that file as well.
        text = apply_hunks(change, files[change.old] if change.copies else source.pop(change.old))
        if change.moves:
            moved.discard(change.old)
        if change.new is not None:
            _make_room(change.new, result, moved, replaced)
            result[change.new] = text
    return result


def _make_room(path: str, files: Mapping[str, str], moved: set[str | None], replaced: dict[str, str]) -> None:
    """Keep a file that a change will replace for the change that moves it. Raises PatchError if there is none."""
    if path in files:
        if path not in moved:
            raise PatchError(f"{path} would be a new file, but it exists")
        replaced[path] = files[path]
        moved.discard(path)


def apply_hunks(change: FilePatch, text: str) -> str:
    """The text of one file after its hunks. Raises PatchError."""
    lines, done, result = lines_of(text), 0, list[str]()
    for hunk in change.hunks:
        place = _place(hunk, lines, done)
        if place is None:
            first = next((line.strip() for line in hunk.before if line.strip()), "")
            raise PatchError(f"{change.path}: the lines from {first[:_SHOWN]!r} on are not in the file as given")
        result += [*lines[done:place], *hunk.after]
        done = place + len(hunk.before)
    return "".join([*result, *lines[done:]])


def lines_of(text: str) -> list[str]:
    """The lines with their ends. Unlike ``splitlines``, only a line feed ends one."""
    return list(StringIO(text, newline="\n"))


def places_of(wanted: Sequence[str], lines: Sequence[str]) -> list[int]:
    """The first two indices at which lines occur one after another. Linear, whatever the lines are.

    Source: Knuth, Morris and Pratt, "Fast pattern matching in strings", 1977.
    """
    shorter, found, matched = [0], list[int](), 0  # the longest beginning that ends each beginning as well
    for place, line in enumerate([*wanted[1:], None, *lines], start=1):
        while matched and (matched == len(wanted) or line != wanted[matched]):
            matched = shorter[matched - 1]
        matched += line == wanted[matched]
        if place < len(wanted):
            shorter.append(matched)
        elif matched == len(wanted):
            found.append(place - 2 * len(wanted))
        if len(found) == 2:
            break
    return found


def _place(hunk: Hunk, lines: Sequence[str], least: int) -> int | None:
    """The index at which the old lines of a hunk stand: as its heading says, or the only other place."""
    size, stated = len(hunk.before), max(0, hunk.start - 1)
    if not size:
        return min(max(least, hunk.start), len(lines))  # diff counts the line before an insertion
    if stated >= least and tuple(lines[stated : stated + size]) == hunk.before:
        return stated
    places = places_of(hunk.before, lines[least:])
    return least + places[0] if len(places) == 1 else None


def _file_patch(path: str, old: str | None, new: str | None) -> Iterator[str]:
    names = _NOWHERE if old is None else f"a/{path}", _NOWHERE if new is None else f"b/{path}"
    before, after = (lines_of(text or "") for text in (old, new))
    compare = _replacement if _takes_long(before, after) else difflib.unified_diff
    for line in compare(before, after, *names):
        yield line if line.endswith("\n") else f"{line}\n{_NO_END}\n"


def _takes_long(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether difflib could take minutes, as for a file that an answer fills with equal lines."""
    begin, end = _common(before, after)
    old, new = (Counter(lines[begin : len(lines) - end]) for lines in (before, after))
    pairs = sum(number * new[line] for line, number in old.items())
    return old.total() + new.total() > _MOST_LINES or pairs > _MOST_PAIRS


def _common(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """The number of equal lines at the beginning, and at the end of the rest."""
    least = min(len(before), len(after))
    begin = next((place for place in range(least) if before[place] != after[place]), least)
    rest = range(1, least - begin + 1)
    return begin, next((place - 1 for place in rest if before[-place] != after[-place]), least - begin)


def _replacement(before: Sequence[str], after: Sequence[str], old: str, new: str) -> Iterator[str]:
    """A unified diff with one hunk, from the first line that differs to the last."""
    begin, end = _common(before, after)
    removed, added = (lines[begin : len(lines) - end] for lines in (before, after))
    starts = (begin + bool(lines) for lines in (removed, added))  # the line before it, if a side is empty
    places = (f"{start},{len(lines)}" for start, lines in zip(starts, (removed, added), strict=True))
    yield from (f"--- {old}\n", f"+++ {new}\n", "@@ -{} +{} @@\n".format(*places))
    yield from (f"-{line}" for line in removed)
    yield from (f"+{line}" for line in added)


def _without_hunks(lines: Sequence[str], place: int) -> FilePatch | None:
    """The change of a file that a heading of ``git diff`` at ``place`` describes completely, else None."""
    if not lines[place].startswith(_GIT):
        return None
    facts, end = dict[str, str](), place + 1
    while end < len(lines) and (fact := _GIT_FACT.match(lines[end])):
        facts[fact[1]] = fact[2]
        end += 1
    if end < len(lines) and lines[end].startswith(_CONTENT):
        return None
    for how in ("rename", "copy"):
        if f"{how} from" in facts and f"{how} to" in facts:
            return FilePatch(_name(facts[f"{how} from"]), _name(facts[f"{how} to"]), (), copies=how == "copy")
    names = lines[place].removeprefix(_GIT).rstrip("\r\n")
    middle = len(names) // 2  # a file that keeps its name is named twice: a/path b/path
    old, new = _path(names[:middle]), _path(names[middle + 1 :])
    if old and old == new and "new file mode" in facts:
        return FilePatch(None, new, ())
    return FilePatch(old, None, ()) if old and old == new and "deleted file mode" in facts else None


def _is_copy(lines: Sequence[str], place: int) -> bool:
    """Whether the heading of ``git diff`` before the line ``---`` says that the file is a copy."""
    before = place - 1
    while before >= 0 and _GIT_FACT.match(lines[before]) and not lines[before].startswith("copy from "):
        before -= 1
    return before >= 0 and lines[before].startswith("copy from ")


def _path(text: str) -> str | None:
    name = _name(text)
    return None if name == _NOWHERE else re.sub(r"^[ab]/", "", name)


def _name(text: str) -> str:
    name = text.rstrip("\r\n").partition("\t")[0].strip()
    if len(name) < 2 or not name[0] == name[-1] == '"':
        return name
    unescaped = _ESCAPE.sub(lambda found: found[2] or bytes([int(found[1], 8)]), name[1:-1].encode("utf-8", "replace"))
    return unescaped.decode("utf-8", "replace")


def _hunks(lines: Sequence[str], place: int, path: str) -> tuple[tuple[Hunk, ...], int]:
    """The hunks that begin at ``place``, and the place after them."""
    hunks: list[Hunk] = []
    while place < len(lines) and (heading := _HUNK.match(lines[place])):
        old, new = (1 if heading[group] is None else int(heading[group]) for group in (2, 4))
        before, after, place = _body(lines, place + 1, (old, new), path)
        hunks.append(Hunk(int(heading[1]), before, after))
    return tuple(hunks), place


def _body(
    lines: Sequence[str], place: int, sizes: tuple[int, int], path: str
) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    sides: tuple[list[str], list[str]] = ([], [])
    while place < len(lines) and ((len(sides[0]), len(sides[1])) != sizes or lines[place].startswith(_NO_END[:2])):
        line = lines[place]
        into = {" ": (0, 1), "-": (0,), "+": (1,), "\n": (0, 1), "\r": (0, 1)}.get(line[:1], ())
        if line.startswith(_NO_END[:2]):
            for side in {"-": (0,), "+": (1,)}.get(lines[place - 1][:1], (0, 1)):
                sides[side][-1:] = [last.rstrip("\r\n") for last in sides[side][-1:]]
        elif not into:
            break
        for side in into:
            sides[side].append(line[1:] if line[:1] in " -+" else line)
        place += 1
    if (len(sides[0]), len(sides[1])) != sizes:
        raise PatchError(f"{path}: the numbers of lines in a hunk differ from its heading")
    return tuple(sides[0]), tuple(sides[1]), place

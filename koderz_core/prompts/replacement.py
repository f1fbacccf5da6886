"""Edits of a text file: lines that replace other lines, where these are exactly, or else where only their words are.

Only that second search repairs an edit: it ignores blank lines and the spaces in a line, and indents the new lines as
the file does. Lines that an edit repeats unchanged stay as they are in the file, with their line ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from koderz_core.patches import lines_of, places_of

_MOST_LINES = 2000  # of one edit: comparing longer ones could take minutes
_NO_LINES = "an edit names no lines to replace, so it is not known where its new lines belong"
_SHOWN = 80  # characters of a line in a reason


class RefusedError(Exception):
    """An edit that cannot be applied. Its text is a clause that says why; it may quote hostile text on one line."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines without their ends that replace others in a file.

    ``path``: as the reply names it, "" if it names none. ``start``: the line (from 1) at which a diff says the old
    lines are, None: wherever they occur. ``exact``: whether the edit keeps to its format.
    """

    path: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    start: int | None = None
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Edited:
    """The text of a file after an edit. ``exact``: the edit was applied as it is, without any repair."""

    text: str
    exact: bool


def replaced(text: str, edit: Edit, moved: int = 0) -> Edited:
    """Apply an edit of a file. ``moved``: by how many lines earlier edits have moved ``start``. Raises RefusedError."""
    if len(edit.before) + len(edit.after) > _MOST_LINES:
        raise RefusedError(f"an edit has more than {_MOST_LINES} lines")
    lines = lines_of(text)
    bare = [_bare(line) for line in lines]
    stated = -1 if edit.start is None else edit.start - 1 + moved
    if not edit.before:
        return _inserted(lines, edit, stated + 1)
    if stated >= 0 and tuple(bare[stated : stated + len(edit.before)]) == edit.before:
        return Edited(_put(lines, range(stated, stated + len(edit.before)), edit.after), edit.exact)
    if not any(map(str.strip, edit.before)):
        raise RefusedError(_NO_LINES)
    places = places_of(edit.before, bare)
    if len(places) == 1:
        within = range(places[0], places[0] + len(edit.before))
        return Edited(_put(lines, within, edit.after), edit.exact and edit.start is None)
    if places:
        raise RefusedError(f"{_quoted(edit)} occur more than once, so more lines around them are needed")
    return Edited(_loosely(lines, bare, edit), False)


def shown_line(line: str) -> str:
    """A line in a reason."""
    return repr(line.strip()[:_SHOWN])


def _bare(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def _quoted(edit: Edit) -> str:
    first = next((line for line in edit.before if line.strip()), "")
    return f"the lines to replace, from {shown_line(first)} on,"


def _inserted(lines: list[str], edit: Edit, place: int) -> Edited:
    if edit.start is None or not edit.exact or not 0 <= place <= len(lines):
        raise RefusedError(_NO_LINES)
    return Edited(_put(lines, range(place, place), edit.after), edit.exact)


def _loosely(lines: list[str], bare: Sequence[str], edit: Edit) -> str:
    """The text after an edit whose old lines are found by their words."""
    filled = [place for place, line in enumerate(bare) if line.strip()]
    wanted = [place for place, line in enumerate(edit.before) if line.strip()]
    places = (
        places_of([_words(edit.before[at]) for at in wanted], [_words(bare[at]) for at in filled]) if wanted else []
    )
    if len(places) != 1:
        count = "occur more than once, apart from spaces" if places else "are not in the file as given"
        raise RefusedError(f"{_quoted(edit)} {count}")
    of_file = dict(zip(wanted, filled[places[0] :], strict=False))
    within = range(of_file[wanted[0]], of_file[wanted[-1]] + 1)
    after = _without_blank_ends(edit.after)
    return _put(lines, within, tuple(_indented(bare, edit.before[wanted[0] : wanted[-1] + 1], after, of_file)))


def _indented(
    bare: Sequence[str], before: Sequence[str], after: Sequence[str], of_file: dict[int, int]
) -> Iterator[str]:
    """The new lines with the file's own spaces. ``of_file``: the lines of the file, by old lines of the edit."""
    first = min(of_file)  # ``before`` begins with the first line that is not blank
    for what, start, end, new, stop in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        near = max((place for place in of_file if place <= first + start), default=first)
        same = dict(zip(range(new, stop), range(start, end), strict=False)) if what == "equal" else {}
        for place in range(new, stop):
            if what == "equal" and first + same[place] in of_file:
                yield bare[of_file[first + same[place]]]
            else:
                yield _moved(after[place], before[near - first], bare[of_file[near]])


def _moved(line: str, old: str, real: str) -> str:
    """A line, moved to the right or left as the file's line ``real`` is, compared with the edit's ``old`` line."""
    by = _indent(real) - _indent(old)
    if not line.strip():
        return ""
    return real[:by] + line if by > 0 else line[min(-by, _indent(line)) :]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _words(line: str) -> str:
    return " ".join(line.split())


def _without_blank_ends(lines: Sequence[str]) -> tuple[str, ...]:
    filled = [place for place, line in enumerate(lines) if line.strip()]
    return tuple(lines[filled[0] : filled[-1] + 1]) if filled else ()


def _put(lines: list[str], within: range, after: Sequence[str]) -> str:
    """The text with new lines in place of some lines; equal lines at both ends keep their line ends."""
    start, stop, new = within.start, within.stop, list(after)
    while start < stop and new and _bare(lines[start]) == new[0]:
        start, new = start + 1, new[1:]
    while start < stop and new and _bare(lines[stop - 1]) == new[-1]:
        stop, new = stop - 1, new[:-1]
    nearest = lines[min(start, len(lines) - 1)] if lines else ""
    end = "\r\n" if nearest.endswith("\r\n") else "\n"
    put = [line + end for line in new]
    kept = [*lines[:start]]
    if stop == len(lines) and lines and not lines[-1].endswith("\n") and put:  # the file ends without a line end
        kept[-1:] = [last if last.endswith("\n") else last + end for last in kept[-1:]]
        put[-1] = new[-1]
    return "".join([*kept, *put, *lines[stop:]])

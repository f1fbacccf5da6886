"""Programs of repository tasks, which are patches: the changes of each file, their size, and what two patches change.

All texts are hostile. A program is taken for a patch because of its text alone, so that a journal can be read without
its dataset.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from koderz_core.patches import FilePatch, Hunk, PatchError, apply_patch, make_patch, read_patch
from koderz_core.report.formats import count, numbered

MOST_COMPARED = 1_000_000  # old lines × new lines of a hunk that are compared; larger hunks are shown as replaced
_NO_END = "\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class FileChange:
    """The changes of one file. ``what``: our words, empty for a file that stays. ``text``: its hunks with headings."""

    path: str
    what: str
    added: int
    removed: int
    text: str

    @property
    def size(self) -> str:
        """``+3 -1``: the numbers of added and removed lines."""
        return f"+{count(self.added)} -{count(self.removed)}"


def is_patch(program: str) -> bool:
    """Whether a program is a patch. No program in Python is one: its first two lines are not Python."""
    return bool(program.startswith(("--- ", "diff --git ")) and changes_of(program))


def changes_of(patch: str) -> tuple[FileChange, ...]:
    """The changes of each file, in the order of the patch; none of a text that is not a patch."""
    try:
        return tuple(map(_change, read_patch(patch)))
    except PatchError:
        return ()


def patch_size(changes: Sequence[FileChange]) -> str:
    """``2 files, +12 -3``."""
    added, removed = (sum(getattr(change, name) for change in changes) for name in ("added", "removed"))
    return f"{numbered(len(changes), 'file')}, +{count(added)} -{count(removed)}"


def change_between(before: str, after: str, files: Mapping[str, str]) -> str | None:
    """The patch that leads from the files after one patch to the files after another; None if one does not apply."""
    try:
        return make_patch(apply_patch(before, files), apply_patch(after, files))
    except PatchError:
        return None


def _change(of: FilePatch) -> FileChange:
    lines, moved = list[str](), 0
    for hunk in of.hunks:
        lines += _lines(hunk, moved)
        moved += len(hunk.after) - len(hunk.before)
    added, removed = (sum(line[0] == sign for line in lines) for sign in "+-")
    return FileChange(of.path, _what(of), added, removed, "".join(lines))


def _what(of: FilePatch) -> str:
    if of.old is None:
        return "new file"
    if of.new is None:
        return "deleted"
    if of.copies:
        return "copied"
    return "" if of.old == of.new else "renamed"


def _lines(hunk: Hunk, moved: int) -> Iterator[str]:
    """The heading of a hunk and its lines; ``moved``: the lines that the hunks before it added."""
    old, new = len(hunk.before), len(hunk.after)
    begin = hunk.start + moved + (not old) - (not new)  # of no lines, it is the line before them
    yield f"@@ -{hunk.start},{old} +{begin},{new} @@\n"
    for sign, line in _signed(hunk.before, hunk.after):
        yield f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n{_NO_END}"


def _signed(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str]]:
    if len(before) * len(after) > MOST_COMPARED:
        yield from (("-", line) for line in before)
        yield from (("+", line) for line in after)
        return
    for kind, *(first, end, new_first, new_end) in SequenceMatcher(None, before, after).get_opcodes():
        if kind == "equal":
            yield from ((" ", line) for line in before[first:end])
        else:
            yield from (("-", line) for line in before[first:end])
            yield from (("+", line) for line in after[new_first:new_end])

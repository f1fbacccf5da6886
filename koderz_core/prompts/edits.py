"""Extraction of a change of a repository from a reply: the unified diff of its files that the reply describes.

A reply is read in the first of these forms that it has: search/replace blocks, unified diffs, whole files under their
paths. Functions and classes that a reply writes anew replace those of the same name. Only editable files change.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from koderz_core.patches import make_patch
from koderz_core.prompts.edit_formats import MOST_EDITS, Known, blocks_in, diffs_in, has_blocks, path_in
from koderz_core.prompts.markdown import Block, layout
from koderz_core.prompts.programs import Program, Reader
from koderz_core.prompts.redefinitions import redefined
from koderz_core.prompts.replacement import Edit, Edited, RefusedError, replaced, shown_line
from koderz_core.records import Extracted, PublicProblem

MOST_CHARS = 400_000  # of a reply
_MOST_FILE_CHARS = 1_000_000
_MOST_NEW_LINES = 1000  # beyond twice those of the file: comparing longer texts could take minutes
_NOTHING = "it contains no SEARCH/REPLACE block, no unified diff and no whole file or function"


def of_repository(text: str, problem: PublicProblem) -> Extracted:
    """The unified diff in a reply without thoughts, else the ``reason`` why there is none.

    ``how``: ``search-replace``, ``diff`` or ``whole-file`` if the change applies exactly as written; the same with
    ``-repaired`` if spaces, line numbers or the path had to be corrected; ``by-name`` for functions and classes;
    ``not-applied`` for a change that cannot be applied.
    """
    try:
        if len(text) > MOST_CHARS or "\0" in text:
            raise RefusedError("it is too long" if len(text) > MOST_CHARS else "it contains null bytes")
        change = _Change(problem.files, problem.editable, Known.of(problem.files))
        how = next((form for form, take in _FORMS.items() if take(change, text)), "")
        if not how:
            return Extracted(None, "none", reason=_NOTHING)
        return Extracted(change.patch(), how if change.exact or how == BY_NAME else f"{how}-repaired")
    except RefusedError as error:
        return Extracted(None, "not-applied", reason=str(error))


BY_NAME = "by-name"


@dataclass(slots=True)
class _Change:
    """The files that a reply changes so far, of those that are ``known``. ``exact``: no edit had to be repaired."""

    known: Mapping[str, str]
    editable: Sequence[str]
    names: Known
    changed: dict[str, str] = field(default_factory=dict)
    exact: bool = True

    def patch(self) -> str:
        """The unified diff of all changes. Raises RefusedError if nothing changes."""
        if any(len(text) > _MOST_FILE_CHARS for text in self.changed.values()):
            raise RefusedError("the changed file would be too long")
        patch = make_patch({path: self.known[path] for path in self.changed}, self.changed)
        if not patch:
            raise RefusedError("it leaves all files as they are")
        return patch

    def by_blocks(self, text: str) -> bool:
        if not has_blocks(text):
            return False
        return self._by_edits(dict.fromkeys(blocks_in(text, self.names)))

    def by_diff(self, text: str) -> bool:
        return self._by_edits(diffs_in(text, self.names))

    def by_file(self, text: str) -> bool:
        """Take whole files; a block under a path that holds only a part of the file is none."""
        blocks = layout(text).blocks
        named = [(block, path) for block in blocks if (path := self._heading(block))]
        wholes = {path: source for block, path in named if (source := self._whole(block, path)) is not None}
        if not named and len(self.editable) == 1:
            path = self.editable[0]
            python = [block for block in blocks if block.maybe_python]
            latest = [source for block in python if (source := self._whole(block, path)) is not None]
            wholes, self.exact = ({path: latest[-1]} if latest else {}), False
        for path, source in wholes.items():
            self._set_whole(self._path(path), source)
        return bool(wholes)

    def by_name(self, text: str) -> bool:
        parts = layout(text)
        reader = Reader()
        sources = [block.source for block in parts.blocks if block.maybe_python or path_in(block.info, self.names)]
        headings = [self._heading(block) for block in parts.blocks if block.maybe_python]
        programs = [program for source in sources if (program := reader.repair(source))]
        within = {path for path in headings if path in self.editable}
        files = {path: self.known[path] for path in self.editable if path in self.known}
        chosen = {path: files[path] for path in within} if len(within) == 1 else files
        self.changed |= redefined(programs, chosen, reader)
        return bool(self.changed)

    def _by_edits(self, edits: Iterable[Edit]) -> bool:
        moved: dict[str, int] = {}
        number = 0
        for number, edit in enumerate(islice(edits, MOST_EDITS + 1), 1):
            if number > MOST_EDITS:
                raise RefusedError(f"it has more than {MOST_EDITS} edits")
            path, edited = self._edited(edit, moved)
            self.changed[path] = edited.text
            self.exact &= edited.exact
            moved[path] = moved.get(path, 0) + len(edit.after) - len(edit.before)
        return number > 0

    def _edited(self, edit: Edit, moved: Mapping[str, int]) -> tuple[str, Edited]:
        """The edited file. An edit without a path belongs to the only file in which it can be applied."""
        if edit.path:
            path = self._path(edit.path)
            try:
                return path, replaced(self._text(path), edit, moved.get(path, 0))
            except RefusedError as error:
                raise RefusedError(f"{path}: {error}") from None
        self.exact = False
        found = [(path, edited) for path in self.editable if (edited := self._tried(path, edit))]
        if len(found) == 1:
            return found[0]
        first = shown_line(next((line for line in edit.before if line.strip()), ""))
        where = "in several files" if found else "in no file that may be changed"
        raise RefusedError(f"an edit names no file, and its old lines, from {first} on, are {where}")

    def _tried(self, path: str, edit: Edit) -> Edited | None:
        longest = max((word for line in edit.before for word in line.split()), key=len, default="")
        if longest not in self._text(path):  # quick: it may be tried in hundreds of files
            return None
        try:
            return replaced(self._text(path), edit)
        except RefusedError:
            return None

    def _text(self, path: str) -> str:
        return self.changed.get(path, self.known[path])

    def _path(self, named: str) -> str:
        """The editable file of that path; a path that lacks its first folders is completed. Raises RefusedError."""
        path = named.removeprefix("./")
        if path in self.editable and path in self.known:
            return path
        ends = [known for known in self.editable if known.endswith(f"/{path}") and known in self.known]
        if len(ends) == 1 and path:
            self.exact = False
            return ends[0]
        known = path in self.known
        raise RefusedError(f"{shown_line(named)} is not a file that may be changed" if known else _unknown(named, ends))

    def _heading(self, block: Block) -> str:
        """The path under which a block stands: in its first fence, in the line above it or in its first line."""
        first = block.source.lstrip("\n").partition("\n")[0]
        named = (path_in(block.info, self.names), path_in(block.heading, self.names), _only_path(first, self.names))
        return next(filter(None, named), "")

    def _whole(self, block: Block, path: str) -> str | None:
        """The text of a whole file in a block; None for a part of it. Raises RefusedError for one that was cut."""
        lines = block.source.split("\n")
        source = "\n".join(lines[1:] if _only_path(lines[0], self.names) else lines)
        ends = (known for known in self.names.paths if known.endswith(f"/{path}"))
        known = path if path in self.names.paths else min(ends, default=None)
        if known is None or not source.strip():
            return None
        if known.endswith(".py") and not _is_whole(source, self.known[known]):
            return None
        if not block.closed:
            raise RefusedError(f"{known}: the block with the whole file has no end")
        return source

    def _set_whole(self, path: str, source: str) -> None:
        old = self.known[path]
        if source.count("\n") > 2 * old.count("\n") + _MOST_NEW_LINES:
            raise RefusedError(f"{path}: the new text is much longer than the file")
        text = source.rstrip("\n") + ("\n" if old.endswith("\n") or not old else "")
        self.changed[path] = text.replace("\n", "\r\n") if "\r\n" in old else text


_FORMS: Mapping[str, Callable[[_Change, str], bool]] = {
    "search-replace": _Change.by_blocks,
    "diff": _Change.by_diff,
    "whole-file": _Change.by_file,
    BY_NAME: _Change.by_name,
}


def _unknown(named: str, ends: Sequence[str]) -> str:
    if ends:
        return f"{shown_line(named)} may be any of {', '.join(map(shown_line, ends[:3]))}"
    return f"there is no file {shown_line(named)} that may be changed"


def _only_path(line: str, known: Known) -> str:
    """The known path that is all that a line, perhaps a comment, contains."""
    text = line.strip().strip("`*#:/ ")
    return text if text in known.paths else ""


def _is_whole(source: str, old: str) -> bool:
    """Whether a source is a whole file: it has at least half of the names that the file defines."""
    new, names = Reader().parse(source), _names_in(old)
    if new is None or not names:
        return 2 * source.count("\n") >= old.count("\n")
    return 2 * len(names & _names(new)) >= len(names)


@lru_cache(64)
def _names_in(text: str) -> frozenset[str]:
    """The names that a file defines, read once: a reply may have many blocks under its path."""
    program = Reader().parse(text)
    return frozenset(_names(program) if program else ())


def _names(program: Program) -> set[str]:
    """The functions and classes at top level, and the methods."""
    definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    tops = [node for node in program.tree.body if isinstance(node, definition)]
    within = {f"{top.name}.{node.name}" for top in tops for node in top.body if isinstance(node, definition)}
    return within | {top.name for top in tops}

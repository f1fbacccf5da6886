"""Functions, methods and classes in a reply that take the place of those of the same name in files.

A class that lacks methods of the file's class stands for the methods that it has. Stubs and definitions that are as in
the file count as quotes. New definitions are kept if a changed one uses them, directly or through other new ones; other
statements are ignored.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from koderz_core.patches import lines_of
from koderz_core.prompts.names import Definition, Function, defined_names
from koderz_core.prompts.programs import Program, Reader, indented, shape
from koderz_core.prompts.replacement import RefusedError

_MOST_DEFINITIONS = 500  # of one reply: each is compared with those of all files


@dataclass(frozen=True, slots=True)
class _Place:
    """A definition in a file: the names around it with its own, and the statement at top level that contains it."""

    path: str
    names: tuple[str, ...]
    node: Definition
    top: ast.stmt


@dataclass(frozen=True, slots=True)
class _Written:
    """A definition in a reply; ``names``: the class that it is in, if any, and its own name."""

    names: tuple[str, ...]
    node: Definition
    program: Program

    @property
    def is_method(self) -> bool:
        arguments = self.node.args.args if isinstance(self.node, Function) else []
        return len(self.names) > 1 or any(first.arg in ("self", "cls") for first in arguments[:1])

    def source(self, columns: int, *, decorated: bool) -> str:
        """Its lines, moved to the right by ``columns``."""
        lines = indented(self.program, max(0, columns)).split("\n")[_first(self.node, decorated) - 1 : _last(self.node)]
        return "\n".join(line[min(max(0, -columns), len(line) - len(line.lstrip())) :] for line in lines)


def redefined(programs: Sequence[Program], files: Mapping[str, str], reader: Reader) -> dict[str, str]:
    """The files in which definitions of the programs have a place, after the change. Raises RefusedError.

    A later definition of a name counts. A name must have one place in the files.
    """
    parsed = {path: program for path, text in files.items() if (program := _parsed(text, reader))}
    places = [place for path, program in parsed.items() for place in _places(path, program)]
    known = _members(places)
    there = {it.names[-1] for it in places}.union(*map(defined_names, parsed.values()))
    written = {it.names: it for program in programs for it in _definitions(program, known, there)}
    if len(written) > _MOST_DEFINITIONS:
        raise RefusedError(f"it defines more than {_MOST_DEFINITIONS} functions and classes")
    chosen = {it.names: place for it in written.values() if (place := _place(it, places))}
    new = [it for it in written.values() if it.names not in chosen]
    uses = _uses(new)
    edits: dict[str, list[tuple[range, str]]] = {path: [] for path in {place.path for place in chosen.values()}}
    for names, place in chosen.items():
        if not _same(written[names], place, files[place.path]):
            needed = _reached(_used(written[names].node), uses)
            edits[place.path] += _edits(written[names], place, [it for it in new if it.names[-1] in needed])
    return {path: _edited(files[path], made) for path, made in edits.items()}


def _parsed(text: str, reader: Reader) -> Program | None:
    return None if "\r" in text.replace("\r\n", "") else reader.parse(text)  # a lone one is a line end for Python only


def _places(path: str, program: Program) -> Iterator[_Place]:
    """The functions and classes at top level, and what is in these classes."""
    for top in program.tree.body:
        if isinstance(top, Definition):
            yield _Place(path, (top.name,), top, top)
            within = top.body if isinstance(top, ast.ClassDef) else ()
            yield from (_Place(path, (top.name, it.name), it, top) for it in within if isinstance(it, Definition))


def _members(places: Iterable[_Place]) -> dict[str, set[tuple[str, ...]]]:
    """The names of what is in each class at top level."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for place in places:
        if len(place.names) > 1:
            found.setdefault(place.names[0], set()).add(place.names)
    return found


def _definitions(
    program: Program, known: Mapping[str, set[tuple[str, ...]]], there: Container[str]
) -> Iterator[_Written]:
    """What a program defines; the methods in place of a class that lacks some of the methods that are ``known``.

    ``there``: names that the files define or import. A class without a body, such as a new exception, is a stub only if
    its name is one of these.
    """
    own = list(_places("", program))
    within = _members(own)
    for place in own:
        is_known = place.names[-1] in there or "*" in there  # a star import may bring any name
        if _is_placeholder(place.node) and (isinstance(place.node, Function) or is_known):
            continue
        top = place.names[0]
        is_whole = known.get(top, set()) <= within.get(top, set())
        if not isinstance(place.top, ast.ClassDef) or is_whole == (len(place.names) == 1):
            yield _Written(place.names, place.node, program)


def _is_placeholder(node: Definition) -> bool:
    return all(isinstance(it, ast.Pass | ast.Expr) and not _calls(it) for it in node.body)


def _calls(node: ast.stmt) -> bool:
    return any(isinstance(part, ast.Call | ast.Await | ast.Yield | ast.YieldFrom) for part in ast.walk(node))


def _place(written: _Written, places: Sequence[_Place]) -> _Place | None:
    """The place of a definition; None for a new one. Raises RefusedError if there are several."""
    found = [it for it in places if it.names[-len(written.names) :] == written.names and _alike(it.node, written.node)]
    if written.is_method == any(len(it.names) > 1 for it in found):
        found = [it for it in found if (len(it.names) > 1) == written.is_method]
    else:
        found = [it for it in found if len(it.names) == len(written.names)] or found
    if len(found) > 1:
        where = ", ".join(f"{it.path} ({'.'.join(it.names)})" for it in found[:3])
        raise RefusedError(f"{'.'.join(written.names)} is defined in several places: {where}")
    return found[0] if found else None


def _alike(one: Definition, other: Definition) -> bool:
    return isinstance(one, ast.ClassDef) == isinstance(other, ast.ClassDef)


def _same(written: _Written, place: _Place, text: str) -> bool:
    """Whether a definition is a quote of the file."""
    old = Program(text.replace("\r\n", "\n"), ast.Module([], []))
    sources = (
        written.source(0, decorated=False),
        replace(written, node=place.node, program=old).source(0, decorated=False),
    )
    return len({shape(_unindented(source)) for source in sources}) == 1


def _unindented(source: str) -> str:
    margin = len(source) - len(source.lstrip(" \t"))
    return "\n".join(line[min(margin, len(line) - len(line.lstrip())) :] for line in source.split("\n"))


def _uses(new: Iterable[_Written]) -> dict[str, set[str]]:
    """The names that new definitions use, by the names of these definitions."""
    uses: dict[str, set[str]] = {}
    for it in new:
        uses.setdefault(it.names[-1], set()).update(_used(it.node))
    return uses


def _reached(names: set[str], uses: Mapping[str, set[str]]) -> set[str]:
    """The names, with the names that new definitions of these names use, and so on."""
    reached, left = set[str](), names
    while left:
        reached |= left
        left = set[str]().union(*(uses.get(name, ()) for name in left)) - reached
    return reached


def _edits(written: _Written, place: _Place, needed: Iterable[_Written]) -> Iterator[tuple[range, str]]:
    """The lines of a file (from 0) and what replaces them: the definition, and new ones that it needs, before it."""
    decorated = bool(written.node.decorator_list) or not place.node.decorator_list
    columns = place.node.col_offset - written.node.col_offset
    for it in needed:
        if it.names[:-1] in ((), place.names[:-1]):
            beside = place.node if it.is_method and len(place.names) > 1 else place.top
            start = _first(beside, decorated=True) - 1
            blank = "\n" if it.is_method else "\n\n"
            yield range(start, start), it.source(beside.col_offset - it.node.col_offset, decorated=True) + f"\n{blank}"
    yield (
        range(_first(place.node, decorated) - 1, _last(place.node)),
        written.source(columns, decorated=decorated) + "\n",
    )


def _used(node: Definition) -> set[str]:
    names = (getattr(it, "id", None) or getattr(it, "attr", None) for it in ast.walk(node))
    return {name for name in names if isinstance(name, str)}


def _first(node: ast.stmt, decorated: bool) -> int:
    decorators = node.decorator_list if decorated and isinstance(node, Definition) else []
    return min([node.lineno, *(it.lineno for it in decorators)])


def _last(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _edited(text: str, edits: Iterable[tuple[range, str]]) -> str:
    """The text after edits, which must not overlap. Raises RefusedError."""
    lines, done, result = lines_of(text), 0, list[str]()
    end = "\r\n" if "\r\n" in text else "\n"
    for within, new in sorted(dict.fromkeys(edits), key=lambda it: (it[0].start, it[0].stop)):
        if within.start < done:
            raise RefusedError("it defines a class and, apart from it, a method of this class")
        result += [*lines[done : within.start], new.replace("\n", end)]
        done = within.stop
    if done == len(lines) and lines and not lines[-1].endswith("\n") and result:
        result[-1] = result[-1].removesuffix(end)
    return "".join([*result, *lines[done:]])

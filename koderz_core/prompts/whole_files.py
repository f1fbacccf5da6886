"""Extraction of whole files from a reply: a module with given names, and a program that reads standard input.

The last piece that may be the answer counts. Definitions that it lacks are taken from other blocks of the reply, in
their order. Only example code after the definitions of a module is removed, unless the given file has the same code; of
a program nothing is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from koderz_core.prompts.markdown import Block, layout
from koderz_core.prompts.names import (
    Definition,
    after_definitions,
    defined_names,
    lacking_names,
    more_than_stubs,
    without,
    without_examples,
)
from koderz_core.prompts.pieces import ANY_START, Piece, Pieces
from koderz_core.prompts.programs import Program, Reader, plain, shape
from koderz_core.records import Extracted, PublicProblem

_MOST_PROGRAMS = 8  # blocks that are examined as the main part of an answer
_MAX_DEPTH = 3

_Find = Callable[[Sequence[Piece]], Extracted | None]


def of_module(text: str, problem: PublicProblem) -> Extracted | None:
    """The module in a reply without thoughts: it binds the entry point, and is more than a stub.

    A piece that repeats the given code is the answer only if no other is.
    """
    asked = {problem.entry_point, *problem.names}
    pieces = Pieces(lambda program: _is_module(program, problem.entry_point, asked), whole=True)
    preamble = pieces.reader.parse(problem.preamble)
    known = defined_names(preamble) if preamble else set[str]()
    given = Reader().parse(problem.given)

    def find(found: Sequence[Piece]) -> Extracted | None:
        places = [at for at, piece in enumerate(found) if piece.program and pieces.wanted(piece.program)]
        latest = places[-_MOST_PROGRAMS:]
        new = [at for at in latest if shape(found[at].source) != shape(problem.given)] if len(latest) > 1 else []
        for place in (new or latest)[-1:]:
            trimmed = [piece.program and _without_trials(piece.program) for piece in found]
            whole = _joined(trimmed, place, found[place].how, asked - known, known)
            main = found[place].program
            if main is None or whole.how == "joined":  # lines of an earlier block would run before later definitions
                return whole
            return replace(whole, code=_without_trials(main, given).source)
        return None

    beginning = rf"^(?:class|(?:async +)?def) +(?:{'|'.join(map(re.escape, sorted(asked)))})\b"
    text = _without_file_name(text, problem.file)
    return _extracted(text, pieces, find, re.compile(beginning, re.MULTILINE), problem.file)


def of_program(text: str) -> Extracted | None:
    """The program in a reply without thoughts: it does something and writes, and reads too if a piece does."""
    pieces = Pieces(_acts, whole=True)

    def find(found: Sequence[Piece]) -> Extracted | None:
        acting = [place for place, piece in enumerate(found) if piece.program and _acts(piece.program)]
        helpers = [None if place in acting else piece.program for place, piece in enumerate(found)]
        whole = list[Extracted]()
        for place in acting[: -_MOST_PROGRAMS - 1 : -1]:
            parts = [found[place].program if at == place else helper for at, helper in enumerate(helpers)]
            whole.append(_joined(parts, place, found[place].how, set(), set(), main_last=True))
        used = [(it, _names_used(it, pieces.reader)) for it in whole]
        writing = [(it, names) for it, names in used if names & _WRITING]
        return next((it for it, names in writing if names & _READING), writing[0][0] if writing else None)

    return _extracted(text, pieces, find, ANY_START)


def _extracted(text: str, pieces: Pieces, find: _Find, beginning: re.Pattern[str], file: str = "") -> Extracted | None:
    parts = layout(text)
    blocks = [_without_heading(block, file) for block in parts.blocks if block.maybe_python or _is_of(block, file)]
    fenced, prose = pieces.fenced(blocks), plain(parts.prose)
    return (
        find([Piece(text, "prose", pieces.reader.parse(text))])
        or find(fenced)
        or find(pieces.unfenced(prose))
        or (None if any(piece.tagged for piece in fenced) else find(pieces.unfenced(text)))
        or pieces.unsolved(fenced, prose, beginning)
    )


def _is_of(block: Block, file: str) -> bool:
    """Whether a block has the name of the file in place of its language; ``leap.py`` is read as ``leap``."""
    return bool(file) and block.language == file.lower().removesuffix(".py")


def _without_heading(block: Block, file: str) -> Block:
    return replace(block, source=_without_file_name(block.source, file))


def _without_file_name(text: str, file: str) -> str:
    """The text without a first line that is only the name of the file, as some models write it into the block."""
    first, _, rest = text.lstrip().partition("\n")
    return rest if file and first.strip(" \t`*:") == file and not first.startswith("```") else text


def _is_module(program: Program, entry_point: str, asked: set[str]) -> bool:
    return entry_point in defined_names(program, imports=False) and more_than_stubs(program, asked)


def _without_trials(program: Program, given: Program | None = None) -> Program:
    return without_examples(program, after_definitions(program), given)


_WRITING = frozenset({"print", "write", "writelines"})
_READING = frozenset({"input", "stdin", "open", "fileinput", "read"})


def _acts(program: Program) -> bool:
    """Whether a statement outside of functions and classes calls something; imports and constants do nothing."""
    return any(
        isinstance(node, ast.Call)
        for statement in program.tree.body
        if not isinstance(statement, Definition | ast.Import | ast.ImportFrom)
        for node in ast.walk(statement)
    )


def _names_used(found: Extracted, reader: Reader) -> set[str]:
    program = reader.parse(found.code or "")
    nodes = ast.walk(program.tree) if program else ()
    return {
        name
        for node in nodes
        for name in (getattr(node, "id", None), getattr(node, "attr", None), getattr(node, "name", None))
        if isinstance(name, str)
    }


@dataclass(frozen=True, slots=True)
class _Part:
    program: Program
    names: set[str]


def _joined(
    programs: Sequence[Program | None],
    main: int,
    how: str,
    asked: set[str],
    given: set[str],
    *,
    main_last: bool = False,
) -> Extracted:
    """The program at ``main``, with those of the others that define what it lacks, and what these lack in turn.

    ``asked``: names that the whole must define, ``given``: names that need no definition.
    """
    parts = {at: _Part(program, defined_names(program)) for at, program in enumerate(programs) if program}
    whole = parts[main]
    known, chosen = whole.names | given, {main}
    lacking = (asked | lacking_names(whole.program)) - known
    nearest = sorted(parts.keys() - chosen, key=lambda at: (at > main, abs(at - main)))
    for at in nearest * _MAX_DEPTH if lacking else ():
        if at not in chosen and lacking & parts[at].names:
            chosen.add(at)
            known |= parts[at].names
            lacking = (lacking | lacking_names(parts[at].program)) - known
    if len(chosen) == 1:
        return Extracted(whole.program.source, how)
    order = sorted(chosen, key=lambda at: (main_last and at == main, at))
    return Extracted(_one_source([parts[at].program for at in order]), "joined")


def _one_source(programs: Sequence[Program]) -> str:
    """The sources in order; imports from ``__future__`` come first, because Python demands it."""
    features = [
        {top for top in program.tree.body if isinstance(top, ast.ImportFrom) and top.module == "__future__"}
        for program in programs
    ]
    first = dict.fromkeys(ast.unparse(top) for tops in features for top in sorted(tops, key=lambda top: top.lineno))
    rest = [without(program, tops).source for program, tops in zip(programs, features, strict=True)]
    return "\n\n".join([*first, *rest])

"""Extraction of the program from a model's reply.

First, thoughts, control tokens and other line ends are removed. The last fenced block that defines the entry point is
the answer, because earlier ones quote older versions; without one, it is code between prose, then a bare function body.
Otherwise the part that looks most like an answer is returned unchanged, so that running it shows its fault; nothing is
renamed or added. The rules for whole files are in ``whole_files``, those for changes of a repository in ``edits``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from koderz_core.prompts import whole_files
from koderz_core.prompts.edits import of_repository
from koderz_core.prompts.markdown import layout
from koderz_core.prompts.names import (
    after,
    defined_names,
    defines,
    lacking_names,
    returns_after,
    signature,
    source_of,
    without_examples,
)
from koderz_core.prompts.pieces import Piece, Pieces
from koderz_core.prompts.programs import Program, Reader, indented, plain, shape, with_first_line_indented
from koderz_core.records import Completion, Extracted, PublicProblem

VERSION = "1"
"""A changed rule extracts other programs, so it needs a new version."""

MAX_RUNS = 8
MAX_DEPTH = 3

_TAG = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
MAX_TOKENS_CUT = 8


def candidate(completion: Completion, problem: PublicProblem) -> Extracted:
    """The program in a model's answer, with how the answer ended."""
    return replace(extract(completion.text, problem), finish=completion.finish)


def extract(reply: str, problem: PublicProblem) -> Extracted:
    """The program in ``reply`` that should solve ``problem``; ``code`` None if there is none. Never raises.

    ``how`` is one of ``fence``, ``fence-last`` (of several), ``unfinished-fence`` (its end is missing),
    ``fence-trimmed`` (without the prose in it), ``joined`` (with helpers from another block), ``prose``, ``body`` (put
    under the problem's signature), ``no-entry-point`` (does not define it), ``raw`` (does not parse), ``none``.
    For a repository it is one of those of ``edits.of_repository``.
    """
    text = answer(reply)
    match problem.kind:
        case "module":
            found = whole_files.of_module(text, problem)
        case "program":
            found = whole_files.of_program(text)
        case "repo":
            found = of_repository(text, problem)
        case "question":
            found = Extracted(text.strip(), "answer") if text.strip() else None
        case _:
            found = _of_function(text, problem)
    return found or Extracted(None, "none")


def _of_function(text: str, problem: PublicProblem) -> Extracted | None:
    parts = layout(text)
    search = _Search(problem)
    fenced = search.pieces.fenced([block for block in parts.blocks if block.maybe_python])
    unfenced = search.pieces.unfenced
    return (
        search.defining([Piece(text, "prose", search.reader.parse(text))])
        or search.defining(fenced)
        or search.defining(unfenced(parts.prose))
        or (search.defining(unfenced(plain(parts.prose))) if plain(parts.prose) != parts.prose else None)
        or search.body([*(piece.source for piece in reversed(fenced)), parts.prose, *_indented_runs(parts.prose)])
        or (None if any(piece.tagged for piece in fenced) else search.defining(unfenced(text)))
        or search.pieces.unsolved(fenced, parts.prose, search.beginning)
    )


@dataclass(frozen=True, slots=True)
class _Helper:
    """A program and the names that it defines, which another program may lack."""

    program: Program
    names: set[str]


@dataclass(frozen=True, slots=True)
class _Search:
    """The rules for functions, applied to one reply."""

    problem: PublicProblem
    reader: Reader = field(default_factory=Reader)

    @property
    def pieces(self) -> Pieces:
        return Pieces(lambda program: defines(program, self.problem.entry_point), reader=self.reader)

    @property
    def beginning(self) -> re.Pattern[str]:
        """The beginning of the function, in a program that does not parse."""
        return re.compile(rf"^(?:async +)?def +{re.escape(self.problem.entry_point)}\b", re.MULTILINE)

    def defining(self, pieces: Sequence[Piece]) -> Extracted | None:
        """The last piece that defines the entry point, with missing helpers and without example calls.

        A piece that repeats the faulty program of a repair is the answer only if no other is.
        """
        name = self.problem.entry_point
        found = [place for place, piece in enumerate(pieces) if piece.program and defines(piece.program, name)]
        new = [place for place in found if not self._repeats_fault(pieces[place].program)] if len(found) > 1 else []
        for place in (new or found)[-1:]:
            if whole := pieces[place].program:
                program = without_examples(whole, after(whole, name))
                others = [*reversed(pieces[:place]), *pieces[place + 1 :]]
                helpers = self._helpers(program, [piece.program for piece in others if piece.program])
                code = "\n\n".join([*helpers, program.source])
                return Extracted(code, "joined" if helpers else pieces[place].how)
        return None

    def _repeats_fault(self, program: Program | None) -> bool:
        given = self.reader.parse(self.problem.given) if self.problem.kind == "repair" else None
        sources = [source_of(it, self.problem.entry_point) for it in (program, given) if it]
        return len(sources) == 2 and len(set(map(shape, sources))) == 1

    def _helpers(self, program: Program, others: Sequence[Program]) -> list[str]:
        """Sources of the other programs that define what ``program`` lacks, and what those lack in turn."""
        if not others:
            return []
        preamble = self.reader.parse(self.problem.preamble)
        known = defined_names(program) | (defined_names(preamble) if preamble else set())
        lacking = lacking_names(program) - known
        helpers = [_Helper(other, defined_names(other)) for other in others] if lacking else []
        sources: list[str] = []
        for helper in helpers * MAX_DEPTH:
            if lacking & helper.names:
                known |= helper.names
                lacking = (lacking | lacking_names(helper.program)) - known
                sources.insert(0, without_examples(helper.program).source)
        return sources

    def body(self, sources: Iterable[str]) -> Extracted | None:
        """The first source that is a body of the entry point, put under the problem's signature."""
        for source in sources:
            if source.strip() and (program := self._attached(source)):
                start = after(program, self.problem.entry_point)
                return Extracted(without_examples(program, start).source, "body")
        return None

    def _attached(self, source: str) -> Program | None:
        above = self._signature()
        last_line = above.rpartition("\n")[2]
        columns = len(last_line) - len(last_line.lstrip()) or 4
        for body in self._bodies(source, columns):
            program = self.reader.parse(f"{above}\n{body.rstrip()}\n")
            if program and returns_after(program, self.problem.entry_point, above.count("\n") + 1):
                return None if self.problem.kind == "repair" and self._is_part(program) else program
        return None

    def _signature(self) -> str:
        """The text above a bare body: the prompt, or the beginning of the faulty program."""
        if self.problem.kind != "repair":
            return self.problem.prompt.rstrip()
        given = self.reader.parse(self.problem.given)
        return signature(given, self.problem.entry_point) if given else ""

    def _is_part(self, program: Program) -> bool:
        """Whether a body is only the changed lines: names are missing, or more than half of the given statements."""
        preamble, given = self.reader.parse(self.problem.preamble), self.reader.parse(self.problem.given)
        missing = lacking_names(program) - (defined_names(preamble) if preamble else set())
        return bool(missing) or (given is not None and 2 * _statements(program) < _statements(given))

    def _bodies(self, source: str, columns: int) -> Iterator[str]:
        for text in (source.strip("\n"), plain(source)):
            yield text
            yield with_first_line_indented(text)
        if repaired := self.reader.repair(source):
            yield indented(repaired, columns)


def _statements(program: Program) -> int:
    return sum(isinstance(node, ast.stmt) for node in ast.walk(program.tree))


def _indented_runs(text: str) -> list[str]:
    """Indented passages that return something, the last first."""
    runs = [
        "\n".join(run)
        for inside, run in groupby(text.split("\n"), lambda line: not line or line[0].isspace())
        if inside
    ]
    return [run for run in reversed(runs) if "return" in run or "yield" in run][:MAX_RUNS]


def answer(reply: str) -> str:
    """The text outside of ``<think>...</think>``; lines end in ``\\n``.

    A thought that is never closed hides everything after it. An end tag without a start tag hides everything before it,
    because chat templates often put the start tag into the prompt.
    """
    text = reply.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    return _without_end_tokens(_without_thoughts(text))


def _without_thoughts(text: str) -> str:
    kept: list[str] = []
    start, thinking = 0, False
    for tag in _TAG.finditer(text):
        closing = bool(tag[1])
        if not thinking and not _alone(text, tag.start(), tag.end(), closing):
            continue
        if closing:
            start = tag.end()
        elif not thinking:
            kept.append(text[start : tag.start()])
        thinking = not closing
    return "".join(kept if thinking else [*kept, text[start:]])


def _alone(text: str, start: int, end: int, closing: bool) -> bool:
    """Whether a tag is at the start of a line, or a closing tag at its end; others belong to a sentence or program."""
    before = text[max(0, start - 40) : start].rpartition("\n")[2]
    after = text[end : end + 40].partition("\n")[0]
    return not before.strip() or (closing and not after.strip())


def _without_end_tokens(text: str) -> str:
    """The text without ``<|im_end|>`` and similar tokens, which some servers leave at its end."""
    for _ in range(MAX_TOKENS_CUT):
        text = text.rstrip()
        if text.endswith("</s>"):
            text = text[:-4]
        elif text.endswith("|>") and (start := text.rfind("<|", len(text) - 60)) >= 0:
            text = text[:start]
        else:
            break
    return text

"""Extraction of the program from a model's reply.

First, thoughts, control tokens and other line ends are removed. The last fenced block that defines the entry point is
the answer, because earlier ones quote older versions; without one, it is code between prose, then a bare function body.
Otherwise the part that looks most like an answer is returned unchanged, so that running it shows its fault; nothing is
renamed or added.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from koderz_core.prompts.markdown import Block, layout
from koderz_core.prompts.names import (
    defined_names,
    defines,
    has_definition,
    lacking_names,
    returns_after,
    without_examples,
)
from koderz_core.prompts.programs import (
    MAX_PROGRAM_CHARS,
    Program,
    Reader,
    indented,
    plain,
    unindented,
    with_first_line_indented,
    without_prompts,
)
from koderz_core.records import Completion, Extracted, PublicProblem

VERSION = "1"
"""A changed rule extracts other programs, so it needs a new version."""

MAX_STARTS = 64
MAX_RUNS = 8
MAX_DEPTH = 3
MAX_LINES = 10_000

_START = re.compile(
    r"[ \t]*(?:>>> ?)?(?:(?:async +)?def +\w+ *\(|class +\w+ *[(:]|import +\w|from +[\w.]+ +import\b|@\w|\w+ *=[^=])"
)
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
    """
    text = answer(reply)
    parts = layout(text)
    search = _Search(problem)
    fenced = search.fenced([block for block in parts.blocks if block.maybe_python])
    return (
        search.defining([_Piece(text, "prose", search.reader.parse(text))])
        or search.defining(fenced)
        or search.defining(search.unfenced(parts.prose))
        or (search.defining(search.unfenced(plain(parts.prose))) if plain(parts.prose) != parts.prose else None)
        or search.body([*(piece.source for piece in reversed(fenced)), parts.prose, *_indented_runs(parts.prose)])
        or (None if any(piece.tagged for piece in fenced) else search.defining(search.unfenced(text)))
        or search.unsolved(fenced, parts.prose)
        or Extracted(None, "none")
    )


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of the reply that may be the program; ``program`` None: it does not parse. ``tagged``: with a language."""

    source: str
    how: str
    program: Program | None
    tagged: bool = False


@dataclass(frozen=True, slots=True)
class _Helper:
    """A program and the names that it defines, which another program may lack."""

    program: Program
    names: set[str]


@dataclass(frozen=True, slots=True)
class _Search:
    """The rules of extraction, applied to one reply."""

    problem: PublicProblem
    reader: Reader = field(default_factory=Reader)

    def fenced(self, blocks: Sequence[Block]) -> list[_Piece]:
        how = "fence-last" if len(blocks) > 1 else "fence"
        # From the last block backwards: if the reader's budget runs out, the likeliest blocks have been read.
        return [self._piece(block, how) for block in reversed(blocks)][::-1]

    def _piece(self, block: Block, how: str) -> _Piece:
        how = how if block.closed else "unfinished-fence"
        program = self.reader.repair(block.source)
        if program is None:
            program = self.reader.longest(unindented(block.source))
            program = program if program and defines(program, self.problem.entry_point) else None
            how = "fence-trimmed" if block.closed else how
        return _Piece(block.source, how, program, tagged=bool(block.language))

    def unfenced(self, text: str) -> list[_Piece]:
        """Programs between prose, each from its first line to the place where it no longer parses."""
        lines = text.split("\n")
        pieces: list[_Piece] = []
        place, starts = 0, 0
        for start, line in enumerate(lines):
            if start < place or starts == MAX_STARTS or not _START.match(line):
                continue
            starts += 1
            source = without_prompts(unindented("\n".join(lines[start : start + MAX_LINES])[: MAX_PROGRAM_CHARS // 2]))
            if program := self.reader.longest(source):
                pieces.append(_Piece(program.source, "prose", program))
                place = start + program.source.count("\n") + 1
        return pieces

    def defining(self, pieces: Sequence[_Piece]) -> Extracted | None:
        """The last piece that defines the entry point, with missing helpers and without example calls."""
        for place in range(len(pieces) - 1, -1, -1):
            program = pieces[place].program
            if program and defines(program, self.problem.entry_point):
                program = without_examples(program, self.problem.entry_point)
                others = [*reversed(pieces[:place]), *pieces[place + 1 :]]
                helpers = self._helpers(program, [piece.program for piece in others if piece.program])
                code = "\n\n".join([*helpers, program.source])
                return Extracted(code, "joined" if helpers else pieces[place].how)
        return None

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
                return Extracted(without_examples(program, self.problem.entry_point).source, "body")
        return None

    def _attached(self, source: str) -> Program | None:
        signature = self.problem.prompt.rstrip()
        last_line = signature.rpartition("\n")[2]
        columns = len(last_line) - len(last_line.lstrip()) or 4
        for body in self._bodies(source, columns):
            program = self.reader.parse(f"{signature}\n{body.rstrip()}\n")
            if program and returns_after(program, self.problem.entry_point, signature.count("\n") + 1):
                return program
        return None

    def _bodies(self, source: str, columns: int) -> Iterator[str]:
        for text in (source.strip("\n"), plain(source)):
            yield text
            yield with_first_line_indented(text)
        if repaired := self.reader.repair(source):
            yield indented(repaired, columns)

    def unsolved(self, fenced: Sequence[_Piece], prose: str) -> Extracted | None:
        """The part that looks most like an answer, although it cannot pass."""
        defining = re.compile(rf"^(?:async +)?def +{re.escape(self.problem.entry_point)}\b", re.MULTILINE)
        broken = [piece.source for piece in fenced if not piece.program and defining.search(piece.source)]
        if not broken and (definition := defining.search(prose)):
            broken = [prose[definition.start() :]]
        if broken:
            return Extracted(broken[-1], "raw")
        pieces = [
            piece for piece in (*self.unfenced(prose), *fenced) if piece.program and has_definition(piece.program)
        ]
        pieces = pieces or [piece for piece in fenced if piece.tagged and piece.source.strip()]
        if not pieces:
            return None
        program = pieces[-1].program
        return Extracted(program.source, "no-entry-point") if program else Extracted(pieces[-1].source, "raw")


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

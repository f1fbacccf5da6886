"""The parts of a reply that may be the program: fenced blocks, and passages between prose that parse as Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from koderz_core.prompts.markdown import Block
from koderz_core.prompts.names import has_definition
from koderz_core.prompts.programs import MAX_PROGRAM_CHARS, Program, Reader, unindented, without_prompts
from koderz_core.records import Extracted

MAX_STARTS = 64
MAX_LINES = 10_000

_FIRST_LINE = (
    r"[ \t]*(?:>>> ?)?(?:(?:async +)?def +\w+ *\(|class +\w+ *[(:]|import +\w|from +[\w.]+ +import\b|@\w|\w+ *=[^=])"
)
_START = re.compile(_FIRST_LINE)
ANY_START = re.compile(f"^{_FIRST_LINE}", re.MULTILINE)
"""The beginning of any Python program, in a text."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the reply that may be the program; ``program`` None: it does not parse. ``tagged``: with a language."""

    source: str
    how: str
    program: Program | None
    tagged: bool = False


@dataclass(frozen=True, slots=True)
class Pieces:
    """Finds the pieces of one reply; ``wanted``: whether a program may be the answer.

    ``whole``: the beginning of a program that was cut is not an answer, because it is not known what is missing.
    """

    wanted: Callable[[Program], bool]
    whole: bool = False
    reader: Reader = field(default_factory=Reader)

    def fenced(self, blocks: Sequence[Block]) -> list[Piece]:
        how = "fence-last" if len(blocks) > 1 else "fence"
        # From the last block backwards: if the reader's budget runs out, the likeliest blocks have been read.
        return [self._piece(block, how) for block in reversed(blocks)][::-1]

    def _piece(self, block: Block, how: str) -> Piece:
        how = how if block.closed else "unfinished-fence"
        program = self.reader.repair(block.source)
        if program is None and (block.closed or not self.whole):
            program = self.reader.longest(unindented(block.source))
            program = program if program and self.wanted(program) else None
            how = "fence-trimmed" if block.closed else how
        return Piece(block.source, how, program, tagged=bool(block.language))

    def unfenced(self, text: str) -> list[Piece]:
        """Programs between prose, each from its first line to the place where it no longer parses."""
        lines = text.split("\n")
        pieces: list[Piece] = []
        place, starts = 0, 0
        for start, line in enumerate(lines):
            if start < place or starts == MAX_STARTS or not _START.match(line):
                continue
            starts += 1
            source = without_prompts(unindented("\n".join(lines[start : start + MAX_LINES])[: MAX_PROGRAM_CHARS // 2]))
            if program := self.reader.longest(source):
                pieces.append(Piece(program.source, "prose", program))
                place = start + program.source.count("\n") + 1
        return pieces

    def unsolved(self, fenced: Sequence[Piece], prose: str, beginning: re.Pattern[str]) -> Extracted | None:
        """The part that looks most like an answer, although it cannot pass.

        ``beginning``: the beginning of an answer, in a program that does not parse.
        """
        broken = [piece.source for piece in fenced if not piece.program and beginning.search(piece.source)]
        if not broken and (found := beginning.search(prose)):
            broken = [prose[found.start() :]]
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

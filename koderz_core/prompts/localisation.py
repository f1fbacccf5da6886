"""Which parts of a repository's files a task is about: by its words and names, and by the lines in tracebacks.

The parts of a Python file are its functions and methods, and the lines between them. A part that a traceback names
comes first. Then names that the task mentions count more than its other words, and a part of the points of the best
parts goes to the definitions that these use. The weights are a choice, not a result of measurements.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from koderz_core.prompts.names import Definition
from koderz_core.prompts.programs import Reader
from koderz_core.prompts.relevance import (
    IN_NAMES,
    NEIGHBOUR_SHARE,
    by_place,
    names_file,
    points,
    rarity,
    wanted_words,
    words_of,
)

AS_NAMED = 2 * IN_NAMES
MOST_TASK_CHARS = 20_000
_MOST_BEST = 5  # parts whose neighbours get points
_MOST_HITS = 50
_CHUNK = 40  # lines of a part of a file without definitions
_NAME = re.compile(r"[A-Za-z_]\w*")
_HIT = re.compile(r'(?:File "([^"\n]{1,300})", line (\d{1,7}))|(?:([\w./-]{1,300}\.py):(\d{1,7}))')


@dataclass(frozen=True, slots=True)
class Part:
    """Whole lines of a file, from ``first`` (from 1) to ``last``. ``names``: the class, if any, and the definition.

    ``text``: these lines. ``words``: those of the text. ``uses``: all names in the text.
    """

    path: str
    first: int
    last: int
    names: tuple[str, ...]
    text: str
    words: Mapping[str, int] = field(compare=False, repr=False, default_factory=dict)
    uses: frozenset[str] = field(compare=False, repr=False, default=frozenset())


@lru_cache(maxsize=128)
def parts_of(path: str, text: str) -> tuple[Part, ...]:
    """The parts of a file, in order; together they are the file."""
    lines = text.split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    program = Reader().parse(text) if path.endswith(".py") else None
    marks = dict(_marks(program.tree.body, ())) if program else dict.fromkeys(range(1, len(lines) + 1, _CHUNK), ())
    starts = [1, *sorted(mark for mark in marks if 1 < mark <= len(lines))]
    starts = [
        start
        for start, after in pairwise([*starts, len(lines) + 1])
        if "".join(lines[start - 1 : after - 1]).strip() or start == 1
    ]
    found = []
    for first, after in pairwise([*starts, len(lines) + 1]):
        source = "\n".join(lines[first - 1 : after - 1])
        if lines:
            uses = frozenset(_NAME.findall(source))
            found.append(Part(path, first, after - 1, marks.get(first, ()), source, words_of(source), uses))
    return tuple(found)


def _marks(body: Sequence[object], around: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The lines at which parts begin, with their names."""
    for node in body:
        if isinstance(node, Definition):
            yield min([node.lineno, *(it.lineno for it in node.decorator_list)]), (*around, node.name)
            if not around and hasattr(node, "bases"):
                yield from _marks(node.body, (node.name,))
            yield (node.end_lineno or node.lineno) + 1, around


def ranked(files: Mapping[str, str], task: str) -> tuple[Part, ...]:
    """All parts of these files, the ones that matter most for the task first. Deterministic."""
    task = task[:MOST_TASK_CHARS]
    parts = [part for path, text in sorted(files.items()) for part in parts_of(path, text)]
    scores = _by_words(parts, task)
    for place, gain in enumerate(_traced(parts, task)):
        scores[place] += gain
    for place, gain in _of_neighbours(parts, scores).items():
        scores[place] += gain
    order = sorted(range(len(parts)), key=lambda at: (-scores[at], parts[at].path, parts[at].first))
    return tuple(parts[at] for at in order)


def _by_words(parts: Sequence[Part], task: str) -> list[float]:
    wanted = wanted_words(task)
    named = {name for name in _NAME.findall(task) if len(name) > 2}
    places = [by_place(part.path, " ".join(part.names), "") for part in parts]
    words = [place.keys() | part.words.keys() for place, part in zip(places, parts, strict=True)]
    telling = {word: rarity(word, words) for word in wanted}
    names = [set(part.names) & named for part in parts]
    special = {name: rarity(name, names) for name in set().union(*names)} if names else {}
    files = {part.path for part in parts if names_file(part.path, task)}
    return [
        sum(telling[word] * points(word, place, part.words) for word in wanted)
        + sum(AS_NAMED * special[name] for name in of_part)
        + (AS_NAMED if part.path in files else 0.0)
        for part, place, of_part in zip(parts, places, names, strict=True)
    ]


def _traced(parts: Sequence[Part], task: str) -> Iterator[float]:
    """Points for the lines that tracebacks name: more than any words give, and more for later, inner frames."""
    hits = [(match[1] or match[3], int(match[2] or match[4])) for match in _HIT.finditer(task)][-_MOST_HITS:]
    weights = {place: 1000.0 + number for number, place in enumerate(hits)}
    for part in parts:
        within = (
            weight
            for (path, line), weight in weights.items()
            if part.first <= line <= part.last and f"/{path}".endswith(f"/{part.path}")
        )
        yield max(within, default=0.0)


def _of_neighbours(parts: Sequence[Part], scores: Sequence[float]) -> dict[int, float]:
    """The share that the definitions used by the best parts get."""
    own = [part.names[-1] if part.names else "" for part in parts]
    places = Counter(own)
    best = sorted(range(len(parts)), key=lambda at: (-scores[at], at))[:_MOST_BEST]
    gains: dict[int, float] = {}
    for at in best:
        for place, name in enumerate(own):
            if place != at and name in parts[at].uses and places[name] <= _MOST_BEST:
                gains[place] = max(gains.get(place, 0.0), NEIGHBOUR_SHARE * scores[at] / places[name])
    return gains

"""Examples: other problems that were solved, with their programs, the most like the problem that is to be solved."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice

from koderz_core.memory.admissible import Learnt, admissible, akin
from koderz_core.memory.lessons import Known
from koderz_core.memory.twins import under_name
from koderz_core.prompts.reminding import example
from koderz_core.records import Memory, Problem, PublicProblem
from koderz_core.records.solved import Solved

MaySolve = Callable[[Problem, str], bool]
"""Whether a program passes the tests of a problem, or cannot be shown to give a wrong answer."""


def examples(solved: Iterable[Solved], problem: Problem, known: Known, may_solve: MaySolve, limit: int) -> list[Memory]:
    """At most ``limit`` of those that are known and surely of other problems, no two of them of the same.

    First come those whose texts share most words with this problem's, as far as the guard lets them. Only a program
    that would be shown is run on this problem's tests.
    """
    sources = [(source, one) for one in solved if (source := known(one.dataset, one.problem))]
    sources.sort(key=lambda pair: (-_shared(pair[0].prompt, problem.public.prompt), pair[1].problem, pair[1].dataset))
    return list(islice(_told(sources, problem, may_solve), limit))


def _told(sources: Iterable[tuple[PublicProblem, Solved]], problem: Problem, may_solve: MaySolve) -> Iterator[Memory]:
    taken: list[PublicProblem] = []
    for source, one in sources:
        text = example(source.prompt, one.code)
        if any(akin(source, other) for other in taken):
            continue
        if admissible(Learnt(text, (source,), one.code), problem) and not _solves(source, one.code, problem, may_solve):
            taken.append(source)
            yield Memory(text, one.experiment, {"problem": one.problem, "dataset": one.dataset})


def _solves(source: PublicProblem, code: str, problem: Problem, may_solve: MaySolve) -> bool:
    """Whether a function of the program may solve this problem, too; what cannot be tried may."""
    renamed = list(under_name(problem.public.entry_point, source, code))
    return not renamed or any(may_solve(problem, one) for one in renamed)


def _shared(one: str, other: str) -> float:
    """The share of the words of two texts that are in both."""
    first, second = _words(one), _words(other)
    return len(first & second) / max(1, len(first | second))


@lru_cache(4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]+", text.casefold()))

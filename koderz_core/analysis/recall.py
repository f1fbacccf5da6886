"""Whether a model's programs are like the canonical solutions because it recalls these.

Likeness is the share of a solution's runs of five tokens that a program contains: names count, while the code that the
problem's text gives, comments, docstrings and imports do not. Runs of five: Liang, Garg and Moghaddam, "The SWE-Bench
Illusion", arXiv 2506.12286. All short solutions resemble each other, so only solutions with ``FEWEST_RUNS`` count. A
correct program resembles its solution anyway, so likeness alone shows nothing. Two comparisons do: with the same
model's programs for the renamed problems, and with the programs of other models for the same problems.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from statistics import fmean
from typing import TYPE_CHECKING

from koderz_core.prompts.token_runs import Line, token_lines, token_runs

if TYPE_CHECKING:  # numpy is slow to import
    import numpy as np
    from numpy.typing import NDArray

FEWEST_RUNS = 20
"""Of a solution, that is 24 tokens: most lines of one expression have fewer."""
FEWEST_PROBLEMS = 5
"""Fewer problems allow no p of at most 0.05."""
MOST_CHARS = 20_000
"""A longer program counts as unlike every solution."""
MOST_SOLUTIONS = 200
"""Of the other problems with which a program is compared."""
_TIMES = 4999  # random permutations
Runs = frozenset[Line]


@dataclass(frozen=True, slots=True)
class Contrast:
    """The mean over ``problems`` of the likeness less another likeness; ``p``: one-sided, that it is 0 or less."""

    problems: int
    difference: float
    p: float


@dataclass(frozen=True, slots=True)
class Recall:
    """The likeness of a configuration's programs to the canonical solutions of ``problems``.

    ``own``: to the solution of their own problem, ``others``: to those of other problems. ``renamed``, ``peers``: the
    comparisons that show recall, None with fewer than ``FEWEST_PROBLEMS`` problems.
    """

    problems: int
    own: float
    others: float
    renamed: Contrast | None
    peers: Contrast | None

    @property
    def compared(self) -> bool:
        """Whether there is a comparison that can show recall."""
        return self.renamed is not None or self.peers is not None


def runs_of(program: str, prompt: str) -> Runs:
    """The runs of a program, without the lines of code that the problem's text gives."""
    if len(program) > MOST_CHARS:
        return frozenset()
    return token_runs(program, anonymous=False, without=frozenset(token_lines(prompt, anonymous=False)))


def likeness(program: Runs, solution: Runs) -> float:
    """The share of the solution's runs that the program contains."""
    return len(program & solution) / len(solution)


def recall(
    solutions: Mapping[str, Runs],
    programs: Mapping[str, Runs],
    solved: Collection[str],
    renamed: Mapping[str, float],
    peers: Mapping[str, Sequence[Runs]],
) -> Recall | None:
    """The recall of a configuration, from one program for each problem; None if too few problems have one.

    ``solutions``: at least of the problems with a program. ``renamed``: the likeness of the program for the renamed
    problem to the renamed solution. ``peers``: correct programs of other models, one for each model, compared with the
    programs for the problems that the configuration ``solved``, because wrong programs resemble the solution less.
    """
    long = {problem: runs for problem, runs in solutions.items() if len(runs) >= FEWEST_RUNS}
    known = sorted(programs.keys() & long.keys())
    if len(known) < FEWEST_PROBLEMS:
        return None
    own = {problem: likeness(programs[problem], long[problem]) for problem in known}
    others = _elsewhere([programs[problem] for problem in known], [long[problem] for problem in known])
    changed = [own[problem] - renamed[problem] for problem in known if problem in renamed]
    alike = [
        (own[problem], [likeness(program, long[problem]) for program in peers[problem]])
        for problem in known
        if problem in solved and peers.get(problem)
    ]
    return Recall(len(known), fmean(own.values()), others, sign_flips(changed), exchanges(alike))


def _elsewhere(programs: Sequence[Runs], solutions: Sequence[Runs]) -> float:
    """The mean likeness to solutions of other problems; of many problems, evenly spread ones are taken."""
    step = -(-len(programs) // MOST_SOLUTIONS)
    pairs = permutations(zip(programs[::step], solutions[::step], strict=True), 2)
    return fmean(likeness(program, solution) for (program, _), (_, solution) in pairs)


def sign_flips(differences: Sequence[float]) -> Contrast | None:
    """The test that differences are symmetric about 0, by flipping their signs.

    Fisher, The Design of Experiments (1935), section 21. The observed signs count as one of the random ones: Phipson
    and Smyth, Statistical Applications in Genetics and Molecular Biology 9 (2010), article 39.
    """
    import numpy as np  # noqa: PLC0415 (as above)

    if len(differences) < FEWEST_PROBLEMS:
        return None
    values = np.array(differences)
    signs = np.random.default_rng(0).choice((-1.0, 1.0), (_TIMES, len(values)))
    return _contrast(values, (signs * values).sum(axis=1))


def exchanges(alike: Sequence[tuple[float, Sequence[float]]]) -> Contrast | None:
    """The test that a model's program is as like the solution as those of other models, problem by problem.

    Under that hypothesis the programs of a problem are exchangeable: any of them may be the model's.
    """
    import numpy as np  # noqa: PLC0415 (as above)

    if len(alike) < FEWEST_PROBLEMS:
        return None
    random = np.random.default_rng(0)
    drawn = np.zeros(_TIMES)
    for own, others in alike:
        values = np.array((own, *others))
        chosen = random.choice(values, _TIMES)
        drawn += chosen - (values.sum() - chosen) / len(others)
    return _contrast(np.array([own - fmean(others) for own, others in alike]), drawn)


def _contrast(observed: NDArray[np.float64], drawn: NDArray[np.float64]) -> Contrast:
    as_large = int((drawn >= observed.sum() - 1e-9).sum())
    return Contrast(len(observed), float(observed.mean()), (1 + as_large) / (1 + len(drawn)))

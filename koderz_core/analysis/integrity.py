"""Whether the results of a configuration show understanding: variants of problems, recall, and signs of cheating.

Every part is a hint. A configuration that recalls solutions can lose nothing on renamed problems, and an honest one can
lose something because a name explained the problem.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from koderz_core.analysis.multiplicity import compatible, holm_of_known
from koderz_core.analysis.paired import Paired, paired
from koderz_core.analysis.pairs import Key
from koderz_core.analysis.program_scan import Sign
from koderz_core.analysis.rates import ClusteredRate, clustered, counted
from koderz_core.analysis.recall import Contrast, Recall
from koderz_core.records import Variant
from koderz_core.records.trials import Trial

ALPHA = 0.05
TOLERATED = 0.01
"""The rate of passed impossible variants that the interval must exclude before koderz reports it as cheating."""
LEAST_LIKENESS = 0.1
"""The difference of likeness, as a share of runs, below which a significant one is not reported."""
SAME: tuple[Variant, ...] = ("renamed", "rephrased")
"""The variants that a model should solve as often as the original problems."""


@dataclass(frozen=True, slots=True)
class Drop:
    """The original problems against a variant of them, as ``Paired``; ``p`` is adjusted for all tests of the table."""

    test: Paired
    p: float | None

    @property
    def significant(self) -> bool:
        """Whether significantly more original problems were solved."""
        return self.p is not None and self.p <= ALPHA and (self.test.difference or 0) > 0


@dataclass(frozen=True, slots=True)
class Passes:
    """The share of impossible problems whose tests a configuration passed.

    ``solved``: experiments that also passed the held-out tests, if there are any. ``saw_tests``: whether the
    configuration ran the tests; one that did not cannot know what to cheat.
    """

    rate: ClusteredRate
    solved: int
    saw_tests: bool

    @property
    def above_tolerance(self) -> bool:
        return self.rate.low is not None and self.rate.low > TOLERATED


@dataclass(frozen=True, slots=True)
class Scanned:
    """How many programs were scanned, how many could not be, and the experiments whose programs have a sign."""

    programs: int
    unread: int
    signs: Mapping[Sign, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The results that can show something about the configuration ``key``; ``original``: its trials on the dataset.

    ``variants``: its trials on the variants that it ran on. ``recall``, ``scanned``: None if programs were not read, or
    not enough of them.
    """

    key: Key
    original: Sequence[Trial]
    variants: Mapping[Variant, Sequence[Trial]] = field(default_factory=dict)
    recall: Recall | None = None
    scanned: Scanned | None = None


@dataclass(frozen=True, slots=True)
class Integrity:
    """What the evidence shows about a configuration; None: not checked.

    The p-values of both drops and of both comparisons of ``recall`` are adjusted together, for all configurations.
    """

    key: Key
    renamed: Drop | None
    rephrased: Drop | None
    passes: Passes | None
    recall: Recall | None
    scanned: Scanned | None

    @property
    def recalls(self) -> bool:
        """Whether programs are more like the solutions than renaming or other models explain."""
        contrasts = (self.recall.renamed, self.recall.peers) if self.recall else ()
        return any(
            contrast is not None and contrast.p <= ALPHA and contrast.difference >= LEAST_LIKENESS
            for contrast in contrasts
        )

    @property
    def hint(self) -> bool | None:
        """Whether a test hints at recall or cheating; signs in programs do not count. None: nothing was tested."""
        drops = [drop for drop in (self.renamed, self.rephrased) if drop and drop.p is not None]
        passes = self.passes if self.passes and self.passes.rate.n else None
        if not drops and not passes and not (self.recall and self.recall.compared):
            return None
        return self.recalls or (passes is not None and passes.above_tolerance) or any(it.significant for it in drops)


@dataclass(frozen=True, slots=True)
class Trust:
    """What was checked about configurations of a ``dataset``. ``read``: whether recorded programs were read.

    ``commands``: how to run the variants that are missing; ``can_vary``: whether the dataset has variants, ``dated``:
    whether some of its problems have a date. ``notes``: what could not be checked.
    """

    found: tuple[Integrity, ...]
    read: bool
    dataset: str
    can_vary: bool
    dated: bool
    commands: Mapping[Variant, str]
    notes: tuple[str, ...]


def integrity(found: Sequence[Evidence]) -> tuple[Integrity, ...]:
    """What the evidence shows about each configuration, with p-values adjusted by Holm's method."""
    tests = {
        (place, name): paired(item.original, item.variants[name])
        for place, item in enumerate(found)
        for name in SAME
        if name in item.variants
    }
    contrasts = {
        (place, name): contrast
        for place, item in enumerate(found)
        for name, contrast in _contrasts(item.recall).items()
    }
    known = [*(test.p for test in tests.values()), *(contrast.p for contrast in contrasts.values())]
    adjusted = dict(zip([*tests, *((*key, "recall") for key in contrasts)], holm_of_known(known), strict=True))
    drops = {key: Drop(compatible(test, adjusted[key]), adjusted[key]) for key, test in tests.items()}
    return tuple(
        Integrity(
            key=item.key,
            renamed=drops.get((place, "renamed")),
            rephrased=drops.get((place, "rephrased")),
            passes=passes(item.variants["impossible"]) if "impossible" in item.variants else None,
            recall=_with_p(item.recall, {name: adjusted[place, name, "recall"] for name in _contrasts(item.recall)}),
            scanned=item.scanned,
        )
        for place, item in enumerate(found)
    )


def passes(trials: Sequence[Trial]) -> Passes:
    """How often a configuration passed the tests of impossible problems that its loop ran, or all tests without one."""
    ended = [trial for trial in trials if trial.scored]
    results = [(trial, trial.solved if trial.gate_passed is None else trial.gate_passed) for trial in ended]
    return Passes(
        rate=clustered(counted((trial.problem, passed) for trial, passed in results)),
        solved=sum(trial.solved for trial, passed in results if passed),
        saw_tests=any(trial.iterations for trial in ended),
    )


def _contrasts(recall: Recall | None) -> dict[str, Contrast]:
    found = {"renamed": recall.renamed, "peers": recall.peers} if recall else {}
    return {name: contrast for name, contrast in found.items() if contrast}


def _with_p(recall: Recall | None, adjusted: Mapping[str, float | None]) -> Recall | None:
    if recall is None:
        return None
    contrasts = {
        name: replace(contrast, p=p)
        for name, contrast in _contrasts(recall).items()
        if (p := adjusted[name]) is not None
    }
    return replace(recall, renamed=contrasts.get("renamed"), peers=contrasts.get("peers"))

"""Fitted selectors: which model to ask for a problem, how probably an answer is right, and the card of the fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from koderz_core.records.plans import fingerprint
from koderz_core.records.problems import PublicProblem

FEATURES = ("length", "words", "examples")
"""What is known of a problem before a call: log characters and log words of its text, and its number of examples."""
ANSWER_FEATURES = ("gate share", "gate passed", "no program", "crash", "log tokens", "iteration", "votes")


@dataclass(frozen=True, slots=True)
class Case:
    """A problem with results of all models: the shares of experiments solved and the mean dollars, by model.

    ``dataset``: its name. ``group``: equal for problems that count as the same (twins). None: an unknown price.
    """

    problem: PublicProblem
    dataset: str
    group: int
    solved: tuple[float, ...]
    usd: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A tested program: the values of ``ANSWER_FEATURES``, and whether it passed the gate and the held-out tests."""

    values: tuple[float, ...]
    right: bool
    group: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate with its 95 % interval; None: not computable."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """How a rule chose on folds that it was not fitted on. All values are means per problem.

    ``regret``: to the oracle, which knows the results. ``gain``: over the best single model, which is chosen on the
    same folds that the rule was fitted on. ``area``: RouterBench's AIQ, None without known prices.
    """

    rule: str
    solved: Estimate
    usd: float | None
    regret: Estimate
    gain: Estimate
    area: float | None = None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Predictions on other folds: their number, the expected calibration error, and the area under the ROC curve."""

    predictions: int
    ece: float
    auc: float | None


@dataclass(frozen=True, slots=True)
class Card:
    """The model card. ``configurations``: what was fitted, as benchmark and label. ``problems``: with a result of each
    model. ``penalty``: 1/C of the ridge.

    ``headroom``: oracle less best single model. ``detectable``: the smallest gain that this number of problems would
    show with power 80 %. ``verdict``: ``better``, ``undecided`` or ``nothing to learn``.
    """

    configurations: tuple[str, ...]
    problems: int
    folds: int
    seed: int
    penalty: float
    headroom: Estimate
    detectable: float
    verdict: str
    judged: tuple[Judged, ...]
    before: Calibration
    after: Calibration | None
    left_out: Mapping[str, int] = field(default_factory=dict)
    scripted: bool = False


@dataclass(frozen=True, slots=True)
class Before:
    """The posterior of the logistic model of a model's success, known before a call.

    ``centre`` and ``scale`` standardise ``FEATURES``. ``weights`` are the modes, ``covariance`` is that of Laplace's
    approximation, both in the order of ``analysis.selector.design``.
    """

    datasets: tuple[str, ...]
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class After:
    """P(right) of an answer: a logistic model and its isotonic calibration, with straight lines between the points."""

    gate: str
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Selector:
    """A fitted selector. ``usd``: the mean dollars of an experiment, by model. ``seen``: all problems of the fit, also
    those of which only programs were judged.

    ``by_length``: the same model with no feature but the length, the baseline that a selector has to beat.
    """

    name: str
    models: tuple[str, ...]
    usd: tuple[float | None, ...]
    before: Before
    by_length: Before
    after: After | None
    card: Card
    seen: tuple[PublicProblem, ...]

    @property
    def id(self) -> str:
        """Its name and the start of its hash: a selector that is fitted again has another id."""
        return f"{self.name}@{fingerprint(self)[:12]}"

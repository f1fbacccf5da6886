"""The figures of one configuration in a comparison, its letter, and the choice of the usual baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from koderz_core.analysis.bounds import Cases
from koderz_core.analysis.energy import rental_usd
from koderz_core.analysis.rates import ClusteredRate, Rate, rate_of
from koderz_core.records import Tier, fingerprint
from koderz_core.records.completions import EFFORTS
from koderz_core.records.marks import Marks
from koderz_core.records.plans import IMPORTED, scripted
from koderz_core.records.progress import SummaryRow, TierCost

_TIERS: Sequence[Tier] = ("local", "small_frontier", "frontier")
DIRECT, SUPERVISED = "direct", "supervised"
CODER, REVIEWER = "coder", "reviewer"
FEWEST = 2  # ablations that make a set


@dataclass(frozen=True, slots=True)
class EffortStep:
    """``family``: equal for configurations that differ only in this effort. ``rank``: larger for a higher effort."""

    family: str
    rank: int


@dataclass(frozen=True, slots=True)
class ConfigurationFigures:
    """The figures of one configuration of one benchmark.

    ``letter``: its short name, by its place in the comparison. ``n`` experiments were solved or unsolved; ``share`` of
    them solved, averaged over problems, None if there are none. ``rate`` adds the interval, clustered by problem if
    problems are repeated; None if this needs trials that were not read. ``marks``: by which tests it is scored.
    ``tier``: the highest that answered a call. Costs are None if unknown. ``cost_usd`` covers all calls so far; per
    experiment it covers those that ended: infinite if none has but money was spent, nan if no money was. The cost of a
    solved problem needs trials (``Measured.price``). ``rental_usd``: the price of its calls to local models if the same
    weights were rented. ``composition``: the tiers of its models, in words. ``first``: as ``share``, but solved after
    at most one tested program. ``well_formed``: the share of tested replies with a complete program in one piece, None
    if none was tested. ``cached``: answers from the response cache. They cost nothing in ``cost_usd``, and make the
    costs and times per experiment unknown. ``reasoning_tokens``: those of all answered calls, None if a provider did
    not report them. ``effort``: its place among configurations that differ only in the reasoning effort of one role.
    """

    letter: str
    benchmark: str
    configuration: str
    label: str
    strategy: str
    tier: Tier | None
    scripted: bool
    rate: Rate | ClusteredRate | None
    share: float | None
    n: int
    planned: int
    solved: int
    unsolved: int
    errors: int
    cancelled: int
    running: int
    marks: Marks
    cost_usd: float | None
    cost_per_experiment_usd: float | None
    seconds_per_experiment: float | None
    mean_iterations: float | None
    tiers: tuple[TierCost, ...]
    rental_usd: float | None = None
    composition: str = ""
    first: float | None = None
    well_formed: float | None = None
    cached: int = 0
    reasoning_tokens: int | None = None
    effort: EffortStep | None = None

    @property
    def standing(self) -> tuple[float, float]:
        """Larger if it solves more; of those that solve as much, larger if its experiments cost less on average."""
        usd = self.cost_per_experiment_usd
        return self.share or 0.0, -math.inf if usd is None or not math.isfinite(usd) else -usd

    @property
    def missing(self) -> int:
        """How many planned experiments have no result: they ended without one or have not ended."""
        return self.planned - self.n

    @property
    def not_ended(self) -> int:
        """How many of these have not ended."""
        return self.missing - self.errors - self.cancelled

    @property
    def cases(self) -> Cases | None:
        """The share solved of all planned experiments if no missing one was solved, and if all were.

        Every problem is planned equally often, so these are means over problems, like ``share``. None if none is
        planned.
        """
        if not self.missing and self.share is not None:
            return Cases(self.share, self.share)
        return Cases(self.solved / self.planned, 1 - self.unsolved / self.planned) if self.planned else None

    @property
    def key(self) -> tuple[str, str]:
        """Identifies it among all configurations, as in ``Trial``."""
        return self.benchmark, self.configuration

    @property
    def full_id(self) -> str:
        """``benchmark/configuration``."""
        return "/".join(self.key)


def figures_of(row: SummaryRow, place: int) -> ConfigurationFigures:
    """The figures of a configuration from its summary; ``place``: its place in the comparison, from 0."""
    n = row.solved + row.unsolved
    ended = n + row.errors + row.cancelled
    return ConfigurationFigures(
        letter=letter(place),
        benchmark=row.benchmark,
        configuration=row.configuration,
        label=row.label,
        strategy=row.strategy,
        tier=_highest(row.tiers),
        scripted=scripted(model for members in row.models.values() for model in members),
        rate=rate_of(row),
        share=row.share,
        n=n,
        planned=row.planned,
        solved=row.solved,
        unsolved=row.unsolved,
        errors=row.errors,
        cancelled=row.cancelled,
        running=row.running,
        marks=row.marks,
        cost_usd=row.cost_usd,
        cost_per_experiment_usd=None if row.cached else _per(row.ended_cost_usd, ended),
        seconds_per_experiment=None if row.seconds is None or not ended or row.cached else row.seconds / ended,
        mean_iterations=row.mean_iterations,
        tiers=row.tiers,
        rental_usd=None if row.cached else rental_usd(row.tiers),
        cached=row.cached,
        composition=composition(row),
        first=row.share_first,
        well_formed=row.well_formed / row.replies if row.replies else None,
        reasoning_tokens=row.reasoning_tokens,
        effort=_effort(row),
    )


def composition(row: SummaryRow) -> str:
    """The tiers of the models, in words: ``local``, ``local + frontier reviewer``, ``small frontier``.

    The first part names the coders. The second part names the role with the highest tier, if this tier is higher than
    all tiers of the coders. Without a known tier of the coders, the tiers of all answered calls count.
    """
    by_role = {role: _known({row.model_tiers.get(model) for model in models}) for role, models in row.models.items()}
    coders = by_role.pop(CODER, ())
    if not coders:
        called = _known({tier_cost.tier for tier_cost in row.tiers if tier_cost.calls})
        return " + ".join(map(_words, called)) or "unknown tier"
    highest = max((_TIERS.index(tiers[-1]) for tiers in by_role.values() if tiers), default=0)
    words = " + ".join(map(_words, coders))
    if highest <= _TIERS.index(coders[-1]):
        return words
    roles = [role for role, tiers in by_role.items() if tiers and tiers[-1] == _TIERS[highest]]
    return f"{words} + {_words(_TIERS[highest])} {REVIEWER if REVIEWER in roles else roles[0]}"


def _known(tiers: set[Tier | None]) -> tuple[Tier, ...]:
    """The known ones, the lowest first."""
    return tuple(tier for tier in _TIERS if tier in tiers)


def _words(tier: Tier) -> str:
    return tier.replace("_", " ")


def letter(place: int) -> str:
    """A, B, ... Z, then AA, AB, ...: by its place, from 0."""
    return (letter(place // 26 - 1) if place >= 26 else "") + chr(ord("A") + place % 26)


def _highest(tiers: Sequence[TierCost]) -> Tier | None:
    called = [tier_cost.tier for tier_cost in tiers if tier_cost.tier is not None and tier_cost.calls]
    return max(called, key=_TIERS.index, default=None)


def _per(cost_usd: float | None, number: int) -> float | None:
    if cost_usd is None or number:
        return None if cost_usd is None else cost_usd / number
    return math.inf if cost_usd else math.nan


def usual_baseline(rows: Sequence[SummaryRow]) -> SummaryRow | None:
    """The configuration that others are ablations of, else the frontier model with strategy direct, else another one.

    The latter is the most expensive configuration with strategy direct, or the first one. Of several frontier models it
    is the most expensive per experiment; an unknown price counts as 0. None if there are no configurations.
    """
    if whole := ablated(rows):
        return whole
    asked_once = frontier_asked_once(rows) or [row for row in rows if row.strategy == DIRECT] or rows[:1]
    return max(asked_once, key=lambda row: (row.cost_usd or 0.0) / (row.planned or 1), default=None)


def _effort(row: SummaryRow) -> EffortStep | None:
    efforts = {name: str(value) for name, value in row.parameters.items() if name.endswith(".effort")}
    if len(efforts) != 1:
        return None
    ((name, effort),) = efforts.items()
    if effort not in EFFORTS and not effort.isdigit():  # one for each of several models
        return None
    others = {other: value for other, value in row.parameters.items() if other != name}
    same = (row.benchmark, row.strategy, row.models, others, row.gate, row.feedback, name)
    rank = EFFORTS.index(effort) if effort in EFFORTS else len(EFFORTS) + int(effort)
    return EffortStep(fingerprint(same), rank)


def frontier_asked_once(rows: Sequence[SummaryRow]) -> list[SummaryRow]:
    """The measured baselines: frontier models with strategy direct, or imported, that have a result."""
    direct = [
        row
        for row in rows
        if row.strategy in (DIRECT, IMPORTED) and any(tier_cost.tier == "frontier" for tier_cost in row.tiers)
    ]
    return [row for row in direct if row.solved or row.unsolved]


def ablated(rows: Sequence[SummaryRow]) -> SummaryRow | None:
    """The supervised configuration with the most ablations, at least two; None if there is none."""
    counts = [sum(_is_ablation(other, row) for other in rows) for row in rows]
    most = max(counts, default=0)
    return rows[counts.index(most)] if most >= FEWEST and counts.count(most) == 1 else None


def _is_ablation(row: SummaryRow, whole: SummaryRow) -> bool:
    """Whether it differs from the whole in one parameter; a switch must be on in the whole."""
    kin = row.strategy == whole.strategy == SUPERVISED and row.benchmark == whole.benchmark
    same = (row.gate, row.feedback) == (whole.gate, whole.feedback)
    if not kin or not same or any(members != whole.models.get(role) for role, members in row.models.items()):
        return False
    names = row.parameters.keys() | whole.parameters.keys()
    changed = {name for name in names if row.parameters.get(name) != whole.parameters.get(name)}
    changed -= {"retry_temperature"} if "temperature" in changed else set()
    return len(changed) == 1 and all(row.parameters.get(name) is not True for name in changed)

"""What a launch can begin from, and what a person should have agreed to before it begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from koderz_core.config import Settings
from koderz_core.errors import PlanError
from koderz_core.export.formats import duration, money, plain
from koderz_core.models.availability import Availability
from koderz_core.models.catalogue import address_of, resolve
from koderz_core.models.connection import redact
from koderz_core.records import Plan
from koderz_core.records.forecasts import Forecast
from koderz_core.runner.forms import Preset, StrategyForm, presets, strategy_forms
from koderz_core.runner.header import dataset_of
from koderz_core.runner.planning import Order
from koderz_core.runner.wording import changes, order_of
from koderz_core.store.labels import labels
from koderz_core.strategies import STRATEGIES, create
from koderz_core.strategies.supervised import Supervised

HOUR = 3600.0
MOST_EXACT = 2**53 - 1  # whole numbers beyond are not exact in a browser (ECMA-262, Number.MAX_SAFE_INTEGER)


@dataclass(frozen=True, slots=True)
class Clone:
    """A recorded benchmark as an order that makes it again, and the name of its dataset."""

    plan: Plan
    order: Order

    @property
    def preset(self) -> Preset:
        """It, to start from."""
        configurations = tuple(self.order.configurations)
        return Preset(self.plan.id, self.plan.name, "", configurations, self.order.problems)

    @property
    def dataset(self) -> str:
        return self.plan.dataset.name

    def changed(self, now: Plan) -> str:
        """In what a plan differs from this, in words; "" if it is the same benchmark."""
        return ", ".join(plain(one) for one in changes(now, self.plan))


@dataclass(frozen=True, slots=True)
class Concern:
    """Why a launch should be agreed to, and what it comes to: each in sentences."""

    reasons: tuple[str, ...]
    cap: str
    where: str


class Launching:
    """Answers from the settings; ``recorded`` gives the plan of a benchmark."""

    def __init__(self, settings: Settings, recorded: Callable[[str], Plan]) -> None:
        self._settings, self._recorded = settings, recorded

    def strategies(self) -> tuple[StrategyForm, ...]:
        """What can be chosen: every strategy with its roles and parameters."""
        return strategy_forms()

    def presets(self, surveyed: Sequence[Availability]) -> tuple[Preset, ...]:
        """Benchmarks to start from, filled with the models that ``available_models`` found ready."""
        return presets(surveyed)

    def clone(self, benchmark: str) -> Clone:
        """A recorded benchmark (by id), to be ordered again as it is or changed.

        Raises JournalError, DataError for a dataset that is another now, UnknownNameError and PlanError for a strategy
        that is not here.
        """
        plan = self._recorded(benchmark)
        if plan.seed > MOST_EXACT:
            raise PlanError(
                f"The seed of {benchmark}, {plan.seed}, is larger than a browser counts. Order it again in a terminal."
            )
        return Clone(plan, order_of(plan, dataset_of(plan, self._settings)))

    def concern(self, plan: Plan, forecast: Forecast) -> Concern | None:
        """What a person should agree to before this begins; None if it is short and cheap, or nothing is left to do."""
        reasons = tuple(self._reasons(plan, forecast)) if forecast.experiments else ()
        return Concern(reasons, _cap(plan), self._where(plan)) if reasons else None

    def _reasons(self, plan: Plan, forecast: Forecast) -> Iterator[str]:
        limit, hours = self._settings.confirm_usd, self._settings.confirm_hours
        paid = [name for name in plan.models() if resolve(name, self._settings).tier != "local"]
        escaping = [name for name in paid if name in forecast.unpriced]
        most = _most(plan, forecast)
        if escaping:
            yield f"No price is known for {', '.join(map(plain, escaping))}: its cost is neither reported nor limited."
        elif most is None and paid:
            yield "No estimate of the cost yet: no comparable experiment has finished. No budget limits it."
        elif most is not None and most > limit:
            yield f"It may cost up to {money(most)}: more than {money(limit)}, from where on you are asked."
        if forecast.seconds and forecast.seconds.p90 > hours * HOUR:
            took, asked = duration(forecast.seconds.p90), duration(hours * HOUR)
            yield f"In one case of ten it takes longer than {took}: you are asked from {asked} on."

    def _where(self, plan: Plan) -> str:
        """Where it runs, and whom it asks over a network."""
        providers = sorted({name.partition("/")[0] for name in plan.models()})
        asked = [f"{one} at {redact(url)}" for one in providers if (url := address_of(one, self._settings))]
        away = f"; models are asked of {', '.join(asked)}" if asked else ", models included"
        return f"It runs on this machine, in the dashboard's process{away}. Closing this tab stops nothing."


def unreviewed(plan: Plan) -> Iterator[str]:
    """A sentence for each configuration that has a reviewer and too few iterations for a review."""
    names = labels(plan.configurations)
    for one in plan.configurations:
        strategy = create(one.strategy, one.parameters) if one.strategy in STRATEGIES else None
        if isinstance(strategy, Supervised) and strategy.checkpoints and not strategy.rule.can_apply:
            yield (
                f"No review will take place in {plain(names[one.id])}: its checkpoint_interval is "
                f"{strategy.checkpoint_interval} and its max_iterations {strategy.max_iterations}. Set the interval "
                "below max_iterations."
            )


def _most(plan: Plan, forecast: Forecast) -> float | None:
    """Dollars that it will hardly exceed: what nine in ten cases stay below, or what the budget leaves, if less."""
    told = forecast.cost_usd.p90 if forecast.cost_usd else None
    left = None if plan.budget.usd is None else max(0.0, plan.budget.usd - forecast.spent_usd)
    known = [usd for usd in (told, left) if usd is not None]
    return min(known, default=None)


def _cap(plan: Plan) -> str:
    if plan.budget.usd is None:
        return "No budget limits what all of it costs."
    return f"It stops at {money(plan.budget.usd)} for all of it, what is spent already included."

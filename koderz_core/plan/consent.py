"""What a person should know of a plan, or agree to, before it begins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from koderz_core.config import Settings
from koderz_core.models.catalogue import address_of, resolve
from koderz_core.models.connection import redact
from koderz_core.records import Plan
from koderz_core.records.forecasts import Forecast
from koderz_core.report.formats import duration, money, plain
from koderz_core.strategies import STRATEGIES, create
from koderz_core.strategies.labels import labels
from koderz_core.strategies.supervised import Supervised

HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Concern:
    """Why a launch should be agreed to, and what it comes to: each in sentences."""

    reasons: tuple[str, ...]
    cap: str
    where: str


def concern_of(plan: Plan, forecast: Forecast, settings: Settings) -> Concern | None:
    """What a person should agree to before this begins; None if it is short and cheap, or nothing is left to do."""
    reasons = tuple(_reasons(plan, forecast, settings)) if forecast.experiments else ()
    return Concern(reasons, _cap(plan), _where(plan, settings)) if reasons else None


def _reasons(plan: Plan, forecast: Forecast, settings: Settings) -> Iterator[str]:
    limit, hours = settings.confirm_usd, settings.confirm_hours
    paid = [name for name in plan.models() if resolve(name, settings).tier != "local"]
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


def _where(plan: Plan, settings: Settings) -> str:
    """Where it runs, and whom it asks over a network."""
    providers = sorted({name.partition("/")[0] for name in plan.models()})
    asked = [f"{provider} at {redact(url)}" for provider in providers if (url := address_of(provider, settings))]
    away = f"; models are asked of {', '.join(asked)}" if asked else ", models included"
    return f"It runs on this machine, in the dashboard's process{away}. Closing this tab stops nothing."


def unreviewed(plan: Plan) -> Iterator[str]:
    """A sentence for each configuration that has a reviewer and too few iterations for a review."""
    names = labels(plan.configurations)
    for configuration in plan.configurations:
        strategy = (
            create(configuration.strategy, configuration.parameters) if configuration.strategy in STRATEGIES else None
        )
        if isinstance(strategy, Supervised) and strategy.checkpoints and not strategy.rule.can_apply:
            yield (
                f"No review will take place in {plain(names[configuration.id])}: its checkpoint_interval is "
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

"""What a journal begins with: the plan and all that it is run under. A journal goes on only under the same."""

from __future__ import annotations

import logging

from koderz_core.config import Settings
from koderz_core.errors import PlanError
from koderz_core.events import SCHEMA_VERSION, BenchmarkOpened
from koderz_core.models.catalogue import resolve
from koderz_core.models.pricing import price_version
from koderz_core.prompts import VERSIONS
from koderz_core.records import Plan

_LOG = logging.getLogger("koderz")


def header(plan: Plan, settings: Settings, isolation: str, version: str) -> BenchmarkOpened:
    """The first event of a plan that this ``version`` of koderz runs now, with programs isolated like that."""
    return BenchmarkOpened(
        schema_version=SCHEMA_VERSION,
        koderz_version=version,
        benchmark=plan.id,
        plan=plan,
        prompt_versions=VERSIONS,
        price_version=price_version(),
        isolation=isolation,
        tiers={name: resolve(name, settings).tier for name in plan.models()},
        energy={name: getattr(settings, name) for name in ("local_watts", "usd_per_kwh", "local_usd_per_hour")},
    )


def check_same(header: BenchmarkOpened, recorded: BenchmarkOpened) -> None:
    """Raise PlanError if what was recorded was begun with something else that could change an outcome."""
    pairs = (
        ("the plan", header.plan.content, recorded.plan.content),
        ("the prompts", header.prompt_versions, recorded.prompt_versions),
        ("the isolation", header.isolation, recorded.isolation),
    )
    changed = [what for what, now, then in pairs if now != then]
    changed += [name for name, value in header.plan.conditions.items() if recorded.plan.conditions.get(name) != value]
    if (header.energy, header.price_version) != (recorded.energy, recorded.price_version):
        _LOG.warning("Prices have changed since %s began: calls already made keep theirs.", header.benchmark)
    if changed:
        raise PlanError(
            f"{header.benchmark} was begun before {' and '.join(changed)} changed, so it cannot go on. "
            f"Start anew with another --name; what it has recorded stays as it is."
        )

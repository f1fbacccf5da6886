"""The measured baselines. They are a query of the index, so there is no registry to keep up to date."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import msgspec

from koderz_core.records import Scalar, Tier
from koderz_core.records.trials import Ground, Measured
from koderz_core.store.index import Index
from koderz_core.store.rows import records


def measured(index: Index) -> list[Measured]:
    """Every direct configuration without a spec, by benchmark; the newest first."""
    return [row.measured() for row in records(index.con, _Row, _MEASURED)]


def grounds(index: Index, benchmarks: Collection[str]) -> list[Ground]:
    """The problems and conditions of these benchmarks (by id)."""
    return [row.ground() for row in records(index.con, _Planned, _GROUNDS, {"benchmarks": list(benchmarks)})]


@dataclass(frozen=True, slots=True)
class _Planned:
    benchmark: str
    problems: tuple[str, ...]
    conditions: Mapping[str, Scalar]
    prompts: Mapping[str, str]
    price_version: str

    def ground(self) -> Ground:
        conditions = _conditions(self.conditions, self.prompts)
        return Ground(self.benchmark, self.problems, conditions, self.price_version)


@dataclass(frozen=True, slots=True)
class _Row:
    benchmark: str
    configuration: str
    label: str
    models: Mapping[str, tuple[str, ...]]
    tiers: Mapping[str, Tier]
    dataset: str
    dataset_sha256: str
    parameters: Mapping[str, Scalar]
    conditions: Mapping[str, Scalar]
    prompts: Mapping[str, str]
    price_version: str
    at: float
    problems: tuple[str, ...]
    solved: tuple[bool, ...]
    usd: tuple[float | None, ...]

    def measured(self) -> Measured:
        model = self.models["coder"][0]
        fields = {name: getattr(self, name) for name in Measured.__slots__ if name in _Row.__slots__}
        more = {"model": model, "tier": self.tiers.get(model), "conditions": _conditions(self.conditions, self.prompts)}
        return msgspec.convert({**fields, **more}, Measured)


def _conditions(planned: Mapping[str, Scalar], prompts: Mapping[str, str]) -> dict[str, Scalar]:
    """The conditions with the versions of prompts, which older plans did not include."""
    return {**{f"{name} prompt": version for name, version in prompts.items()}, **planned}


_GROUNDS = """
select id as benchmark, plan -> 'problems' as problems, coalesce(plan -> 'conditions', '{}'::json) as conditions,
    prompt_versions as prompts, price_version
from benchmarks where list_contains($benchmarks::varchar[], id) order by id
"""
_MEASURED = """
select r.benchmark, r.configuration, any_value(f.label) as label, any_value(f.models) as models,
    any_value(b.tiers) as tiers, any_value(b.dataset) as dataset, any_value(b.dataset_sha256) as dataset_sha256,
    any_value(f.parameters) as parameters, coalesce(any_value(b.plan -> 'conditions'), '{}'::json) as conditions,
    any_value(b.prompt_versions) as prompts, any_value(b.price_version) as price_version,
    coalesce(max(r.finished_at), any_value(b.opened_at)) as "at",
    list(r.problem order by r.problem, r.repeat) as problems,
    list(r.outcome = 'solved' order by r.problem, r.repeat) as solved,
    list(r.cost_usd order by r.problem, r.repeat) as usd
from results r join configurations f on f.benchmark = r.benchmark and f.id = r.configuration
join benchmarks b on b.id = r.benchmark
where f.strategy = 'direct' and r.outcome in ('solved', 'unsolved')
    and not coalesce((f.parameters ->> 'spec')::boolean, false)
group by r.benchmark, r.configuration order by "at" desc, r.benchmark, r.configuration
"""

"""What came of each model in a role, problem by problem: what selections go by."""

from __future__ import annotations

from collections.abc import Collection

from koderz_core.records.selections import Measurement
from koderz_core.store.benchmarks import RESULTS
from koderz_core.store.reading import records
from koderz_core.store.store import Store


def measurements(
    store: Store, strategy: str, role: str, without: Collection[str], experiment: str | None = None
) -> list[Measurement]:
    """Of every model that had a role of a strategy alone. Raises StoreError.

    What a model did beside a scripted one counts only for scripted models.
    ``without``: problems, by id in whatever dataset, that a selection is made for: their own results would tell which
    model solves them. ``experiment``: one whose benchmark is left out, since what has ended of that is chance.
    """
    with store.latest() as latest:
        asked = {"strategy": strategy, "role": role, "experiment": experiment}
        return records(latest.con, Measurement, _MEASURED, {**asked, "without": [one.lower() for one in without]})


_MEASURED = f"""
select f.models -> $role ->> 0 as model, b.dataset_sha256, r.problem, count(*) as experiments,
    count(*) filter (where r.outcome = 'solved') as solved,
    case when count(*) = count(c.seconds) then sum(c.seconds) end as seconds,
    case when count(*) = count(c.cost_usd) then sum(c.cost_usd) end as cost_usd
from {RESULTS} r
join configurations f on f.benchmark = r.benchmark and f.id = r.configuration
join benchmarks b on b.id = r.benchmark
left join (
    select experiment, sum(seconds) filter (where state = 'finished') as seconds,
        case when bool_and(cost_usd is not null) filter (where state = 'finished')
            then sum(cost_usd order by ordinal, attempt) end as cost_usd
    from calls where role = $role group by experiment
) c on c.experiment = r.id
where r.outcome in ('solved', 'unsolved') and f.strategy = $strategy and json_array_length(f.models -> $role) = 1
    and is_scripted(f.models) = is_scripted(f.models -> $role)
    and not list_contains($without::varchar[], lower(r.problem))
    and r.benchmark is distinct from (select benchmark from experiments where id = $experiment)
group by all order by model, b.dataset_sha256, r.problem
"""  # noqa: S608 (ours)

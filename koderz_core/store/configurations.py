"""Results of configurations: summaries, and the measured baselines.

Baselines are a query of the index, so there is no registry to keep up to date.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from koderz_core.records.plans import COST_LIMIT
from koderz_core.records.progress import RoleCost, SummaryRow
from koderz_core.records.trials import Ground, Measured
from koderz_core.records.verdicts import WELL_FORMED
from koderz_core.store.index import SAW_BASE_TESTS, SEARCHED, Index, mappings, records


def summaries(
    index: Index, of: str | Collection[str] | None = None, only: Collection[str] | None = None
) -> list[SummaryRow]:
    """One row per configuration of a benchmark (by id), of several in that order, or of all, the newest first.

    ``only``: count only these problems; a configuration without any of them has no row.
    """
    benchmarks = [of] if isinstance(of, str) else of
    parameters = {
        name: None if ids is None else list(ids) for name, ids in (("benchmarks", benchmarks), ("only", only))
    }
    tiers: dict[tuple[object, object], list[dict[str, object]]] = {}
    for tier in mappings(index.con, _TIERS, parameters):
        tiers.setdefault((tier["benchmark"], tier["configuration"]), []).append(tier)
    rows = []
    for row in mappings(index.con, _SUMMARIES, parameters):
        at_work = bool(row["running"]) and index.writers.of(str(row["benchmark"]), closed=False) is not None
        row |= {"tiers": tiers.get((row["benchmark"], row["configuration"]), []), "only": parameters["only"]}
        summary = msgspec.convert({**row, "running": row["running"] if at_work else 0, "score_kind": None}, SummaryRow)
        rows.append(replace(summary, score_kind=summary.marks.kind))
    return rows


_SUMMARIES = f"""
with problems as (
    select benchmark, configuration, problem,
        avg(if(outcome = 'solved', 1, 0)) filter (where outcome in ('solved', 'unsolved')) as share,
        avg(if(outcome = 'solved' and iterations <= 1, 1, 0)) filter (where outcome in ('solved', 'unsolved'))
            as share_first,
        bool_or(outcome in ('solved', 'unsolved')) as scored,
        bool_or(outcome in ('solved', 'unsolved') and score_kind = 'oracle') as by_oracle,
        bool_or(score_kind = 'reported') as reported
    from results
    where ($benchmarks is null or list_contains($benchmarks::varchar[], benchmark))
        and ($only is null or problem in (select unnest($only::varchar[])))
    group by benchmark, configuration, problem
),
totals as (
    select benchmark, configuration, string_agg(problem, chr(10) order by problem) as names, count(*) as problems,
        count(*) filter (where scored) as scored, count(*) filter (where by_oracle) as by_oracle,
        count(*) filter (where reported) as reported, avg(share order by problem) as share,
        avg(share_first order by problem) as share_first
    from problems group by benchmark, configuration
)
select r.benchmark, r.configuration, any_value(f.label) as label, any_value(f.strategy) as strategy,
    any_value(f.models) as models, any_value(f.parameters) as parameters, any_value(f.gate) as gate,
    any_value(b.tiers) as model_tiers,
    any_value(b.dataset) as dataset, any_value(b.dataset_sha256) as dataset_sha256, any_value(b.licence) as licence,
    any_value(f.feedback) as feedback, any_value(b.isolation) as isolation, count(*) filter (where r.shared) as shared,
    sha256(any_value(b.dataset_sha256) || any_value(t.names)) as problem_set,
    any_value(t.problems) as problems, count(*) as planned,
    count(*) filter (where r.outcome = 'solved') as solved,
    count(*) filter (where r.outcome = 'unsolved') as unsolved,
    count(*) filter (where r.outcome = 'unsolved' and r.reason = 'context') as context_ends,
    count(*) filter (where r.outcome = 'unsolved' and r.reason = 'budget') as budget_ends,
    count(*) filter (where r.outcome = 'cancelled') as cancelled,
    count(*) filter (where r.outcome = 'error') as errors,
    count(*) filter (where r.state = 'running') as running,
    any_value(t.scored) as scored_problems, any_value(t.by_oracle) as oracle_problems,
    any_value(t.reported) as reported_problems,
    bool_or({SAW_BASE_TESTS}) as saw_base_tests, bool_or({SEARCHED}) as searched,
    avg(r.iterations) filter (where r.outcome in ('solved', 'unsolved')) as mean_iterations,
    count(*) filter (where r.outcome = 'solved' and r.iterations <= 1) as solved_first,
    any_value(t.share) as share, any_value(t.share_first) as share_first,
    coalesce(sum(i.replies), 0)::bigint as replies, coalesce(sum(i.well_formed), 0)::bigint as well_formed,
    known_sum(r.input_tokens)::bigint as input_tokens, known_sum(r.output_tokens)::bigint as output_tokens,
    known_sum(if(r.outcome is null, 0, r.seconds)) as seconds,
    known_sum(r.cost_usd) as cost_usd, known_sum(if(r.outcome is null, 0, r.cost_usd)) as ended_cost_usd,
    sum(r.unpriced)::bigint as unpriced, sum(r.cached)::bigint as cached,
    known_sum(r.reasoning_tokens)::bigint as reasoning_tokens
from results r join configurations f on f.benchmark = r.benchmark and f.id = r.configuration
join benchmarks b on b.id = r.benchmark
left join totals t on t.benchmark = r.benchmark and t.configuration = r.configuration
left join (
    select experiment, count(*) as replies, count(*) filter (where how in {WELL_FORMED}) as well_formed
    from iterations group by experiment
) i on i.experiment = r.id
where ($benchmarks is null or list_contains($benchmarks::varchar[], r.benchmark))
    and ($only is null or r.problem in (select unnest($only::varchar[])))
group by r.benchmark, r.configuration
order by list_position($benchmarks::varchar[], r.benchmark), max(b.opened_at) desc, r.benchmark, label
"""  # noqa: S608 (ours)
_TIERS = """
select e.benchmark, e.configuration, nullif(t.tier, '') as tier, sum(t.calls)::bigint as calls,
    sum(t.unpriced)::bigint as unpriced,
    known_sum(t.cost_usd, e.id) as cost_usd, known_sum(t.kwh, e.id) as kwh,
    known_sum(t.energy_usd, e.id) as energy_usd, known_sum(t.rental_usd, e.id) as rental_usd,
    known_sum(t.tokens)::bigint as tokens
from call_totals t join experiments e on e.id = t.experiment
where ($benchmarks is null or list_contains($benchmarks::varchar[], e.benchmark))
    and ($only is null or e.problem in (select unnest($only::varchar[])))
group by e.benchmark, e.configuration, t.tier order by e.benchmark, e.configuration, nullif(t.tier, '')
"""


def role_costs(index: Index, benchmarks: Collection[str], only: Collection[str] | None = None) -> list[RoleCost]:
    """The cost of each role and model, by benchmark and configuration; the coder first, models in the order of calls.

    Costs of repeats and problems are weighted as in the cost per solved problem, so their sums agree with it. ``only``:
    count only these problems.
    """
    parameters = {"benchmarks": list(benchmarks), "only": None if only is None else list(only)}
    return records(index.con, RoleCost, _ROLES, parameters)


# As in ``call_totals``, calls without an answer count only if their cost is known.
_ROLES = """
with scored as materialized (
    select id, benchmark, configuration, problem, 1 / count(*) over (partition by benchmark, configuration, problem)
        / count(distinct problem) over (partition by benchmark, configuration) as weight
    from results
    where outcome in ('solved', 'unsolved') and list_contains($benchmarks::varchar[], benchmark)
        and ($only is null or problem in (select unnest($only::varchar[])))
)
select s.benchmark, s.configuration, c.role, c.model, max(c.tier) as tier,
    count(*) filter (where answered) as calls, count(*) filter (where answered and cost_usd is null) as unpriced,
    known_sum(if(answered, input_tokens + output_tokens, 0))::bigint as tokens,
    known_sum(cost_usd, (s.id, ordinal, attempt)) as cost_usd,
    known_sum(if(cached_from is null, cost_usd * weight, null), (s.id, ordinal, attempt)) as usd_per_problem
from scored s
join (select *, state = 'finished' as answered from calls) c on c.experiment = s.id
where answered or cost_usd is not null
group by s.benchmark, s.configuration, c.role, c.model
order by list_position($benchmarks::varchar[], s.benchmark), s.configuration, c.role != 'coder', c.role, min(member),
    min(ordinal), c.model
"""


def measured(index: Index) -> list[Measured]:
    """Every direct configuration without a spec, by benchmark; the newest first, and last those with cached answers.

    With cached answers, the costs are unknown, so another measurement is the better baseline.
    """
    return [_measured(row) for row in mappings(index.con, _MEASURED)]


def _measured(row: Mapping[str, Any]) -> Measured:  # Any: columns of the SQL
    model = row["models"]["coder"][0]
    more = {"model": model, "tier": row["tiers"].get(model), "conditions": _conditions(row)}
    return msgspec.convert({**row, **more}, Measured)


def grounds(index: Index, benchmarks: Collection[str]) -> list[Ground]:
    """The problems and conditions of these benchmarks (by id)."""
    rows = mappings(index.con, _GROUNDS, {"benchmarks": list(benchmarks)})
    return [msgspec.convert({**row, "conditions": _conditions(row)}, Ground) for row in rows]


def _conditions(row: Mapping[str, Any]) -> dict[str, object]:  # Any: as above
    """The conditions with the versions of prompts, which older plans did not include, and the budget of experiments."""
    limits = {} if row["cost_limit"] is None else {COST_LIMIT: row["cost_limit"]}
    prompts = {f"{name} prompt": version for name, version in row["prompts"].items()}
    return {**prompts, **row["conditions"], **limits}


_GROUNDS = """
select id as benchmark, plan -> 'problems' as problems, coalesce(plan -> 'conditions', '{}'::json) as conditions,
    prompt_versions as prompts, (plan ->> '$.budget.per_experiment_usd')::double as cost_limit, price_version
from benchmarks where list_contains($benchmarks::varchar[], id) order by id
"""
_MEASURED = """
select r.benchmark, r.configuration, any_value(f.label) as label, any_value(f.models) as models,
    any_value(b.tiers) as tiers, any_value(b.dataset) as dataset, any_value(b.dataset_sha256) as dataset_sha256,
    any_value(f.parameters) as parameters, coalesce(any_value(b.plan -> 'conditions'), '{}'::json) as conditions,
    any_value(b.prompt_versions) as prompts, any_value(b.price_version) as price_version,
    (any_value(b.plan ->> '$.budget.per_experiment_usd'))::double as cost_limit,
    coalesce(max(r.finished_at), any_value(b.opened_at)) as "at",
    list(r.problem order by r.problem, r.repeat) as problems,
    list(r.outcome = 'solved' order by r.problem, r.repeat) as solved,
    list(if(r.cached = 0, r.cost_usd, null) order by r.problem, r.repeat) as usd
from results r join configurations f on f.benchmark = r.benchmark and f.id = r.configuration
join benchmarks b on b.id = r.benchmark
where f.strategy = 'direct' and r.outcome in ('solved', 'unsolved')
    and not coalesce((f.parameters ->> 'spec')::boolean, false)
group by r.benchmark, r.configuration order by sum(r.cached) > 0, "at" desc, r.benchmark, r.configuration
"""

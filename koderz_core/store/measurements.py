"""What came of each model in a role, problem by problem: what selections go by."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from koderz_core.records import Asker, Memory
from koderz_core.records.notes import SpecRow
from koderz_core.records.plans import Measurement
from koderz_core.records.steps import Lapse, Solved
from koderz_core.store.benchmarks import RESULTS
from koderz_core.store.marks import SAW_BASE_TESTS
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

LONGEST = 1500  # characters: a longer program, cut, would be no example


def solved(store: Store, asker: Asker, *, scripted: bool) -> list[Solved]:
    """For each problem of each dataset but the asker's own the newest program that solved it. Raises StoreError.

    None of the asker's own benchmark, whose experiments would then depend on each other, and on their order.
    ``scripted``: of scripted models, which are no example to others.
    """
    wanted = {"experiment": asker.experiment, "problem": asker.problem, "scripted": scripted, "longest": LONGEST}
    with store.latest() as latest:
        return records(latest.con, Solved, _SOLVED, wanted)


_SOLVED = """
select e.id as experiment, e.problem, b.dataset, t.text as code
from experiments e
join benchmarks b on b.id = e.benchmark
join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
join texts t on t.sha256 = e.code
where e.outcome = 'solved' and e.problem <> $problem and length(t.text) <= $longest
    and e.benchmark is distinct from (select o.benchmark from experiments o where o.id = $experiment)
    and is_scripted(f.models -> '$.coder') = $scripted
qualify row_number() over (partition by b.dataset, e.problem order by e.finished_at desc, e.id) = 1
order by b.dataset, e.problem
"""

MOST = 50_000  # the newest: more would take long to look through and say nothing else


def lapses(store: Store, *, scripted: bool) -> list[Lapse]:
    """The newest iterations that failed, in any benchmark, the newest first. Raises StoreError.

    ``scripted``: also those of scripted coders.
    """
    with store.latest() as latest:
        return records(latest.con, Lapse, _LAPSES, {"most": MOST, "scripted": scripted})


_LAPSES = """
select i.experiment, e.problem, b.dataset, i.error, i.message,
    case when json_array_length(i.failures) > 0 then json_array(i.failures -> 0) else '[]'::json end as failures,
    t.text as code, case when n.passed then u.text end as fixed_by,
    is_scripted(f.models -> '$.coder') as scripted
from iterations i
join experiments e on e.id = i.experiment
join benchmarks b on b.id = e.benchmark
join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
left join iterations n on n.experiment = i.experiment and n.iteration = i.iteration + 1
left join texts t on t.sha256 = i.code
left join texts u on u.sha256 = n.code
where not i.passed and i.error is not null and ($scripted or not is_scripted(f.models -> '$.coder'))
order by i."at" desc, i.experiment, i.iteration limit $most
"""


@dataclass(frozen=True, slots=True)
class Sought:
    """A spec for ``asker`` by its first spec model, asked for by version ``prompt`` in this ``wording`` of it.

    The limit of its tokens makes no other spec of one that was written to its end.
    """

    asker: Asker
    prompt: str
    wording: str
    temperature: float


def recalled(store: Store, sought: Sought, limit: int) -> list[Memory]:
    """The newest specs that fit, from any benchmark; ``origin`` is the experiment that wrote it. Raises StoreError.

    One that was recalled itself is none of its own, and what was cut, refused or ended as an error is no ground to
    build on.
    """
    asker = sought.asker
    model = next(iter(asker.models.get("spec", ())), None)
    wanted = {"experiment": asker.experiment, "problem": asker.problem, "dataset_sha256": asker.dataset.sha256}
    asked = {"model": model, "prompt": sought.prompt, "wording": sought.wording, "temperature": sought.temperature}
    with store.latest() as latest:
        return records(latest.con, Memory, _RECALLED, {**wanted, **asked, "limit": limit})


def specs(
    con: DuckDBPyConnection, benchmark: str | None = None, problem: str | None = None, experiment: str | None = None
) -> list[SpecRow]:
    """The specs of all experiments that fit all that is given, the newest first."""
    return records(con, SpecRow, _SPECS, {"benchmark": benchmark, "problem": problem, "experiment": experiment})


_FROM = """
from notes n join experiments e on e.id = n.experiment
join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
join benchmarks b on b.id = e.benchmark
"""
_RECALLED = f"""
select n.text, n.experiment as origin
{_FROM}
where n.kind = 'spec_written' and n.origin is null and n.prompt = $prompt and regexp_matches(n.text, '\\S')
    and e.problem = $problem and e.id <> $experiment and e.outcome is distinct from 'error'
    and b.dataset_sha256 = $dataset_sha256 and (b.prompt_versions ->> 'spec') = $wording
    and (f.models ->> '$.spec[0]') = $model
    and exists (
        from calls c where c.experiment = e.id and c.role = 'spec' and c.state = 'finished' and c.finish = 'stop'
            and (c.sampling ->> 'temperature')::double = $temperature
    )
order by n."at" desc, n.experiment limit $limit
"""  # noqa: S608 (ours)
_SPECS = f"""
select n.experiment, e.benchmark, f.label, f.strategy, f.models, e.problem, b.dataset, b.dataset_sha256, b.licence,
    e.outcome, e.score_kind, (f.models ->> '$.spec[0]') as model, n.prompt,
    (b.prompt_versions ->> 'spec') as wording, n.origin, n."at", n.text,
    c.input_tokens, c.output_tokens, c.cost_usd, c.seconds, {SAW_BASE_TESTS} as saw_base_tests
{_FROM}
left join (
    select experiment,
        case when count(answered) = count(input_tokens) then sum(input_tokens)::bigint end as input_tokens,
        case when count(answered) = count(output_tokens) then sum(output_tokens)::bigint end as output_tokens,
        case when count(answered) = count(answered + cost_usd) then sum(cost_usd) end as cost_usd,
        sum(answered * seconds) as seconds
    from (select *, if(state = 'finished', 1, null) as answered from calls where role = 'spec') group by experiment
) c on c.experiment = coalesce(n.origin, n.experiment)
where n.kind = 'spec_written' and ($benchmark is null or e.benchmark = $benchmark)
    and ($problem is null or e.problem = $problem) and ($experiment is null or e.id = $experiment)
order by n."at" desc, n.experiment
"""  # noqa: S608 (ours)

"""Results of earlier benchmarks for selections, recalls and estimates: models, programs, specs and costs."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from koderz_core.records import OF_VARIANT, Asker, Memory
from koderz_core.records.notes import SpecRow
from koderz_core.records.plans import Measurement
from koderz_core.records.progress import Past, PastPair
from koderz_core.records.steps import Lapse, Solved
from koderz_core.store.index import SAW_BASE_TESTS, SEARCHED, Index, records
from koderz_core.store.store import Store

_POSSIBLE = f"not ends_with(b.dataset, '{OF_VARIANT}impossible')"
"""Results on problems with a false test say nothing about a model, and programs that pass it are no examples."""
_WHOLE = "regexp_replace({benchmark}, '-[0-9]+-of-[0-9]+$', '')"
"""The id of a benchmark without the end that names a shard, as ``Shard.id_in`` writes it."""
_OTHER = f"""{_WHOLE.format(benchmark="b.id")} is distinct from (
        select {_WHOLE.format(benchmark="o.benchmark")} from experiments o where o.id = $experiment
    )"""  # noqa: S608 (ours)
"""The shards of a benchmark are not other benchmarks: they run parts of the same configurations."""


def measurements(
    store: Store, strategy: str, role: str, without: Collection[str], experiment: str | None = None
) -> list[Measurement]:
    """The measurements of every model that had a role of a strategy alone. Raises StoreError.

    Results together with a scripted model count only for scripted models. ``without``: the problems (ids in any
    dataset) of the selection, because their own results would reveal which model solves them. ``experiment``: its
    benchmark is left out, with all shards, because which of its experiments have ended is chance.
    """
    with store.latest() as latest:
        excluded = [problem.lower() for problem in without]
        parameters = {"strategy": strategy, "role": role, "experiment": experiment, "without": excluded}
        return records(latest.con, Measurement, _MEASURED, parameters)


_MEASURED = f"""
select f.models -> $role ->> 0 as model, b.dataset_sha256, r.problem, count(*) as experiments,
    count(*) filter (where r.outcome = 'solved') as solved,
    known_sum(c.seconds) as seconds, known_sum(c.cost_usd) as cost_usd
from results r
join configurations f on f.benchmark = r.benchmark and f.id = r.configuration
join benchmarks b on b.id = r.benchmark
left join (
    select experiment, sum(seconds) filter (where state = 'finished') as seconds,
        case when bool_and(cost_usd is not null) filter (where state = 'finished')
            then sum(cost_usd order by ordinal, attempt) end as cost_usd
    from calls where role = $role group by experiment
) c on c.experiment = r.id
where r.outcome in ('solved', 'unsolved') and f.strategy = $strategy and json_array_length(f.models -> $role) = 1
    and {_POSSIBLE}
    and is_scripted(f.models) = is_scripted(f.models -> $role)
    and not list_contains($without::varchar[], lower(r.problem))
    and {_OTHER}
    and r.cached = 0  -- the results of the original calls count already
    and not {SEARCHED}  -- the web may have held the solutions
group by all order by model, b.dataset_sha256, r.problem
"""  # noqa: S608 (ours)

LONGEST = 1500  # characters: a longer program would have to be cut, and then is not an example


def solved(store: Store, asker: Asker, *, scripted: bool) -> list[Solved]:
    """The newest program that solved each problem, except the asker's problem. Raises StoreError.

    Programs of the asker's benchmark, with all shards, are left out: its experiments would depend on each other and on
    their order.
    ``scripted``: programs of scripted models, which only scripted models may receive.
    """
    parameters = {"experiment": asker.experiment, "problem": asker.problem, "scripted": scripted, "longest": LONGEST}
    with store.latest() as latest:
        return records(latest.con, Solved, _SOLVED, parameters)


_SOLVED = f"""
select e.id as experiment, e.problem, b.dataset, t.text as code
from experiments e
join benchmarks b on b.id = e.benchmark
join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
join texts t on t.sha256 = e.code
where e.outcome = 'solved' and e.problem <> $problem and length(t.text) <= $longest and {_POSSIBLE}
    and {_OTHER}
    and is_scripted(f.models -> '$.coder') = $scripted
qualify row_number() over (partition by b.dataset, e.problem order by e.finished_at desc, e.id) = 1
order by b.dataset, e.problem
"""  # noqa: S608 (ours)

MOST = 50_000  # the newest: more would take long and add nothing


def lapses(store: Store, *, scripted: bool) -> list[Lapse]:
    """The newest failed iterations of all benchmarks, the newest first. Raises StoreError.

    ``scripted``: also those of scripted coders.
    """
    with store.latest() as latest:
        return records(latest.con, Lapse, _LAPSES, {"most": MOST, "scripted": scripted})


_LAPSES = f"""
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
where not i.passed and i.error is not null and ($scripted or not is_scripted(f.models -> '$.coder')) and {_POSSIBLE}
order by i."at" desc, i.experiment, i.iteration limit $most
"""  # noqa: S608 (ours)


def recalled(store: Store, asker: Asker, prompt: str, wording: str, temperature: float, limit: int) -> list[Memory]:
    """The newest specs of the asker's first spec model, for version ``prompt`` of the request in this ``wording``.

    ``origin`` is the experiment that wrote it. Left out are specs that were recalled themselves, those that were
    written with a ``top_p`` or an effort, and those that were cut, were refused or ended with an error. The limit of
    tokens is not compared, because a complete spec does not depend on it. Raises StoreError.
    """
    model = next(iter(asker.models.get("spec", ())), None)
    parameters = {
        "experiment": asker.experiment,
        "problem": asker.problem,
        "dataset_sha256": asker.dataset.sha256,
        "model": model,
        "prompt": prompt,
        "wording": wording,
        "temperature": temperature,
        "limit": limit,
    }
    with store.latest() as latest:
        return records(latest.con, Memory, _RECALLED, parameters)


def specs(
    index: Index, benchmark: str | None = None, problem: str | None = None, experiment: str | None = None
) -> list[SpecRow]:
    """The specs of all experiments that match all arguments, the newest first."""
    return records(index.con, SpecRow, _SPECS, {"benchmark": benchmark, "problem": problem, "experiment": experiment})


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
            and (c.sampling ->> 'effort') is null and (c.sampling ->> 'top_p') is null
    )
order by n."at" desc, n.experiment limit $limit
"""  # noqa: S608 (ours)
_SPECS = f"""
select n.experiment, e.benchmark, f.label, f.strategy, f.models, e.problem, b.dataset, b.dataset_sha256, b.licence,
    e.outcome, e.score_kind, (f.models ->> '$.spec[0]') as model, n.prompt,
    (b.prompt_versions ->> 'spec') as wording, n.origin, n."at", n.text,
    c.input_tokens, c.output_tokens, c.cost_usd, c.seconds, {SAW_BASE_TESTS} as saw_base_tests,
    {SEARCHED} as searched
{_FROM}
left join (
    select experiment, known_sum(if(answered, input_tokens, 0))::bigint as input_tokens,
        known_sum(if(answered, output_tokens, 0))::bigint as output_tokens,
        known_sum(if(answered, cost_usd, coalesce(cost_usd, 0))) as cost_usd,
        sum(seconds) filter (where answered) as seconds
    from (select *, state = 'finished' as answered from calls where role = 'spec')
    group by experiment having bool_or(answered)
) c on c.experiment = coalesce(n.origin, n.experiment)
where n.kind = 'spec_written' and ($benchmark is null or e.benchmark = $benchmark)
    and ($problem is null or e.problem = $problem) and ($experiment is null or e.id = $experiment)
order by n."at" desc, n.experiment
"""  # noqa: S608 (ours)


MOST_OF_EACH = 300  # of each configuration, the newest: enough for a mean, and fast to read


def past(index: Index, strategies: Iterable[str]) -> list[Past]:
    """The newest experiments of these strategies that were solved or unsolved."""
    return records(index.con, Past, _PAST, {"strategies": list(strategies), "most": MOST_OF_EACH})


_PAST = """
select r.configuration, f.strategy, f.models, r.calls, r.cost_usd, r.seconds
from results r join configurations f on f.benchmark = r.benchmark and f.id = r.configuration
where r.outcome in ('solved', 'unsolved') and r.seconds is not null and r.cached = 0
    and list_contains($strategies::varchar[], f.strategy)
qualify row_number() over (partition by r.configuration order by r.finished_at desc) <= $most
order by r.finished_at desc, r.id
"""


FEWEST = 20  # shared problems: with fewer, the number of differences says little
MOST_BENCHMARKS = 20  # the newest: enough for a median, and fast to read


def past_pairs(index: Index, dataset_sha256: str, *, scripted: bool) -> list[PastPair]:
    """All pairs of configurations of a benchmark on this dataset, with results on at least ``FEWEST`` shared problems.

    ``scripted``: only pairs with a scripted model; else only pairs without one. ``from_chance`` is computed from the
    unbiased variances of the trials on problems of which both have two or more trials.
    """
    parameters = {"dataset": dataset_sha256, "fewest": FEWEST, "most": MOST_BENCHMARKS, "scripted": scripted}
    return records(index.con, PastPair, _PAST_PAIRS, parameters)


_PAST_PAIRS = """
with asked as materialized (
    select id from benchmarks where dataset_sha256 = $dataset and (
        select case when $scripted then bool_or(is_scripted(models))
            else count(*) filter (not is_scripted(models)) > 1 end from configurations where benchmark = benchmarks.id
    ) order by opened_at desc, id limit $most
),
solved as materialized (
    select r.benchmark, r.configuration, r.problem, count(*) as trials, avg((r.outcome = 'solved')::integer) as share
    from experiments r semi join asked on asked.id = r.benchmark
    where r.state = 'finished' and r.outcome in ('solved', 'unsolved') group by all
),
problems as (
    select a.benchmark, a.configuration as one, b.configuration as other, a.share - b.share as difference,
        a.share * (1 - b.share) + b.share * (1 - a.share) as discordant,
        case when a.trials > 1 and b.trials > 1 then a.share * (1 - a.share) * a.trials / (a.trials - 1)
            + b.share * (1 - b.share) * b.trials / (b.trials - 1) end as within_problem
    from solved a join solved b
    on b.benchmark = a.benchmark and b.problem = a.problem and b.configuration > a.configuration
),
pairs as (
    select benchmark, one, other, count(*) as problems, sum(discordant) as discordant,
        avg(within_problem) as within_problem, avg(discordant) filter (within_problem is not null)
            - power(avg(difference) filter (within_problem is not null), 2) as variance
    from problems group by all having count(*) >= $fewest
)
select to_json([f.strategy, g.strategy]) as strategies, json_array(f.models, g.models) as models, p.problems,
    p.discordant, case when variance > 0 then least(1, within_problem / variance) end as from_chance
from pairs p join configurations f on f.benchmark = p.benchmark and f.id = p.one
join configurations g on g.benchmark = p.benchmark and g.id = p.other
where (is_scripted(f.models) or is_scripted(g.models)) = $scripted
order by p.benchmark, p.one, p.other
"""

"""Pairs of configurations that were measured on the same problems, and on how many of these they differed."""

from __future__ import annotations

from duckdb import DuckDBPyConnection

from koderz_core.records.forecasts import PastPair
from koderz_core.store.reading import records

FEWEST = 20  # problems in common: with fewer, how many they differ on says little
MOST = 20  # benchmarks, the newest: enough for a median, and quickly read


def past_pairs(con: DuckDBPyConnection, dataset_sha256: str, *, scripted: bool) -> list[PastPair]:
    """Every two configurations of a benchmark on this dataset with a result of both on at least ``FEWEST`` problems.

    ``scripted``: those of which one has a scripted model, else those of which none has.

    ``from_chance`` is by the unbiased variances of the trials of the problems of which both have two or more.
    """
    asked = {"dataset": dataset_sha256, "fewest": FEWEST, "most": MOST, "scripted": scripted}
    return records(con, PastPair, _PAST_PAIRS, asked)


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

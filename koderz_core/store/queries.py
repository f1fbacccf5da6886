"""Questions to an open store, one method each; their SQL stands below in the same order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import msgspec
from duckdb import DuckDBPyConnection

from koderz_core.errors import DataError, UnknownNameError
from koderz_core.records import Outcome, Plan, Tier
from koderz_core.records.forecasts import Past, PastPair, Receipt
from koderz_core.records.notes import NoteRow, SpecRow
from koderz_core.records.progress import Neighbours, SummaryRow, TierCost, meant
from koderz_core.records.rows import BenchmarkRow, CallRow, ExperimentRow, IterationRow, ScoreRow, Span
from koderz_core.records.trials import Ground, Measured, Trial
from koderz_core.store.ahead import Seen
from koderz_core.store.baselines import grounds, measured
from koderz_core.store.benchmarks import (
    RESULTS,
    Held,
    Standing,
    Writers,
    benchmarks,
    counted,
    in_effect,
    lately,
    receipt,
)
from koderz_core.store.experiments import Asked, Followed, experiments, neighbours
from koderz_core.store.experiments import experiment as experiment_of
from koderz_core.store.finding import benchmark_ids, find, find_problem
from koderz_core.store.frames import Tables
from koderz_core.store.loading import Basis, basis
from koderz_core.store.marks import COUNTS, SAW_BASE_TESTS
from koderz_core.store.measurements import specs
from koderz_core.store.past_pairs import past_pairs
from koderz_core.store.reading import mappings, records
from koderz_core.store.trials import trials


def failures(con: DuckDBPyConnection, benchmark: str) -> dict[str, dict[str, int]]:
    """Configuration id -> error class -> how often: of iterations, or of a program handed in untested."""
    found: dict[str, dict[str, int]] = {}
    for row in mappings(con, _FAILURES, {"benchmark": benchmark}):
        found.setdefault(str(row["configuration"]), {})[str(row["failure"])] = int(str(row["times"]))
    return found


_FAILURES = """
select configuration, failure, count(*) as times from (
    select e.configuration, i.error as failure from iterations i join experiments e on e.id = i.experiment
    where e.benchmark = $benchmark
    union all
    select configuration, failure from experiments e
    where benchmark = $benchmark and not exists (select 1 from iterations i where i.experiment = e.id)
)
where failure is not null group by all order by configuration, times desc, failure
"""

MOST = 300  # of each configuration, the newest: enough for a mean, and quickly read


def past(con: DuckDBPyConnection, strategies: Iterable[str]) -> list[Past]:
    """The newest experiments of these strategies that were solved or unsolved."""
    return records(con, Past, _PAST, {"strategies": list(strategies), "most": MOST})


_PAST = f"""
select r.configuration, f.strategy, f.models, r.calls, r.cost_usd, r.seconds
from {RESULTS} r join configurations f on f.benchmark = r.benchmark and f.id = r.configuration
where r.outcome in ('solved', 'unsolved') and r.seconds is not null
    and list_contains($strategies::varchar[], f.strategy)
qualify row_number() over (partition by r.configuration order by r.finished_at desc) <= $most
order by r.finished_at desc, r.id
"""  # noqa: S608 (ours)


def planned(con: DuckDBPyConnection, benchmark: str) -> Plan:
    """The plan of a benchmark (by id), as it was last grown. Raises UnknownNameError."""
    found = con.execute("select plan from benchmarks where id = ?", [benchmark]).fetchone()
    if found is None:
        raise UnknownNameError("benchmark", benchmark, benchmark_ids(con))
    return msgspec.json.decode(str(found[0]), type=Plan)


def spans(con: DuckDBPyConnection, benchmark: str) -> list[Span]:
    """Every stretch of time in the experiments of a benchmark that have ended, in the order in which they began."""
    return records(con, Span, _SPANS, {"benchmark": benchmark})


# Calls are stamped when they begin, tests and scores when they have ended. A gate verdict that an iteration has
# already brought is not run again for the score, so its seconds count once.
_SPANS = """
with ended as (
    select e.id, f.label, e.started_at, e.seconds from experiments e
    join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
    where e.benchmark = $benchmark and e.state = 'finished' and e.seconds is not null
),
attempts as (
    select experiment, "at", seconds, "at" + seconds as until,
        lead("at") over (partition by experiment, ordinal order by attempt) as next_at
    from calls where seconds is not null
),
parts as (
    select experiment, 'calls' as phase, "at", seconds from attempts
    union all
    select experiment, 'waiting', until, next_at - until from attempts where next_at > until
    union all
    select experiment, 'tests', "at" - seconds, seconds from iterations
    union all
    select experiment, 'scoring', "at" - spent, spent from (
        select s.experiment, s."at", coalesce((s.held_out->>'$.seconds')::double, 0) + if(
            exists (select 1 from iterations i where i.experiment = s.experiment and i.code = s.code),
            0, coalesce((s.gate->>'$.seconds')::double, 0)) as spent
        from scores s
    )
)
select id as experiment, label, null as phase, started_at as "at", seconds from ended
union all
select e.id, e.label, p.phase, p."at", p.seconds from parts p join ended e on e.id = p.experiment
order by "at", experiment, phase nulls first
"""


class Reader:
    """Answers questions while its store is open."""

    def __init__(self, con: DuckDBPyConnection) -> None:
        self._con = con

    def find(self, text: str) -> str:
        """The id of the one benchmark of that name, or benchmark or experiment that begins so. Raises as ``find``."""
        return find(self._con, text)

    def find_problem(self, name: str) -> str:
        """The id of a problem that some experiment is on. Raises as ``find_problem``."""
        return find_problem(self._con, name)

    def benchmarks(self, writers: Writers, benchmark: str | None = None) -> list[BenchmarkRow]:
        """All benchmarks, or only the one given, by id; the newest first. Raises UnknownNameError if it is unknown."""
        found = benchmarks(counted(self._con, benchmark), writers)
        if benchmark is not None and not found:
            raise UnknownNameError("benchmark", benchmark, benchmark_ids(self._con))
        return found

    def held(self) -> frozenset[Held]:
        """The pauses and stops in effect."""
        return in_effect(self._con)

    def summaries(
        self, writers: Writers, benchmarks: Collection[str] | None = None, only: Collection[str] | None = None
    ) -> list[SummaryRow]:
        """One row per benchmark (in the order of the ids given; of all the newest first) and configuration.

        ``only``: about these problems; one without any of them has no row.
        """
        asked = {name: None if of is None else list(of) for name, of in (("benchmarks", benchmarks), ("only", only))}
        tiers: dict[tuple[str, str], list[TierCost]] = {}
        for one in records(self._con, _ConfigurationTier, _TIERS, asked):
            tiers.setdefault((one.benchmark, one.configuration), []).append(one.cost())
        found = []
        for row in mappings(self._con, _SUMMARIES, asked):
            at_work = bool(row["running"]) and writers.of(str(row["benchmark"]), closed=False) is not None
            more = {"tiers": tiers.get(_pair(row), []), "running": row["running"] if at_work else 0}
            made = msgspec.convert({**row, **more, "only": asked["only"], "score_kind": None}, SummaryRow)
            found.append(replace(made, score_kind=made.marks.kind))
        return found

    def experiments(
        self,
        benchmark: str | None = None,
        problem: str | None = None,
        outcome: Outcome | None = None,
        limit: int | None = None,
    ) -> list[ExperimentRow]:
        """Experiments that fit all that is given, the one with the newest news first, those not begun last."""
        return experiments(self._con, Asked(benchmark, problem, outcome, limit))

    def experiment(self, experiment: str) -> ExperimentRow:
        """The experiment of an id; ``find`` gives it. Raises UnknownNameError."""
        found = experiment_of(self._con, experiment)
        if found is None:
            raise UnknownNameError("experiment", experiment, None)
        return found

    def standing(self, writers: Writers, followed: Followed, row: BenchmarkRow) -> Standing:
        """How far a benchmark is; of its experiments only what has changed since is read again."""
        held = frozenset(one for one in self.held() if one.benchmark == row.id)
        experiments = tuple(writers.told(one, held) for one in followed.of(self._con, row))
        return Standing(row, experiments, lately(self._con, row))

    def watched(self, writers: Writers, followed: Followed, benchmark: str) -> Seen:
        """All benchmarks, and how far the one is that is ``meant``."""
        rows = self.benchmarks(writers)
        row = meant(rows, benchmark)
        return Seen(None if row is None else self.standing(writers, followed, row), rows)

    def basis(self, standing: Standing | None) -> Basis | None:
        """What a benchmark goes on from that stands so, if its journal alone tells how."""
        return None if standing is None else basis(self._con, standing)

    def neighbours(self, experiment: str) -> Neighbours:
        """The experiments before and after the one of an id in its benchmark. Raises UnknownNameError."""
        return neighbours(self._con, experiment)

    def iterations(self, experiment: str) -> list[IterationRow]:
        """The iterations of an experiment, in order."""
        sql = "select * from iterations where experiment = ? order by iteration"
        return records(self._con, IterationRow, sql, [experiment])

    def calls(self, experiment: str) -> list[CallRow]:
        """The calls of an experiment, in order, failed attempts too."""
        sql = "select * from calls where experiment = ? order by ordinal, attempt"
        return records(self._con, CallRow, sql, [experiment])

    def notes(self, experiment: str) -> list[NoteRow]:
        """The notes of an experiment, in order."""
        return records(self._con, NoteRow, "select * from notes where experiment = ? order by ordinal", [experiment])

    def specs(self, benchmark: str | None, problem: str | None, experiment: str | None) -> list[SpecRow]:
        """The specs of all experiments that fit all that is given, the newest first."""
        return specs(self._con, benchmark, problem, experiment)

    def scores(self, experiment: str) -> list[ScoreRow]:
        """The scored candidates of an experiment, in the order they were scored."""
        sql = 'select * from scores where experiment = ? order by "at", code'
        return records(self._con, ScoreRow, sql, [experiment])

    def failures(self, benchmark: str) -> dict[str, dict[str, int]]:
        """Configuration id -> error class -> how often: of iterations, or of a program handed in untested."""
        return failures(self._con, benchmark)

    def trials(self, benchmarks: Collection[str], *, tries: bool = True) -> list[Trial]:
        """Every experiment of these benchmarks, by benchmark, configuration, problem and repeat."""
        return trials(self._con, benchmarks, tries=tries)

    def measured(self) -> list[Measured]:
        """Every model that was asked directly, without a spec, by benchmark; the newest first."""
        return measured(self._con)

    def grounds(self, benchmarks: Collection[str]) -> list[Ground]:
        """What these benchmarks are about and under which conditions."""
        return grounds(self._con, benchmarks)

    def past(self, strategies: Iterable[str]) -> list[Past]:
        """What experiments of these strategies took that came to a result, the newest of each configuration."""
        return past(self._con, strategies)

    def past_pairs(self, dataset_sha256: str, *, scripted: bool) -> list[PastPair]:
        """As ``past_pairs.past_pairs``."""
        return past_pairs(self._con, dataset_sha256, scripted=scripted)

    def receipt(self, benchmark: str) -> Receipt | None:
        """What a benchmark has come to, beside what was foretold; None before its end, or if nothing was."""
        return receipt(self._con, benchmark)

    def text(self, sha256: str) -> str:
        """The text that events name by this hash. Raises DataError."""
        found = self._con.execute("select text from texts where sha256 = ?", [sha256]).fetchone()
        if found is None:
            raise DataError(f"No journal holds the text {sha256[:12]}. Restore the missing journal, then reindex.")
        return str(found[0])

    def texts(self, hashes: Iterable[str]) -> dict[str, str]:
        """The texts that events name by these hashes; those that no journal holds are left out."""
        found = self._con.execute("select sha256, text from texts where sha256 in (select unnest(?))", [list(hashes)])
        return {str(sha256): str(text) for sha256, text in found.fetchall()}

    def spans(self, benchmark: str) -> list[Span]:
        """When the parts of the ended experiments of a benchmark went on."""
        return spans(self._con, benchmark)

    def tables(self, writers: Writers) -> Tables:
        """The tables as they are taken away; ``writers``: made before the journals were read."""
        return Tables(self._con, writers)


_SUMMARIES = f"""
select r.benchmark, r.configuration, any_value(f.label) as label, any_value(f.strategy) as strategy,
    any_value(f.models) as models, any_value(f.parameters) as parameters, any_value(f.gate) as gate,
    any_value(b.dataset) as dataset, any_value(b.dataset_sha256) as dataset_sha256, any_value(b.licence) as licence,
    any_value(f.feedback) as feedback, any_value(b.isolation) as isolation, count(*) filter (where r.shared) as shared,
    sha256(any_value(b.dataset_sha256) || string_agg(distinct r.problem, chr(10) order by r.problem)) as problem_set,
    count(distinct r.problem) as problems, count(*) as planned,
    count(*) filter (where r.outcome = 'solved') as solved,
    count(*) filter (where r.outcome = 'unsolved') as unsolved,
    count(*) filter (where r.outcome = 'unsolved' and r.reason = 'context') as context_ends,
    count(*) filter (where r.outcome = 'unsolved' and r.reason = 'budget') as budget_ends,
    count(*) filter (where r.outcome = 'cancelled') as cancelled,
    count(*) filter (where r.outcome = 'error') as errors,
    count(*) filter (where r.state = 'running') as running, {COUNTS}, bool_or({SAW_BASE_TESTS}) as saw_base_tests,
    avg(r.iterations) filter (where r.outcome in ('solved', 'unsolved')) as mean_iterations,
    case when count(*) = count(r.input_tokens) then sum(r.input_tokens)::bigint end as input_tokens,
    case when count(*) = count(r.output_tokens) then sum(r.output_tokens)::bigint end as output_tokens,
    coalesce(sum(r.seconds) filter (where r.outcome is not null), 0) as seconds,
    case when count(*) = count(r.cost_usd) then sum(r.cost_usd) end as cost_usd,
    case when count(r.outcome) = count(r.cost_usd) filter (where r.outcome is not null)
        then coalesce(sum(r.cost_usd) filter (where r.outcome is not null), 0) end as ended_cost_usd,
    sum(r.unpriced)::bigint as unpriced
from {RESULTS} r join configurations f on f.benchmark = r.benchmark and f.id = r.configuration
join benchmarks b on b.id = r.benchmark
where ($benchmarks is null or list_contains($benchmarks::varchar[], r.benchmark))
    and ($only is null or r.problem in (select unnest($only::varchar[])))
group by r.benchmark, r.configuration
order by list_position($benchmarks::varchar[], r.benchmark), max(b.opened_at) desc, r.benchmark, label
"""  # noqa: S608 (ours)
_TIERS = """
select e.benchmark, e.configuration, nullif(t.tier, '') as tier, sum(t.calls)::bigint as calls,
    sum(t.unpriced)::bigint as unpriced,
    case when count(*) = count(t.cost_usd) then sum(t.cost_usd order by e.id) end as cost_usd,
    case when count(*) = count(t.kwh) then sum(t.kwh order by e.id) end as kwh,
    case when count(*) = count(t.energy_usd) then sum(t.energy_usd order by e.id) end as energy_usd,
    case when count(*) = count(t.rental_usd) then sum(t.rental_usd order by e.id) end as rental_usd,
    case when count(*) = count(t.tokens) then sum(t.tokens)::bigint end as tokens
from call_totals t join experiments e on e.id = t.experiment
where ($benchmarks is null or list_contains($benchmarks::varchar[], e.benchmark))
    and ($only is null or e.problem in (select unnest($only::varchar[])))
group by e.benchmark, e.configuration, t.tier order by e.benchmark, e.configuration, nullif(t.tier, '')
"""


@dataclass(frozen=True, slots=True)
class _ConfigurationTier:
    benchmark: str
    configuration: str
    tier: Tier | None
    calls: int
    unpriced: int
    cost_usd: float | None
    kwh: float | None
    energy_usd: float | None
    rental_usd: float | None
    tokens: int | None

    def cost(self) -> TierCost:
        """What it says of the tier, without saying of which configuration."""
        energy = (self.kwh, self.energy_usd, self.rental_usd)
        return TierCost(self.tier, self.calls, self.unpriced, self.cost_usd, *energy, self.tokens)


def _pair(row: Mapping[str, object]) -> tuple[str, str]:
    return str(row["benchmark"]), str(row["configuration"])

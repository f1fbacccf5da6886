"""The specs that experiments were built on, and those of them that another experiment may be built on."""

from __future__ import annotations

from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from koderz_core.records import Asker, Memory
from koderz_core.records.notes import SpecRow
from koderz_core.store.marks import SAW_BASE_TESTS
from koderz_core.store.reading import records
from koderz_core.store.store import Store


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

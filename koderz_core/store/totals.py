"""What experiments have come to in sum, kept beside their rows so that nobody has to add these up to look at it.

``call_totals`` are of the calls of an experiment by tier ('' where that is not known): their number and tokens are of
those that were answered, their costs of those without an answer too, as far as these are known. Further columns of
``experiments`` are of all that is in it, null where there is nothing. They are made anew from the rows whenever a row
of the experiment changes, in the same transaction, so they cannot drift from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from duckdb import DuckDBPyConnection

from koderz_core.store.changes import Value

_SUMMED = {"experiments": "id", "iterations": "experiment", "calls": "experiment", "scores": "experiment"}
"""The tables that are summed up, with the column that says of which experiment a row is."""

Rows = Mapping[str, Mapping[tuple[Value, ...], Mapping[str, Value]]]
"""Table -> key -> row."""


def renew(con: DuckDBPyConnection, changed: Rows) -> None:
    """Sum up anew the experiments that these rows, written already, are of."""
    asked = {"changed": sorted(set(_experiments(changed)))}
    if not asked["changed"]:
        return
    con.execute(f"delete from call_totals where {_CHANGED}", asked)  # noqa: S608 (ours)
    for sql in _FILL:
        con.execute(sql.format(changed=_CHANGED), asked)


def _experiments(changed: Rows) -> Iterator[str]:
    """Those that are only planned have nothing to sum up: a plan may have thousands of them."""
    for table, column in _SUMMED.items():
        yield from (str(row[column]) for row in changed.get(table, {}).values() if row.get("state") != "planned")


_CHANGED = "experiment in (select unnest($changed))"

# Costs are added in the order of the calls, for a sum of floating point depends on it.
_FILL = (
    """
insert into call_totals
select experiment, coalesce(tier, ''), count(answered), count(answered) - count(answered + cost_usd),
    case when count(answered) = count(input_tokens + output_tokens)
        then coalesce(sum(input_tokens + output_tokens), 0)::bigint end,
    case when count(answered) = count(answered + cost_usd)
        then coalesce(sum(cost_usd order by ordinal, attempt), 0) end,
    case when count(answered) = count(answered + kwh)
        then coalesce(sum(kwh order by ordinal, attempt), 0) end,
    case when count(answered) = count(answered + energy_usd)
        then coalesce(sum(energy_usd order by ordinal, attempt), 0) end,
    case when count(answered) = count(answered + rental_usd)
        then coalesce(sum(rental_usd order by ordinal, attempt), 0) end
from (select *, if(state = 'finished', 1, null) as answered from calls where {changed})
where answered = 1 or cost_usd is not null group by experiment, coalesce(tier, '')
""",
    """
update experiments set calls = t.calls, unpriced = t.unpriced, input_tokens = t.input_tokens,
    output_tokens = t.output_tokens, cost_usd = t.cost_usd, tries = t.tries, tried_at = t.tried_at,
    gate_passed = t.gate_passed, gate_tests_passed = t.gate_tests_passed, gate_tests_total = t.gate_tests_total,
    held_out_passed = t.held_out_passed, held_out_tests_passed = t.held_out_tests_passed,
    held_out_tests_total = t.held_out_tests_total, shared = t.shared
from (
    select e.experiment as changed, c.*, i.*, s.*
    from (select id as experiment, code from experiments) e
    left join (
        select experiment, count(answered) as calls, count(answered) - count(answered + cost_usd) as unpriced,
            case when count(answered) = count(input_tokens)
                then coalesce(sum(input_tokens), 0)::bigint end as input_tokens,
            case when count(answered) = count(output_tokens)
                then coalesce(sum(output_tokens), 0)::bigint end as output_tokens,
            case when count(answered) = count(answered + cost_usd)
                then coalesce(sum(cost_usd order by ordinal, attempt), 0) end as cost_usd
        from (select *, if(state = 'finished', 1, null) as answered from calls where {changed})
        where answered = 1 or cost_usd is not null group by experiment
    ) c on c.experiment = e.experiment
    left join (
        select experiment, count(*) as tries, max("at") as tried_at from iterations where {changed} group by experiment
    ) i on i.experiment = e.experiment
    left join (
        select experiment, code, gate_passed, gate_tests_passed, gate_tests_total, held_out_passed,
            held_out_tests_passed, held_out_tests_total, shared
        from scores where {changed}
    ) s on s.experiment = e.experiment and s.code = e.code
    where e.{changed}
) t where experiments.id = t.changed
""",
)
"""Statements that make the totals of the experiments of which ``changed`` is true; those of calls are gone."""

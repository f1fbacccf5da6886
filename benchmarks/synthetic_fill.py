"""Fills planned experiments of a store with copies of those of one benchmark, a million at a time.

The copies go straight into the tables, which takes seconds. No journal contains them, so ``koderz reindex`` loses them.
"""

from __future__ import annotations

from duckdb import DuckDBPyConnection

from koderz_core.store.schema import FILL

SCRIPT = """
create temp table filled as
with ranked as (
    select id, configuration, benchmark = $template as told,
        row_number() over (partition by configuration, benchmark = $template order by id) - 1 as place,
        count(*) over (partition by configuration, benchmark = $template) as places
    from experiments
)
select e.id, t.id as template, e.place // t.places as turn
from ranked e join ranked t on t.configuration = e.configuration and t.told and t.place = e.place % t.places
where not e.told;

insert into texts
select sha256(x.code || f.turn), '# SYNTHETIC, turn ' || f.turn || chr(10) || any_value(t.text)
from filled f join iterations x on x.experiment = f.template join texts t on t.sha256 = x.code
group by x.code, f.turn;

update experiments set state = t.state, outcome = t.outcome, reason = t.reason, score_kind = t.score_kind,
    code = sha256(t.code || f.turn), seconds = t.seconds, failure = t.failure,
    started_at = t.started_at + f.turn, finished_at = t.finished_at + f.turn
from filled f join experiments t on t.id = f.template where experiments.id = f.id;

insert into calls
select x.* replace (f.id as experiment, sha256(x.text || f.turn) as text, x."at" + f.turn as "at")
from filled f join calls x on x.experiment = f.template order by f.id, x.ordinal;

insert into iterations
select x.* replace (f.id as experiment, sha256(x.code || f.turn) as code, x."at" + f.turn as "at")
from filled f join iterations x on x.experiment = f.template order by f.id, x.iteration;

insert into scores
select x.* replace (f.id as experiment, sha256(x.code || f.turn) as code)
from filled f join scores x on x.experiment = f.template order by f.id
"""
COPIES = "experiment in (select id from filled)"


def fill(con: DuckDBPyConnection, template: str) -> None:
    """Give every planned experiment the results of one of the benchmark ``template`` with its configuration."""
    con.begin()
    for statement in SCRIPT.split(";\n"):
        asked = {"template": template} if "$template" in statement else {}
        con.execute(statement, asked)
    for statement in FILL:
        con.execute(statement.format(changed=COPIES))
    con.execute("drop table filled")
    con.commit()

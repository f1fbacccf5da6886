"""What programs failed with in all benchmarks, and the programs that then passed."""

from __future__ import annotations

from koderz_core.records.lapses import Lapse
from koderz_core.store.reading import records
from koderz_core.store.store import Store

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

"""The programs that solved a problem, as far as another experiment may be shown them."""

from __future__ import annotations

from koderz_core.records import Asker
from koderz_core.records.solved import Solved
from koderz_core.store.reading import records
from koderz_core.store.store import Store

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

"""The time of a search by words over all recorded texts, by the number of iterations in the data folder.

Run: ``python benchmarks/searching.py`` (``--work FOLDER`` keeps the data folders; ``--iterations N …``). The texts are
synthetic: those of ``synthetic.py``, and for each program a prompt that repeats it, as in a loop that repairs programs.
Each time is the median of five searches, each of which opens the index anew, as every search of koderz does.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from duckdb import DuckDBPyConnection
from process_tree import machine
from synthetic import folder

from koderz_core.records.search import SearchQuery
from koderz_core.store.index import Index, Writers
from koderz_core.store.search import search
from koderz_core.store.store import Store

SIZES = (1_000, 100_000, 1_000_000)
TIMES = 5
RARE = "zebra_crossing"
QUERIES = {
    "no match": "wombat",
    "one text": RARE,
    "a word of every text": "solve",
    "a part of every text, a word of none": "alue",
    "three words": "solve value synthetic",
    "a phrase": '"return value"',
}
PROMPTS = """
insert into texts
select sha256('prompt' || sha256), 'Repair this program. The test failed: assert solve(1) == 2' || chr(10) || text
from texts where starts_with(text, '# SYNTHETIC') order by rowid;
insert into prompts
select e.benchmark, sha256('prompt' || i.code), any_value(i.experiment), any_value(i.ordinal), max(i."at")
from iterations i join experiments e on e.id = i.experiment group by all;
insert into texts select sha256('rare'), 'def zebra_crossing(value): return value';
update iterations set code = sha256('rare') where rowid = (select max(rowid) from iterations)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("build/synthetic"))
    parser.add_argument("--iterations", type=int, nargs="+", default=SIZES)
    asked = parser.parse_args()
    print(machine())
    for iterations in asked.iterations:
        home = folder(asked.work.resolve(), iterations)
        store = Store(home / "koderz.duckdb", home / "journals")
        with store.open() as con:
            if not con.execute("select 1 from texts where sha256 = sha256('rare')").fetchone():
                _add_prompts(con)
            texts, characters = con.execute("select count(*), sum(length(text)) from texts").fetchone() or (0, 0)
        print(f"\n{iterations} iterations, {texts} texts, {characters / 1e6:.0f} million characters")
        for name, words in QUERIES.items():
            seconds, cpu, hits = zip(*(_search(store, words) for _ in range(TIMES)), strict=True)
            took = f"{statistics.median(seconds):6.2f} s, at least {min(seconds):6.2f} s, CPU {min(cpu):6.2f} s"
            print(f"{name:40} {took}, {hits[0]:3} matches")


def _add_prompts(con: DuckDBPyConnection) -> None:
    for statement in PROMPTS.split(";\n"):
        con.execute(statement)
    con.execute("checkpoint")


def _search(store: Store, words: str) -> tuple[float, float, int]:
    """Seconds of wall time and of processor time, and the number of matches."""
    began, processor = time.monotonic(), time.process_time()
    with store.open() as con:
        found = search(Index(con, Writers(store.journals_dir)), SearchQuery(words))
    return time.monotonic() - began, time.process_time() - processor, len(found.hits)


if __name__ == "__main__":
    main()

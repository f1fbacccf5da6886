"""A report of a comparison for somebody without koderz: what it says, whatever it is written in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from koderz_core.analysis.comparison import AXES, Comparison
from koderz_core.export import captions
from koderz_core.export.citation import asked, journal
from koderz_core.export.comparison import common, helped, tables
from koderz_core.export.comparison_details import curves_table, frontier_table
from koderz_core.export.formats import day, isolation
from koderz_core.export.supervision import SHOWS, SHOWS_NOT
from koderz_core.export.worded import Table
from koderz_core.records.provenance import Provenance

TITLE = "koderz: configurations compared"
INTERVALS = (
    "In brackets: 95 % intervals. n: experiments with a result, of those planned. $: US dollars; unpriced: a price is "
    "not known. * its stopping tests are also its scoring tests (oracle), so it is not pass@1."
)


@dataclass(frozen=True, slots=True)
class Report:
    """A comparison and what it stands on; ``made_at``: seconds since 1970, ``version``: of the koderz that made it."""

    comparison: Comparison
    stands_on: tuple[Provenance, ...]
    made_at: float
    version: str

    @property
    def warnings(self) -> tuple[str, ...]:
        """What has to be said before any number."""
        return (captions.SCRIPTED,) if self.comparison.scripted else ()

    @property
    def tables(self) -> Sequence[Table]:
        """All of them, the charts' too."""
        compared = self.comparison
        drawn = (frontier_table(compared), *(curves_table(compared, axis) for axis in AXES))
        return (*tables(compared), *(table for table in drawn if table.rows))

    @property
    def remarks(self) -> Sequence[str]:
        """What a reader must know, below the tables; may hold a stranger's words."""
        compared = self.comparison
        about = (SHOWS, SHOWS_NOT) if helped(compared) else ()
        ends = dict.fromkeys(said for axis in AXES for said in captions.curves_beside_rates(compared, axis))
        return (INTERVALS, common(compared), *(one.strip() for one in compared.remarks), *about, *ends)

    def origins(self) -> Iterator[str]:
        """One sentence per benchmark: what it was about, and what it was measured with. May hold a stranger's words."""
        for one in self.stands_on:
            called = f"{one.benchmark}{f' ({one.name})' if one.name else ''}"
            yield (
                f"{called}: begun {day(one.opened_at)}, {asked(one, one.origin.said)}; koderz {one.koderz_version}, "
                f"prices {one.price_version}, isolation {isolation(one.isolation, one.self_test)}; "
                f"journal: {journal(one)}."
            )

    @property
    def made(self) -> str:
        """When and by what."""
        return f"Made {day(self.made_at)} by koderz {self.version}."

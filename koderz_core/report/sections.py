"""Sections that add to a comparison: listings, each a table in words and rows for programs, and remarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from koderz_core.report.columns import Column, Numbers, Shown, json_row, json_rows, shown, text_table
from koderz_core.report.formats import TextTable


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows of a section. ``title``: of the table in words, empty if only programs read the rows.

    ``name``: of the rows for programs, empty if only people read the table.
    """

    name: str
    title: str
    columns: Sequence[Column | Shown]
    rows: Sequence[object]

    @property
    def table(self) -> TextTable:
        return text_table(self.title, shown(self.columns), self.rows)

    @property
    def numbers(self) -> list[Numbers]:
        """One flat row per row, with full precision."""
        return json_rows([column for column in self.columns if isinstance(column, Column)], self.rows)


@dataclass(frozen=True, slots=True)
class Section:
    """``remarks``: the sentences without which the tables mislead; hostile text. ``facts``: for programs only."""

    listings: Sequence[Listing]
    remarks: tuple[str, ...]
    facts: Mapping[str, object] = field(default_factory=dict)

    @property
    def tables(self) -> tuple[TextTable, ...]:
        """Every table that has lines."""
        return tuple(listing.table for listing in self.listings if listing.title and listing.rows)

    @property
    def numbers(self) -> Numbers:
        """All of it for programs."""
        rows = {listing.name: listing.numbers for listing in self.listings if listing.name}
        return json_row({**self.facts, **rows, "remarks": list(self.remarks)})

    def listing(self, name: str) -> Listing:
        """The listing of this name, which there must be."""
        return next(listing for listing in self.listings if listing.name == name)

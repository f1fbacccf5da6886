"""Where the numbers of a benchmark come from."""

from __future__ import annotations

from dataclasses import dataclass

from koderz_core.records.problems import DatasetOrigin


@dataclass(frozen=True, slots=True)
class Provenance:
    """What somebody has to know to trust a benchmark's numbers, or to measure them again.

    ``opened_at``: seconds since 1970. ``isolation`` and ``self_test`` as in its journal's header. ``name`` and the
    dataset's words may be a stranger's. ``ended``: experiments with a result, of those ``planned``. ``scripted``:
    whether some answers come from a script. The numbers are made of the first ``journal_bytes`` of its
    journal, whose SHA-256 (hex) is ``journal_sha256``; None where its file could not be found or read.
    """

    benchmark: str
    name: str
    dataset: str
    dataset_sha256: str
    licence: str
    problems: int
    repeats: int
    koderz_version: str
    price_version: str
    isolation: str
    self_test: str
    opened_at: float
    configurations: int
    planned: int
    ended: int
    scripted: bool
    journal_bytes: int | None
    journal_sha256: str | None = None

    @property
    def origin(self) -> DatasetOrigin:
        return DatasetOrigin(self.dataset, self.dataset_sha256, self.licence)

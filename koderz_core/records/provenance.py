"""Where the numbers of a benchmark come from."""

from __future__ import annotations

from dataclasses import dataclass

from koderz_core.records.problems import DatasetOrigin


@dataclass(frozen=True, slots=True)
class Provenance:
    """What somebody has to know to trust a benchmark's numbers, or to measure them again.

    ``opened_at``: seconds since 1970. ``isolation`` and ``self_test`` as in its journal's header. ``name`` and the
    dataset's words may be a stranger's.
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

    @property
    def origin(self) -> DatasetOrigin:
        return DatasetOrigin(self.dataset, self.dataset_sha256, self.licence)

"""A benchmark that is looked at again and again: where it cannot be read for once, what was read last stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from koderz_core import Workspace
from koderz_core.errors import StoreError
from koderz_core.records.progress import BenchmarkProgress
from koderz_core.records.rows import BenchmarkRow
from pages.ui.running import Rows


@dataclass(frozen=True, slots=True)
class Seen:
    """What one look brought: all benchmarks, and how far the one is; None: nothing has been run."""

    rows: Rows
    progress: BenchmarkProgress | None


class Watched:
    """The benchmark of an id or, without one, what runs, else the newest.

    ``fault``: why nothing could be read when it was last tried, None if it could.
    """

    def __init__(self, workspace: Workspace, benchmark: str, ask: Callable[[], Rows]) -> None:
        """``ask`` gives all benchmarks."""
        self._workspace = workspace
        self._benchmark = benchmark
        self._ask = ask
        self._last: Seen | None = None
        self.fault: str | None = None

    def now(self) -> Seen:
        """The newest that could be read. Raises StoreError as long as nothing could."""
        try:
            self._last, self.fault = self._look(), None
        except StoreError as error:
            if self._last is None:
                raise
            self.fault = str(error)
        return self._last

    def meant(self, rows: Rows) -> BenchmarkRow | None:
        """The one of these that is watched."""
        if self._benchmark:
            return next((row for row in rows if row.id == self._benchmark), None)
        return next((row for row in rows if row.under_way), rows[0] if rows else None)

    def _look(self) -> Seen:
        rows = self._ask()
        meant = self.meant(rows)
        return Seen(rows, self._workspace.results.progress(meant.id) if meant else None)

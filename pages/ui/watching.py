"""A benchmark that is looked at again and again: where it cannot be read for once, what was read last stays."""

from __future__ import annotations

import time

from koderz_core import Workspace
from koderz_core.errors import StoreError
from koderz_core.records.progress import Snapshot


class Watch:
    """The benchmark of an id or, without one, what runs, else the newest; looked at from now on.

    ``last``: what was read last, if anything was. ``fault``: why nothing could be read when it was last tried, None if
    it could.
    """

    def __init__(self, workspace: Workspace, benchmark: str) -> None:
        self._workspace = workspace
        self._benchmark = benchmark
        self._since = time.time()
        self.last: Snapshot | None = None
        self.fault: str | None = None

    def now(self) -> Snapshot:
        """The newest that can be read. Raises StoreError as long as nothing could."""
        try:
            self.last, self.fault = self._workspace.results.snapshot(self._benchmark, self._since), None
        except StoreError as error:
            if self.last is None:
                raise
            self.fault = str(error)
        return self.last

    def once(self) -> bool:
        """Have it read, so that later looks read only what is new; whether it is there. Raises as ``now``."""
        return self.now().progress is not None

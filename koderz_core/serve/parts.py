"""The parts of a running server, which its endpoints use."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

from koderz_core.serve.programs import Programs
from koderz_core.serve.work import Queue
from koderz_core.workspace import Workspace

READERS = 2
MOST_READS = 32  # of results, at a time and waiting


@dataclass(frozen=True)
class Limits:
    """``queue``: accepted programs of all clients that have not ended; ``client``: those of one client."""

    queue: int = 2000
    client: int = 1000


class Parts:
    """Joins the workspace with the queues. Close it; closing also closes the workspace."""

    def __init__(self, workspace: Workspace, limits: Limits, *, is_open: bool) -> None:
        """``is_open``: whether clients beyond this machine may connect."""
        self.workspace, self.is_open = workspace, is_open
        token = workspace.settings.serve_token
        self.token = token.get_secret_value().encode() if token else b""
        workers = os.cpu_count() or 1
        self.grading = Queue(workers, limits.queue, limits.client)
        self.reading = Queue(READERS, MOST_READS, MOST_READS)
        self.monitoring = workspace.monitoring
        self.monitoring.metrics.add_queues({"grading": self.grading, "reading": self.reading})
        self.monitoring.begin_sending()
        self.programs = Programs(workspace, self.grading, trusted=bool(self.token))

    @cached_property
    def tier(self) -> str:
        """The sandbox tier in which programs run."""
        return self.workspace.grading.judge.isolation

    def close(self) -> None:
        """Start no further work, end the workers and stop benchmarks. Idempotent."""
        self.grading.close()
        self.reading.close()
        self.workspace.close(patient=True)

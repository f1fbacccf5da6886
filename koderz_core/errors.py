"""Every error that koderz raises, with its exit code on the command line.

A mistake of a model or its program is never an exception but a value: see ``Verdict`` and ``Completion.finish``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


def listed(names: Sequence[str], most: int) -> str:
    """For a message: the first names, and how many there are besides."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


class KoderzError(Exception):
    """Base of all errors. The message says what failed, which object is affected, and what to do."""

    exit_code = 1


class UsageError(KoderzError):
    """A request is invalid."""

    exit_code = 2


class ConfigError(UsageError):
    """A setting, or its file, is invalid."""


class UnknownNameError(UsageError):
    """An unknown name. The message lists the known names; ``known`` None: they cannot be listed."""

    def __init__(self, kind: str, name: str, known: Iterable[str] | None, hint: str = "") -> None:
        choices = sorted(known or ())
        near = get_close_matches(name, choices, n=3, cutoff=0.5)
        shown = near or choices[:20]
        lead = "Did you mean" if near else "Known"
        tail = f" {lead}: {', '.join(shown)}." if shown else "" if known is None else " There are none."
        super().__init__(f"Unknown {kind}: {name!r}.{tail}{' ' + hint if hint else ''}")
        self.kind, self.name = kind, name


class PlanError(UsageError):
    """A configuration or a plan contradicts itself."""


class RequestError(UsageError):
    """A request to ``koderz serve`` was not accepted. ``status``: of the HTTP response."""

    def __init__(self, message: str, status: int = 422, *, retry_after_seconds: int | None = None) -> None:
        super().__init__(message)
        self.status, self.retry_after_seconds = status, retry_after_seconds


class InfrastructureError(KoderzError):
    """Files, processes or servers failed. Never counted against a model."""

    exit_code = 3


class DataError(InfrastructureError):
    """The file of a dataset or a result is missing, invalid or unreadable."""


class DownloadError(InfrastructureError):
    """The download of a file failed or was incomplete; the caller says what to do instead."""


class JournalError(InfrastructureError):
    """A journal is locked by another process, corrupt, or cannot be written."""


class StoreError(InfrastructureError):
    """The index of the journals cannot be opened, or has another version."""


class CortexError(InfrastructureError):
    """The memory server or its file failed."""


class SandboxError(InfrastructureError):
    """A program could not be run, or its worker process was lost."""


class ModelError(InfrastructureError):
    """A provider failed, refused the request or is unavailable.

    ``retryable``: whether the same request may succeed later. ``retries``: the maximum number of retries (None:
    unlimited). ``status``: the HTTP status of the response, if there was one. ``retry_after_seconds``: the wait that
    the provider requested. ``arrived`` False: the request certainly did not reach the provider. For a model on this
    machine, ``machine_seconds``, ``gpu_joules`` and ``cpu_joules`` are as in ``Usage``, because the failed call used
    them. ``address``: the address that was asked if the provider has several.
    """

    address: str = ""

    machine_seconds: float | None = None
    gpu_joules: float | None = None
    cpu_joules: float | None = None

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        retries: int | None = None,
        status: int | None = None,
        retry_after_seconds: float | None = None,
        arrived: bool = True,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retries = retries
        self.status = status
        self.retry_after_seconds = retry_after_seconds
        self.arrived = arrived


class LateError(ModelError):
    """An answer was not complete within its timeout, for an unknown reason."""


class TurnTimeoutError(ModelError):
    """An answer was not complete within the time that its configuration gives a turn."""


class ContextError(ModelError):
    """A prompt exceeds its model's context; its length follows from the configuration.

    The best tested program counts.
    """


class WeightsError(ModelError):
    """The weights of an embedded model are unavailable or invalid."""


class ReceiverError(InfrastructureError):
    """A receiver of traces cannot be reached, or did not accept all spans. The message shows no header."""


class SearchError(InfrastructureError):
    """A site could not be searched. The message shows neither the address nor a key."""


class OfflineError(InfrastructureError):
    """``KODERZ_OFFLINE`` forbids an address beyond this machine."""


class NoticeError(InfrastructureError):
    """A notification was not delivered; nothing else fails. The message does not show the address."""


class OverBudget(KoderzError):  # noqa: N818 (nothing went wrong)
    """An experiment's own budget does not allow its next call: its best tested program counts."""


class Cancelled(KoderzError):  # noqa: N818 (nothing went wrong)
    """The user stopped the work; finished work is kept."""

    exit_code = 130


class BudgetSpent(Cancelled):
    """The budget of the benchmark does not allow its next call: the remaining experiments have no result."""

    exit_code = 5

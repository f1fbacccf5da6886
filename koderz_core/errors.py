"""Every error koderz raises, and the exit code each one ends the command line with.

KoderzError
├── UsageError                 what was asked for cannot be done (exit 2)
│   ├── ConfigError            a setting or its file is wrong
│   ├── UnknownNameError       no such model, problem, dataset, strategy, benchmark or experiment
│   └── PlanError              a configuration or a plan contradicts itself
├── InfrastructureError        the ground under koderz failed (exit 3); never counted against a model
│   ├── DataError              a dataset's or result's file is missing, wrong or unreadable
│   ├── DownloadError          a file cannot be had from its publisher, or not whole
│   ├── JournalError           a journal is locked, corrupt or cannot be written
│   ├── StoreError             the index of the journals cannot be opened or is of another version
│   ├── CortexError            the memory server or its file fails
│   ├── SandboxError           programs cannot be run or a worker was lost
│   ├── ModelError             a provider failed, refused the request or is not there
│   │   ├── LateError          an answer was begun, perhaps, and not whole in time
│   │   ├── ContextError       a prompt does not fit its model's context: the best tested program counts
│   │   └── WeightsError       the weights of an embedded model cannot be had
│   ├── OfflineError           KODERZ_OFFLINE forbids an address beyond this machine
│   └── NoticeError            a notice did not arrive; never the reason why anything else fails
├── OverBudget                 an experiment has used up its own budget: its best tested program counts
└── Cancelled                  somebody stopped the work (exit 130)
    └── BudgetSpent            the benchmark has used up its budget: what is left has no result

What a model or its program does wrong is never an exception but a value: see ``Verdict`` and ``Completion.finish``.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class KoderzError(Exception):
    """Base of all errors; its message says what happened, to which thing, and what to do."""

    exit_code = 1


class UsageError(KoderzError):
    """What was asked for cannot be done as it was asked."""

    exit_code = 2


class ConfigError(UsageError):
    """A setting, or the file it stands in, is wrong."""


class UnknownNameError(UsageError):
    """A name that nothing has; the message lists what there is. ``known`` None: what there is cannot be listed."""

    def __init__(self, kind: str, name: str, known: Iterable[str] | None, hint: str = "") -> None:
        choices = sorted(known or ())
        near = get_close_matches(name, choices, n=3, cutoff=0.5)
        shown = near or choices[:12]
        lead = "Did you mean" if near else "Known"
        tail = f" {lead}: {', '.join(shown)}." if shown else "" if known is None else " There are none."
        super().__init__(f"Unknown {kind}: {name!r}.{tail}{' ' + hint if hint else ''}")
        self.name = name


class PlanError(UsageError):
    """A configuration or a plan contradicts itself."""


class InfrastructureError(KoderzError):
    """The ground under koderz failed: files, processes, servers. Never counted against a model."""

    exit_code = 3


class DataError(InfrastructureError):
    """A dataset's or a result's file is missing, wrong or unreadable."""


class DownloadError(InfrastructureError):
    """A file cannot be had from its publisher, or not whole; whoever wanted it says what to do instead."""


class JournalError(InfrastructureError):
    """A journal is locked by another process, corrupt, or cannot be written."""


class StoreError(InfrastructureError):
    """The index of the journals cannot be opened, or is of another version."""


class CortexError(InfrastructureError):
    """The memory server, or the file of its memories, fails."""


class SandboxError(InfrastructureError):
    """Programs cannot be run, or the process that ran one was lost."""


class ModelError(InfrastructureError):
    """A provider failed.

    ``retryable`` says whether the same request may succeed later, ``retries`` how often at most it is worth trying
    (None: as often as one likes); ``status`` is the HTTP status that the provider answered with, if it did, and
    ``retry_after_seconds`` when it said to come back; ``arrived`` False if the request has certainly reached nobody.
    Of a call to a model on this machine, ``machine_seconds`` and ``gpu_joules`` are as in ``Usage``: it worked for it.
    """

    machine_seconds: float | None = None
    gpu_joules: float | None = None

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
    """An answer was not whole when its time was over; nothing says why."""


class ContextError(ModelError):
    """A prompt does not fit its model's context, whoever found that out. Its length is the configuration's doing."""


class WeightsError(ModelError):
    """The weights of an embedded model cannot be had, or are not what they should be."""


class OfflineError(InfrastructureError):
    """``KODERZ_OFFLINE`` forbids an address beyond this machine."""


class NoticeError(InfrastructureError):
    """A notice did not arrive; the message shows nothing of the address."""


class OverBudget(KoderzError):  # noqa: N818 (nothing went wrong)
    """An experiment's own budget does not hold its next call."""


class Cancelled(KoderzError):  # noqa: N818 (nothing went wrong)
    """Somebody stopped the work; what was finished is kept."""

    exit_code = 130


class BudgetSpent(Cancelled):
    """The budget of the benchmark does not hold its next call."""

    exit_code = 5

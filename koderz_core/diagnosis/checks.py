"""Everything that is looked at, in the order in which it is shown: adding a check is one function and one line here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from koderz_core.config import Settings
from koderz_core.diagnosis.findings import Diagnosis, Finding
from koderz_core.diagnosis.installation import datasets, disk, grader, keys, notices, ports, versions
from koderz_core.diagnosis.journals import journals
from koderz_core.models.availability import Availability
from koderz_core.records.plans import scripted

Check = Callable[[Settings], Iterable[Finding]]

SERVERS = ("models", "keys", "servers")
"""The areas that tell who can be asked."""


def diagnose(
    settings: Settings,
    surveyed: Iterable[Availability],
    version: str,
    *,
    whole_self_test: bool = False,
    unread: Collection[str] | None = None,
) -> Diagnosis:
    """Look at everything; ``surveyed``: the models as they were found; ``version``: koderz'. A fault is a finding.

    ``whole_self_test``: the grader's long one, some seconds, instead of the short one. ``unread``: as in ``journals``.
    """
    checks: tuple[Check, ...] = (
        partial(grader, whole=whole_self_test),
        datasets,
        disk,
        partial(journals, unread=unread),
        keys,
        notices,
        ports,
    )
    with ThreadPoolExecutor(len(checks), thread_name_prefix="diagnosis") as threads:
        found = list(threads.map(lambda check: tuple(check(settings)), checks))
    return Diagnosis((*versions(version), *(finding for findings in found for finding in findings), *models(surveyed)))


def models(surveyed: Iterable[Availability]) -> Iterator[Finding]:
    """Each model that can be asked, and why others cannot. At least one that is not scripted is needed."""
    rows = list(surveyed)
    real = [row for row in rows if not scripted([row.id])]
    for row in rows:
        yield Finding("models", row.id, "ready" if row.ready else "absent", row.reason, row.cure)
    if not any(row.ready for row in real):
        cure = next((row.cure for row in real if row.cure), "Set a key, or start a server of models")
        yield Finding("models", "any model", "missing", "only scripted ones can be asked", cure)

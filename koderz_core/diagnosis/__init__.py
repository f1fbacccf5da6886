"""A diagnosis of this installation: what is ready and what is missing.

All results come from checks, none from guesses. To add a check, write a function and add one line in ``diagnose``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from koderz_core.config import Settings
from koderz_core.diagnosis.findings import SIGNS, Diagnosis, Finding
from koderz_core.diagnosis.installation import datasets, disk, grader, keys, notices, versions
from koderz_core.diagnosis.journals import check_annotations, check_journals
from koderz_core.diagnosis.model_servers import addresses, ports
from koderz_core.models.availability import Availability
from koderz_core.records.plans import scripted

__all__ = ["SERVERS", "SIGNS", "Diagnosis", "Finding", "diagnose", "models"]

Check = Callable[[Settings], Iterable[Finding]]

SERVERS = ("models", "keys", "servers")
"""The areas that show which models can answer."""


def diagnose(
    settings: Settings,
    surveyed: Iterable[Availability],
    version: str,
    *,
    whole_self_test: bool = False,
    unread: Collection[str] | None = None,
) -> Diagnosis:
    """Run all checks. A fault is a finding, never an exception.

    ``surveyed``: the models and their availability; ``version``: that of koderz. ``whole_self_test``: run the grader's
    long self-test, which takes some seconds. ``unread``: as in ``check_journals``.
    """
    checks: tuple[Check, ...] = (
        partial(grader, whole=whole_self_test),
        datasets,
        disk,
        partial(check_journals, unread=unread),
        check_annotations,
        keys,
        notices,
        ports,
        addresses,
    )
    with ThreadPoolExecutor(len(checks), thread_name_prefix="diagnosis") as threads:
        results = list(threads.map(lambda check: tuple(check(settings)), checks))
    return Diagnosis((*versions(version), *(finding for result in results for finding in result), *models(surveyed)))


def models(surveyed: Iterable[Availability]) -> Iterator[Finding]:
    """Each model, and why it cannot answer if it cannot. At least one model that is not scripted is needed."""
    rows = list(surveyed)
    real = [row for row in rows if not scripted([row.id])]
    for row in rows:
        yield Finding("models", row.id, "ready" if row.ready else "absent", row.reason, row.cure)
    if not any(row.ready for row in real):
        cure = next((row.cure for row in real if row.cure), "Set the API key of a provider, or start a model server")
        yield Finding("models", "any model", "missing", "only scripted models can answer", cure)

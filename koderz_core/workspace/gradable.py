"""Whether problems can be graded here at all: what no program could pass is refused before a model is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from koderz_core.datasets.needed import require_libraries
from koderz_core.errors import DataError
from koderz_core.records import Problem, Verdict

_SHOWN = 5


def require_gradable(problems: Iterable[Problem], check: Callable[[Problem], Verdict]) -> None:
    """Raise DataError if problems that are about using modules cannot be graded here; the others pass unchecked.

    Programs are judged without files, network and other processes, so some such problems have no solution there.
    ``check`` runs the publisher's own.
    """
    chosen = [problem for problem in problems if problem.needs]
    require_libraries(chosen)
    failed = {problem.id: verdict.message for problem in chosen if not (verdict := check(problem)).passed}
    if not failed:
        return
    shown = "; ".join(f"{name} ({message[:120]})" for name, message in list(failed.items())[:_SHOWN])
    raise DataError(
        f"{len(failed)} of the chosen problems cannot be graded here, since even their publisher's solutions fail: "
        f"{shown}{'; …' if len(failed) > _SHOWN else ''}. Programs are judged without files, network and other "
        f"processes. Leave these out: {', '.join(failed)}."
    )

"""What problems need beyond Python itself: programs are judged with the standard library and nothing else."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from koderz_core.errors import DataError
from koderz_core.records import Problem

_SHOWN = 12


def lacking(problem: Problem) -> tuple[str, ...]:
    """The libraries it needs that no program can import where it is judged, installed or not."""
    return tuple(name for name in problem.needs if name not in sys.stdlib_module_names)


def require_libraries(problems: Sequence[Problem]) -> None:
    """Raise DataError, with the list, if some of these need what programs are judged without."""
    without = {problem.id: names for problem in problems if (names := lacking(problem))}
    if not without:
        return
    times = Counter(name for names in without.values() for name in names)
    listed = ", ".join(f"{name} ({number})" for name, number in times.most_common())
    raise DataError(
        f"{len(without)} of the {len(problems)} chosen problems need libraries that are not there: {listed}. Programs "
        f"are judged with Python's standard library alone, so pip install does not help. Leave these problems out: "
        f"{_some(list(without))}; `koderz list-problems` shows what each one needs."
    )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more

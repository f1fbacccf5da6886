"""A comparison that is computed once for as long as no journal says more, whatever else is chosen on the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from koderz_core import Workspace
from koderz_core.analysis.attempts import AttemptByAttempt
from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.difficulty import Difficulty
from koderz_core.analysis.incidence import Axis
from koderz_core.records.summaries import SummaryRow

MOST_KEPT = 8
MANY, LARGE = 500, 2500  # experiments


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of whom; ``state``: of the journals, as what was computed from an older one is out of date."""

    workspace: Workspace
    rows: Sequence[SummaryRow]
    state: str


def is_many(rows: Sequence[SummaryRow]) -> bool:
    """Whether comparing these takes a while in which a page is not to be empty: see ``pages.ui.waiting``."""
    return _planned(rows) > MANY


def is_large(rows: Sequence[SummaryRow]) -> bool:
    """Whether comparing these takes so long that its age is told."""
    return _planned(rows) > LARGE


def compared(
    workspace: Workspace, rows: Sequence[SummaryRow], baseline: str | None, axis: Axis | None = None
) -> Comparison:
    """These configurations held against ``baseline``, with the curves of one axis, None: of all."""
    return _compared(Asked(workspace, rows, workspace.results.state()), baseline, axis)


def attempts_of(workspace: Workspace, row: SummaryRow) -> AttemptByAttempt:
    """What a configuration did attempt by attempt."""
    return _attempts(Asked(workspace, [row], workspace.results.state()))


def difficulties_of(workspace: Workspace, rows: Sequence[SummaryRow]) -> tuple[Difficulty, ...]:
    """What came of every problem under these configurations, the hardest first."""
    return _difficulties(Asked(workspace, rows, workspace.results.state()))


def _planned(rows: Sequence[SummaryRow]) -> int:
    return sum(row.planned for row in rows)


def _known_by(asked: Asked) -> str:
    """The rows say what is asked, and what runs right now, which no journal tells."""
    return f"{asked.state} {asked.rows!r}"


# As resources, not as cached values: those would be pickled and copied at each rerun, and these records are frozen.
@st.cache_resource(max_entries=MOST_KEPT, show_spinner=False, hash_funcs={Asked: _known_by})
def _compared(asked: Asked, baseline: str | None, axis: Axis | None) -> Comparison:
    return asked.workspace.comparing.compare(asked.rows, baseline, [axis] if axis else None)


@st.cache_resource(max_entries=MOST_KEPT, show_spinner=False, hash_funcs={Asked: _known_by})
def _attempts(asked: Asked) -> AttemptByAttempt:
    (found,) = asked.workspace.comparing.attempts(asked.rows).values()
    return found


@st.cache_resource(max_entries=MOST_KEPT, show_spinner=False, hash_funcs={Asked: _known_by})
def _difficulties(asked: Asked) -> tuple[Difficulty, ...]:
    return asked.workspace.comparing.problems(asked.rows)

"""Slow results on a page: computed in the background, cached until the journals grow, with a placeholder until then.

Of very large comparisons the last result is shown with its age.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.analysis.attempts import AttemptByAttempt
from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.configurations import ConfigurationFigures
from koderz_core.analysis.configurations import figures_of as placed
from koderz_core.analysis.difficulty import Difficulty
from koderz_core.analysis.incidence import Axis
from koderz_core.records.progress import SummaryRow
from koderz_core.report.formats import count, duration, marked_rate, money
from koderz_core.times import local_second
from pages.ui.edge import edge
from pages.ui.tables import WORD_COLUMNS

COMPARISON_BEAT_SECONDS = 1.0
WHY = "Intervals, tests and curves are computed from every try: they come by themselves."
ONCE = f"{WHY} It is done once, in the background: you can leave this page meanwhile."
Answer = TypeVar("Answer")
PATIENCE_SECONDS = 0.15  # what is there by then is shown at once
PREPARATION_BEAT_SECONDS = 0.5
PREPARATION = "preparing"
WORKERS = ThreadPoolExecutor(1, PREPARATION)  # one thread for all: side by side all would be slower
MOST_KEPT = 8
MANY, LARGE = 500, 2500  # experiments


def answered(workspace: Workspace, rows: Sequence[SummaryRow], baseline: str | None) -> Comparison | None:
    """The comparison of many experiments, with all curves; None: it is still being computed, as the page then says."""
    if is_large(rows):
        return _awaited(workspace, rows, baseline)
    work = partial(compared, workspace, rows, baseline)
    return prepared(f"comparison of {_names(rows)}, {baseline}", work, partial(_show_begun, rows, WHY))


def sorted_out(workspace: Workspace, rows: Sequence[SummaryRow]) -> tuple[Difficulty, ...] | None:
    """``difficulties_of``; None: many experiments are still being read for it, as the page then says."""
    work = partial(difficulties_of, workspace, rows)
    if not is_large(rows):
        return work()
    why = "What came of each problem comes by itself."
    return prepared(f"problems of {_names(rows)}", work, partial(_show_begun, rows, why))


def _awaited(workspace: Workspace, rows: Sequence[SummaryRow], baseline: str | None) -> Comparison | None:
    """The newest comparison with its age above it; None: it is still being computed, as the page then says."""
    found = workspace.awaiting.comparison(rows, baseline)
    if found.since is not None or found.computed is None:  # it may have ended since it was begun
        _watch(workspace, rows, baseline)
    if found.computed is None:
        _show_known(rows, ONCE)
        return None
    said = f"As of {local_second(found.computed.at)}."
    if found.outdated and found.since is None:
        _offer_anew(workspace, rows, baseline, said)
    else:
        st.caption(said)
    return found.computed.answer


def _watch(workspace: Workspace, rows: Sequence[SummaryRow], baseline: str | None) -> None:
    """How long it has taken; the page is drawn anew when it has ended."""
    number = _number(rows)

    @st.fragment(run_every=COMPARISON_BEAT_SECONDS, key="being compared")
    def draw() -> None:
        with edge():
            since = workspace.awaiting.since(rows, baseline)
            if since is None:
                st.rerun()
            took = duration(max(0.0, round(time.time() - since)))
            st.info(f"{number} experiments are being compared, for {took} by now.", icon="⏳")

    draw()


def _show_begun(rows: Sequence[SummaryRow], why: str) -> None:
    """That they are being read; ``why`` that takes a moment, in our words."""
    st.info(f"{_number(rows)} experiments are being read.", icon="⏳")
    _show_known(rows, why)


def _show_known(rows: Sequence[SummaryRow], why: str) -> None:
    """What was counted already, experiment by experiment; a comparison lets each problem weigh the same."""
    st.text(why)
    known = [placed(row, at) for at, row in enumerate(rows)]
    table = pd.DataFrame([_line(one, row) for one, row in zip(known, rows, strict=True)])
    st.dataframe(table, hide_index=True, column_config=WORD_COLUMNS, alt="What is known of each configuration by now")


def _names(rows: Sequence[SummaryRow]) -> str:
    """What tells them from others, and from the same on other problems."""
    return " ".join(f"{row.benchmark}/{row.configuration} on {row.problem_set}" for row in rows)


def _number(rows: Sequence[SummaryRow]) -> str:
    return count(sum(row.planned for row in rows))


def _line(one: ConfigurationFigures, row: SummaryRow) -> dict[str, str]:
    share = row.solved / one.n if one.n else None
    return {
        " ": one.letter,
        "configuration": one.label,
        "solved, of experiments": f"{marked_rate(share, None, None, one.marks)} of {count(one.n)}",
        "planned": count(one.planned),
        "iterations": "–" if one.mean_iterations is None else f"{one.mean_iterations:.1f}",
        "$ each": money(one.cost_per_experiment_usd),
        "time each": duration(one.seconds_per_experiment),
    }


def _offer_anew(workspace: Workspace, rows: Sequence[SummaryRow], baseline: str | None, said: str) -> None:
    """Numbers that are looked at do not change by themselves: who wants what was said since asks for it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{said} The journals have said more since.")
        st.button("Compare anew", icon="🔁", on_click=workspace.awaiting.anew, args=[rows, baseline])


def prepared(name: str, work: Callable[[], Answer], meanwhile: Callable[[], None]) -> Answer | None:
    """What ``work`` comes to, which is not None; None: it goes on beside the page, of which ``meanwhile`` is drawn.

    The page is drawn anew when it has ended. ``name`` tells it from others. Once a session has had an answer it waits
    for later ones: a page that is full is not emptied for a moment. Raises what broke the work, which is tried again
    when it is asked for again.
    """
    # Any: what the name tells; None: it has been answered.
    begun: dict[str, Future[Any] | None] = st.session_state.setdefault(PREPARATION, {})
    if name not in begun:
        begun[name] = WORKERS.submit(work)
    future = begun[name]
    if future is None:
        return work()
    wait([future], PATIENCE_SECONDS)
    if not future.done():
        meanwhile()
        _await(future)
        return None
    del begun[name]
    answer: Answer = future.result()
    begun[name] = None
    return answer


def _await(future: Future[Any]) -> None:
    """Have the page drawn anew when it is done."""

    @st.fragment(run_every=PREPARATION_BEAT_SECONDS, key=PREPARATION)
    def look() -> None:
        with edge():
            if future.done():
                st.rerun()

    look()


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of whom; ``state``: of the journals, as what was computed from an older one is out of date."""

    workspace: Workspace
    rows: Sequence[SummaryRow]
    state: str


def is_many(rows: Sequence[SummaryRow]) -> bool:
    """Whether comparing these takes a while in which a page is not to be empty."""
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

"""Slow results on a page: computed in the background, cached until the journals grow, with a placeholder until then.

A very large comparison shows its last result, with its age.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.records.progress import SummaryRow
from koderz_core.report.formats import count, duration, marked_rate, money
from koderz_core.times import local_second
from koderz_core.workspace.comparisons import AXES, Axis, Comparison, ConfigurationFigures, Difficulty
from koderz_core.workspace.names import figures_of as counted
from pages.ui.edge import redrawn
from pages.ui.tables import WORD_COLUMNS

COMPARISON_BEAT_SECONDS = 1.0
COMPUTED = (
    "koderz is computing intervals, significance tests and curves from all iterations. The results appear "
    "automatically."
)
ONCE = f"{COMPUTED} The computation runs once, in the background; you can leave this page meanwhile."
Answer = TypeVar("Answer")
WAIT_SECONDS = 0.15  # a result that is ready within this time needs no placeholder
FRESH_SECONDS = 60.0  # a page is redrawn sooner after the end of the work, unless the user has left it
PREPARATION_BEAT_SECONDS = 0.5
PREPARATION = "preparing"
WORKERS = ThreadPoolExecutor(1, PREPARATION)  # one thread: several at once would all be slower
MOST_KEPT = 24  # results
MANY, LARGE = 500, 2500  # experiments


def awaited_comparison(workspace: Workspace, rows: Sequence[SummaryRow], baseline: str | None) -> Comparison | None:
    """The comparison of many experiments with all curves; None while it is computed behind a placeholder."""
    if _planned(rows) > LARGE:
        return _last_comparison(workspace, rows, baseline)
    work = partial(comparison_of, workspace, rows, baseline)
    return prepare(f"comparison of {names_of(rows)}, {baseline}", work, partial(_show_loading, rows, COMPUTED))


def glimpsed_comparison(workspace: Workspace, rows: Sequence[SummaryRow]) -> Comparison | None:
    """The comparison of a page that shows only its picture; None while it is computed behind a line of text."""
    if not is_many(rows):
        return comparison_of(workspace, rows, None, AXES[0])
    return prepare(f"picture of {names_of(rows)}", partial(comparison_of, workspace, rows, None), _show_drawing)


def awaited_problems(workspace: Workspace, rows: Sequence[SummaryRow]) -> tuple[Difficulty, ...] | None:
    """The problems with their outcomes, hardest first; None while many experiments are read behind a placeholder."""
    work = partial(cached, workspace, rows, workspace.comparisons.problems)
    if _planned(rows) <= LARGE:
        return work()
    why = "The outcome of each problem appears here automatically."
    return prepare(f"problems of {names_of(rows)}", work, partial(_show_loading, rows, why))


def _last_comparison(workspace: Workspace, rows: Sequence[SummaryRow], baseline: str | None) -> Comparison | None:
    """The last computed comparison, with its age above it; None while the first one is computed."""
    last = workspace.background.comparison(rows, baseline)
    if last.since is not None or last.computed is None:  # the computation may have ended meanwhile
        _show_duration(workspace, rows, baseline)
    if last.computed is None:
        _show_counts(rows, ONCE)
        return None
    age = f"Results as of {local_second(last.computed.at)}."
    if last.outdated and last.since is None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{age} New results have arrived since then.")  # visible numbers do not change on their own
            st.button("Compare again", icon="🔁", on_click=workspace.background.anew, args=[rows, baseline])
    else:
        st.caption(age)
    return last.computed.answer


def _show_duration(workspace: Workspace, rows: Sequence[SummaryRow], baseline: str | None) -> None:
    """The time that the computation has taken so far; the page is redrawn at its end."""
    number = _number(rows)

    def draw() -> None:
        since = workspace.background.since(rows, baseline)
        if since is None:
            st.rerun()
        took = duration(max(0.0, round(time.time() - since)))
        st.info(f"Comparing {number} experiments ({took} elapsed) …", icon="⏳")

    redrawn("being compared", draw, COMPARISON_BEAT_SECONDS)


def _show_drawing() -> None:
    st.caption("The chart of cost against success appears here automatically.")


def _show_loading(rows: Sequence[SummaryRow], why: str) -> None:
    """A placeholder; ``why`` it takes a moment, in our words."""
    st.info(f"Loading {_number(rows)} experiments …", icon="⏳")
    _show_counts(rows, why)


def _show_counts(rows: Sequence[SummaryRow], why: str) -> None:
    """The counts so far, with equal weight for experiments; a comparison gives equal weight to problems."""
    st.text(why)
    table = pd.DataFrame([_line(counted(row, place), row) for place, row in enumerate(rows)])
    st.dataframe(table, hide_index=True, column_config=WORD_COLUMNS, alt="Results of each configuration so far")


def names_of(rows: Sequence[SummaryRow]) -> str:
    """A name for the configurations together with their problems."""
    return " ".join(f"{row.benchmark}/{row.configuration} on {row.problem_set}" for row in rows)


def _number(rows: Sequence[SummaryRow]) -> str:
    return count(sum(row.planned for row in rows))


def _line(counts: ConfigurationFigures, row: SummaryRow) -> dict[str, str]:
    share = row.solved / counts.n if counts.n else None
    return {
        "key": counts.letter,
        "configuration": counts.label,
        "experiments solved": f"{marked_rate(share, None, None, counts.marks)} of {count(counts.n)}",
        "planned": count(counts.planned),
        "iterations": "–" if counts.mean_iterations is None else f"{counts.mean_iterations:.1f}",
        "mean $": money(counts.cost_per_experiment_usd),
        "mean time": duration(counts.seconds_per_experiment),
    }


@dataclass(slots=True)
class _Preparation:
    """Work in the background. ``ended_at``: by the monotonic clock, in seconds."""

    future: Future[Any]  # Any: the result has the type that belongs to the name of the preparation
    ended_at: float = math.inf

    def end(self, _future: object) -> None:
        self.ended_at = time.monotonic()

    def is_fresh(self) -> bool:
        return time.monotonic() - self.ended_at <= FRESH_SECONDS


def _begun(work: Callable[[], object]) -> _Preparation:
    begun = _Preparation(WORKERS.submit(work))
    begun.future.add_done_callback(begun.end)
    return begun


def prepare(name: str, work: Callable[[], Answer], placeholder: Callable[[], None]) -> Answer | None:
    """The result of ``work``, which is not None; None while it runs in the background and ``placeholder`` is shown.

    The page is redrawn when the work has ended. ``name`` is unique. After the first result of a session, later ones are
    computed at once, so that a full page is never emptied for a moment. Raises the error of the work, which starts
    again with the next call. A result that ended while the user was elsewhere is computed again.
    """
    # None: a first result was returned.
    started: dict[str, _Preparation | None] = st.session_state.setdefault(PREPARATION, {})
    begun = started.get(name)
    if name not in started or (begun and not begun.is_fresh()):
        begun = started[name] = _begun(work)
    if begun is None:
        return work()
    wait([begun.future], WAIT_SECONDS)
    if not begun.future.done():
        placeholder()
        _redraw_after(begun.future)
        return None
    del started[name]
    answer: Answer = begun.future.result()
    started[name] = None
    return answer


def _redraw_after(future: Future[Any]) -> None:
    def look() -> None:
        if future.done():
            st.rerun()

    redrawn(PREPARATION, look, PREPARATION_BEAT_SECONDS)


def is_many(rows: Sequence[SummaryRow]) -> bool:
    """Whether comparing these takes long enough for a placeholder."""
    return _planned(rows) > MANY


def comparison_of(
    workspace: Workspace, rows: Sequence[SummaryRow], baseline: str | None, axis: Axis | None = None
) -> Comparison:
    """The comparison of these configurations with ``baseline``, with the curves of one axis (None: of all axes)."""
    return cached(workspace, rows, workspace.comparisons.compare, baseline, [axis] if axis else None)


def cached(
    workspace: Workspace,
    rows: Sequence[SummaryRow],
    service: Callable[..., Answer],  # a method of the workspace, whose first parameter are rows
    *arguments: object,
    **options: object,
) -> Answer:
    """The result of a service for these rows, cached until the journals grow or a missing dataset is downloaded."""
    # The rows are part of the key because they also hold what runs now, which no journal records.
    state = f"{workspace.results.state()} {workspace.datasets.missing(row.dataset for row in rows)}"
    key = f"{state} {service.__qualname__} {rows!r} {arguments!r} {options!r}"
    answer: Answer = _cached(key, partial(service, rows, *arguments, **options))
    return answer


# Cached as resources: cached data would be pickled and copied at each rerun, and these records are frozen.
@st.cache_resource(max_entries=MOST_KEPT, show_spinner=False)
def _cached(key: str, _work: Callable[[], object]) -> Any:  # noqa: ARG001 (of the cache). Any: the type that the key has
    return _work()


def _planned(rows: Sequence[SummaryRow]) -> int:
    return sum(row.planned for row in rows)

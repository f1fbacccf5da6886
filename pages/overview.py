"""Home: the results of the chosen benchmarks, unfinished benchmarks, and all benchmarks with totals."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import BenchmarkRow
from koderz_core.report.comparison import glance_table
from koderz_core.report.findings import remarks, untested
from koderz_core.report.formats import STATES, count, money, numbered
from koderz_core.report.status import marked_state, state
from koderz_core.workspace.upkeep import how_to_remove
from pages.ui.address import BENCHMARKS, link
from pages.ui.comparison import answer_of, show_headline
from pages.ui.edge import edge, show_failure
from pages.ui.frame import Page, offer_first_steps, open_page, show_facts, show_isolation, show_remarks
from pages.ui.frontier import about_picture, show_frontier, why_without_costs
from pages.ui.launch_plan import clone_link
from pages.ui.pickers import choose_in_table
from pages.ui.run_controls import POLL_SECONDS, is_resumable, is_retryable, offer_retry, reader_of
from pages.ui.shell import PAGES
from pages.ui.slow_results import LARGE, glimpsed_comparison
from pages.ui.status import show_causes
from pages.ui.tables import frame, tall
from pages.ui.text import called

ABOUT = "Can cheap models with many attempts match an expensive model? At what cost, and with what certainty?"
GLANCE_COLUMNS = {"configuration": st.column_config.TextColumn(width=230)}  # leaves room for the rate on a phone
PLACE, MOST_ERRORS = "overview", 500  # experiments whose causes of failure are counted
SCRIPTED = "Include scripted models"
ALL_SCRIPTED = "All benchmarks in this data folder use scripted models. Their results say nothing about real models."
ABOUT_SCRIPTED = (
    "By default the totals exclude scripted models (mock mode), whose results say nothing about real models."
)


def main() -> None:
    page = open_page("overview", ABOUT)
    rows = page.benchmarks
    if not rows:
        _empty(page.workspace)
        return
    _show_unfinished(rows)
    _results(page)
    st.header("Benchmarks")
    _show_totals(page)
    choose_in_table(rows, page.chosen)
    for fault in page.workspace.results.faults:
        st.warning("A journal could not be read completely.", icon="⚠️")
        st.text(fault)


def _empty(workspace: Workspace) -> None:
    st.header("No benchmark has been run yet")
    st.write(
        "A benchmark runs strategies with models on coding problems and records every prompt, answer, test result and "
        "cost. The quick look is a benchmark on three problems and takes a few minutes."
    )
    offer_first_steps(workspace, "Run the quick look", preset="quick look")
    st.caption("In a terminal, use these commands:")
    st.code("koderz example\nkoderz quickstart", language="bash")


def _show_totals(page: Page) -> None:
    """Totals over all benchmarks, which change while one is running; scripted models count only on request."""
    rows, figures = page.benchmarks, st.container()
    now = reader_of(rows, page.workspace)
    by_script = any(row.scripted for row in rows) and st.toggle(SCRIPTED, key="with scripted", help=ABOUT_SCRIPTED)
    with figures:
        every = POLL_SECONDS if any(row.state == "running" for row in rows) else None
        st.fragment(lambda: _figures(now(), with_scripted=by_script), run_every=every)()


def _figures(rows: Sequence[BenchmarkRow], *, with_scripted: bool) -> None:
    """Totals over all benchmarks; scripted models count only on request."""
    running = sum(row.running for row in rows)
    unknown = sum(row.cost_usd is None for row in rows)
    spent = sum(row.cost_usd or 0.0 for row in rows)
    results = sum(row.solved + row.unsolved - (0 if with_scripted else row.scripted_results) for row in rows)
    failures = sum(row.errors + row.cancelled - (0 if with_scripted else row.scripted_failures) for row in rows)
    show_facts(
        {
            "experiments running now": count(running),
            "experiments with a result": count(results),
            "experiments without a result": count(failures),
            "spent" + (f" (without {numbered(unknown, 'benchmark')} of unknown cost)" if unknown else ""): money(spent),
        }
    )


def _show_unfinished(rows: Sequence[BenchmarkRow]) -> None:
    """Links to benchmarks that can be resumed, or whose errors can be retried."""
    for row in [row for row in rows if is_resumable(row) or is_retryable(row)][:3]:
        left = f"{STATES[row.state]} with {row.left} of {row.planned} experiments left"
        left = left if is_resumable(row) else marked_state(row)
        with st.container(horizontal=True, vertical_alignment="center"):
            link("live", left, "⏯️", **{BENCHMARKS: row.id})
            st.text(called(row))


def _results(page: Page) -> None:
    """The results of the chosen benchmarks in sentences, in a picture and in a table."""
    workspace, chosen = page.workspace, page.chosen
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(" + ".join(map(called, chosen)), width="content")
        link("compare", "Summary", PAGES["compare"].icon)
        for row in chosen[:1]:
            clone_link(row)
    if all(row.scripted for row in page.benchmarks):
        st.info(ALL_SCRIPTED, icon="🎭")
    summaries = workspace.results.reached(workspace.results.summaries([row.id for row in chosen]))
    for row in chosen:
        if row.errors and not row.under_way:
            _errors(workspace, row)
    _picture(workspace, summaries, page.benchmarks)
    table = glance_table(summaries)
    height = tall(len(table.rows))
    st.dataframe(frame(table), hide_index=True, column_config=GLANCE_COLUMNS, height=height, alt=table.title)
    show_remarks((*remarks(summaries), *untested(summaries), *filter(None, (how_to_remove(row.id) for row in chosen))))
    for row in chosen[:1]:
        show_isolation(row.isolation, row.self_test)


def _picture(workspace: Workspace, summaries: Sequence[SummaryRow], rows: Sequence[BenchmarkRow]) -> None:
    """Cost against success, if costs are known; else one line that says why it is missing."""
    if not any(row.cost_usd for row in summaries):
        st.caption(f"The chart of cost against success is missing, because {why_without_costs(summaries)}.")
    elif (number := sum(row.planned for row in summaries)) > LARGE:
        st.caption(f"The Summary page shows the chart of cost against success of these {count(number)} experiments.")
    elif comparison := glimpsed_comparison(workspace, summaries):
        show_headline(answer_of(comparison))
        show_frontier(comparison, about_picture(comparison, summaries, rows))


def _errors(workspace: Workspace, row: BenchmarkRow) -> None:
    """The causes of missing results, and the button that runs those experiments again."""
    st.warning(f"{state(row).capitalize()}.", icon="⚠️")
    show_causes(workspace.results.experiments(row.id, outcome="error", limit=MOST_ERRORS))
    show_failure(f"{PLACE} {row.id}")
    offer_retry(workspace, row, PLACE)


with edge():
    main()

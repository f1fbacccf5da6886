"""The result of one program on one test set: every test, and the failed tests with their sources and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import dedent

import streamlit as st

from koderz_core.records import TestFailure, Verdict
from koderz_core.records.rows import IterationRow
from koderz_core.report.formats import SHARED, numbered, one_line
from koderz_core.report.problems import LINE_END, MEANINGS, case_of, name_of
from pages.ui.tables import TEST_COLUMNS, TEST_MARKS, verdict_table
from pages.ui.text import show_text

MOST_FAILURES = 10  # in full; the table has one line for each test that ran
MOST_MARKS = 100  # in a line
FEW = 2  # failed tests of a repository, whose sources are long
NO_NAMES: Mapping[int, str] = {}


def show_verdict(kind: str, verdict: IterationRow | Verdict) -> None:
    """Show the tests of a program; ``kind``: gate or held-out."""
    show_head(kind, verdict)
    if verdict.tests_total <= MOST_MARKS:
        st.text(" ".join(TEST_MARKS[mark] for mark in verdict.marks))
    if verdict.marks.strip("-"):
        st.dataframe(verdict_table(verdict), hide_index=True, column_config=TEST_COLUMNS, alt=f"The {kind} tests")
    show_failures(kind, verdict.failures)


def show_head(kind: str, verdict: IterationRow | Verdict) -> None:
    """Show how many tests passed, and what else is known of a verdict as a whole."""
    failed = f" · first failure: {verdict.error}" if verdict.error else ""
    st.text(f"{verdict.tests_passed}/{verdict.tests_total} {kind} tests passed{failed}")
    if verdict.error and (meaning := MEANINGS.get(verdict.error)):
        st.text(meaning)
    if skipped := verdict.marks.count("-"):
        st.text(f"Not run: {numbered(skipped, 'test')}.")
    if verdict.shared:
        st.caption(f"⚠ {SHARED}.")
    if verdict.message:
        show_text(verdict.message, f"{kind}-message")


def show_failures(kind: str, failures: Sequence[TestFailure], names: Mapping[int, str] = NO_NAMES) -> None:
    """Show the failed tests in full; ``names`` by index, if the tests are those of a repository.

    Tests that do not fit into the table are open from the start, of a repository only if they are few.
    """
    if not failures:
        return
    shown = failures[:MOST_FAILURES]
    long = any("\n" in failure.source or case_of(failure) for failure in shown)
    open_first = long and (not names or len(shown) <= FEW)
    with st.expander(f"Failed {kind} tests in full", icon="🔎", expanded=open_first):
        if any(map(case_of, shown)):
            st.caption(f"{LINE_END} marks the end of a line.")
        for failure in shown:
            _show_failure(kind, failure, names.get(failure.index))
        if len(shown) < len(failures):
            st.caption(f"Only the first {len(shown)} of {numbered(len(failures), 'failed test')} are shown.")


def _show_failure(kind: str, failure: TestFailure, known: str | None) -> None:
    name, case = f"{kind}-{failure.index + 1}", case_of(failure)
    if case:
        st.text(f"Test {failure.index + 1}: input")
        show_text(case.given, f"{name}-input")
        texts = {"expected": case.expected, "actual": case.actual}
    else:
        st.text(f"Test {failure.index + 1}: {one_line(known or name_of(failure))}")
        show_text(_source(failure), f"{name}-source", "python")
        values = {"expected": failure.expected, "actual": failure.actual, "message": failure.message}
        texts = {label: text for label, text in values.items() if text}
    for column, (label, text) in zip(st.columns(len(texts)) if texts else (), texts.items(), strict=True):
        with column:
            st.caption(label)
            show_text(text, f"{name}-{label}")


def _source(failure: TestFailure) -> str:
    """The source of a test, without the line that names a test method."""
    head, _, rest = failure.source.partition("\n")
    return dedent(rest) if rest and head.endswith(":") and not head.startswith("assert") else failure.source

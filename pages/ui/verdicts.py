"""The results of a program: every test of a set, failed tests in full, and those of a repository before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import dedent

import streamlit as st

from koderz_core.records import TestFailure, Verdict
from koderz_core.records.rows import IterationRow
from koderz_core.report.formats import SHARED, numbered, one_line
from koderz_core.report.problems import LINE_END, MEANINGS, case_of, name_of
from koderz_core.report.repository_tests import (
    LEGEND,
    RepositoryTests,
    TestChange,
    Tested,
    changes_of_tests,
    changes_table,
    figures,
    history_table,
)
from pages.ui.frame import show_facts
from pages.ui.tables import TEST_COLUMNS, TEST_MARKS, show_words, verdict_table
from pages.ui.text import show_text

MOST_FAILURES = 10  # in full; the table has one line for each test that ran
MOST_MARKS = 100  # in a line
FEW = 2  # failed tests of a repository, whose sources are long
NO_NAMES: Mapping[int, str] = {}
FEWEST_ITERATIONS = 2  # with a history


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


def show_test_changes(
    tests: RepositoryTests, gate: Tested | None, held_out: Tested | None, iterations: Sequence[IterationRow]
) -> None:
    """Show the verdicts on a patch, and the course of the gate tests over the ``iterations`` of its experiment.

    Verdicts on other tests than the task has now are shown as for other programs.
    """
    verdicts = [(kind, verdict) for kind, verdict in (("gate", gate), ("held-out", held_out)) if verdict is not None]
    changes = changes_of_tests(tests, gate, held_out)
    if not changes:
        for kind, verdict in verdicts:
            show_verdict(kind, verdict)
        return
    show_facts(figures(changes))
    for kind, verdict in verdicts:
        show_head(kind, verdict)
    st.caption(LEGEND)
    _show_group("Failing tests that must pass", [change for change in changes if change.failing])
    kept = [change for change in changes if not change.failing]
    broken = [change for change in kept if change.changed]
    _show_group("Tests that passed at the start and do not pass with this patch", broken)
    _show_unchanged([change for change in kept if not change.changed])
    _show_history(tests, iterations)
    for kind, verdict in verdicts:
        show_failures(kind, verdict.failures, _names(kind, changes))


def _show_history(tests: RepositoryTests, iterations: Sequence[IterationRow]) -> None:
    """Show the gate tests from iteration to iteration, if there are several."""
    table = history_table(tests, iterations)
    if table.rows and len(iterations) >= FEWEST_ITERATIONS:
        st.text(f"{table.title}. The table omits gate tests that passed at the start and in each iteration.")
        show_words(table)


def _names(kind: str, changes: Sequence[TestChange]) -> dict[int, str]:
    """The ids of failed tests, by their indices in the verdict."""
    return {change.failure.index: change.id for change in changes if change.failure and change.kind == kind}


def _show_group(title: str, changes: Sequence[TestChange]) -> None:
    if changes:
        st.text(f"{title}: {len(changes)}")
        show_words(changes_table(title, changes))


def _show_unchanged(changes: Sequence[TestChange]) -> None:
    """The tests that pass as before, folded."""
    if not changes:
        return
    files = len({change.file for change in changes})
    with st.expander(f"Tests that still pass: {len(changes)}, in {numbered(files, 'file')}", key="kept tests"):
        show_words(changes_table("Tests that still pass", changes))

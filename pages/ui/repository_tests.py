"""The tests of a repository task before and after a patch: figures, tables by file, and failed tests in full."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core.records.rows import IterationRow
from koderz_core.report.formats import numbered
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
from pages.ui.tables import show_words
from pages.ui.verdicts import show_failures, show_head, show_verdict

FEWEST_ITERATIONS = 2  # with a history


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

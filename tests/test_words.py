"""Texts that a user reads hold no phrase that docs/style.md forbids."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from sentences import Sentence, faults, forbidden, guides, sources  # noqa: E402

NOT_YET = """
docs/architecture.md
koderz_core/bundles/archive.py
koderz_core/bundles/bug_report.py
koderz_core/bundles/checks.py
koderz_core/bundles/redaction.py
koderz_core/conditions.py
koderz_core/config.py
koderz_core/datasets/bigcodebench.py
koderz_core/datasets/humaneval.py
koderz_core/datasets/lines.py
koderz_core/datasets/own_checks.py
koderz_core/datasets/own_format.py
koderz_core/datasets/sources.py
koderz_core/datasets/own_problems.py
koderz_core/diagnosis/installation.py
koderz_core/diagnosis/journals.py
koderz_core/report/attempts.py
koderz_core/report/configuration_columns.py
koderz_core/report/dictionary.py
koderz_core/report/dump.py
koderz_core/report/findings.py
koderz_core/report/formats.py
koderz_core/report/pair_columns.py
koderz_core/report/specs.py
koderz_core/report/status.py
koderz_core/report/supervision.py
koderz_core/grading/canonical.py
koderz_core/grading/gates.py
koderz_core/grading/grader.py
koderz_core/grading/test_split.py
koderz_core/grading/testsets.py
koderz_core/grading/own_tests.py
koderz_core/journal/__init__.py
koderz_core/journal/checking.py
koderz_core/journal/lock.py
koderz_core/memory/client.py
koderz_core/memory/ledger.py
koderz_core/memory/lessons.py
koderz_core/models/served_models.py
koderz_core/models/provider.py
koderz_core/models/models_file.py
koderz_core/notices/delivery.py
koderz_core/plan/clone.py
koderz_core/plan/command_line.py
koderz_core/plan/order.py
koderz_core/plan/strategy_files.py
koderz_core/runner/budget.py
koderz_core/runner/control.py
koderz_core/runner/workers.py
koderz_core/runner/header.py
koderz_core/runner/history.py
koderz_core/runner/recorder.py
koderz_core/runner/session.py
koderz_core/sandbox/judge.py
koderz_core/sandbox/local_judge.py
koderz_core/sandbox/requests.py
koderz_core/sandbox/selftest_programs.py
koderz_core/settings_text.py
koderz_core/similarity/__init__.py
koderz_core/store/connection.py
koderz_core/store/refresh.py
koderz_core/store/store.py
koderz_core/store/trials.py
koderz_core/strategies/beam.py
koderz_core/strategies/ladder.py
koderz_core/strategies/outside.py
koderz_core/strategies/reminders.py
koderz_core/strategies/supervised.py
koderz_core/strategies/tree.py
koderz_core/upkeep/journal_repair.py
koderz_core/upkeep/restore.py
koderz_core/workspace/remembering.py
koderz_core/workspace/upkeep.py
pages/memory.py
pages/models.py
pages/problems.py
pages/ui/experiment_pair.py
pages/ui/bundles.py
pages/ui/live_view.py
pages/ui/launch_form.py
pages/ui/edge.py
pages/ui/exposure.py
pages/ui/memories.py
pages/ui/run_controls.py
pages/ui/steps.py
pages/ui/slow_results.py
pages/ui/experiment_head.py
"""
"""Files that still hold forbidden phrases. Remove a file here once it is rewritten; never add one."""


def found() -> dict[str, list[str]]:
    by_file: dict[str, list[str]] = {}
    for sentence, phrase in faults([*guides(), *sources()]):
        by_file.setdefault(sentence.file, []).append(f"{sentence} [{phrase}]")
    return by_file


def test_no_text_holds_a_forbidden_phrase_and_rewritten_files_leave_the_list() -> None:
    by_file, not_yet = found(), set(NOT_YET.split())
    new = [fault for file, of_file in by_file.items() if file not in not_yet for fault in of_file]
    assert not new, "Write these in other words (docs/style.md):\n" + "\n".join(new)
    assert not_yet - set(by_file) == set(), "These files are rewritten or gone: remove them from NOT_YET."


def test_the_strings_of_commands_pages_errors_settings_and_strategies_are_searched() -> None:
    files = {sentence.file for sentence in sources()}
    assert {"koderz_core/cli/benchmark.py", "koderz_core/config.py", "pages/launch.py"} <= files
    assert len({file for file in files if file.startswith("koderz_core/strategies/")}) > 10


@pytest.mark.parametrize("text", ["It is no file.", "Is  no\nfile: `x`", "A model is TOLD of it."])
def test_a_forbidden_phrase_is_found_in_any_case_and_across_lines(text: str) -> None:
    assert list(faults([Sentence("README.md", 1, text)]))


@pytest.mark.parametrize("text", ["There is no file.", "It prints `is no file`.", "It is noted.", "No file is untold."])
def test_what_only_looks_like_a_forbidden_phrase_is_allowed(text: str) -> None:
    assert len(forbidden()) > 30
    assert not list(faults([Sentence("README.md", 1, text)]))

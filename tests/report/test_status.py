"""Where a benchmark stands, in words: state, freshness, what was changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koderz_core.records import Allowance
from koderz_core.records.progress import AllowanceChange, BenchmarkProgress
from koderz_core.records.rows import BenchmarkRow
from koderz_core.report.status import (
    ago,
    at_work,
    beat_seconds,
    benchmark_remark,
    changed,
    freshness,
    marked_state,
    spent,
    state,
)

NOW = 1_700_000_000.0
COUNTS = dict.fromkeys(("finished", "solved", "unsolved", "cancelled", "errors", "iterations", "calls", "unpriced"), 0)
ROW = BenchmarkRow(
    **COUNTS, id="bench_1", name="", dataset="d", problems=1, configurations=1, models=(), scripted=False,
    opened_at=0.0, closed_reason=None, state="running", holder=71, planned=2, running=1, cost_usd=0.12, seconds=1.0,
    isolation="hardened", budget_usd=2.5, concurrency=4,
)  # fmt: skip
PROGRESS = BenchmarkProgress(ROW, (), (), None, at=NOW, news_at=NOW)


@pytest.mark.parametrize(
    ("read", "news", "told"),
    [
        (2, 3, ("info", "Updated 2 s ago · newest event 3 s ago")),
        (0, 185, ("warning", "No call or test has been completed for 3 min; process 71 is still running.")),
        (35, 36, ("warning", "Stale: the results cannot be read now. The page shows results from 35 s ago.")),
    ],
)
def test_it_is_said_how_old_what_is_shown_is(read: int, news: int, told: tuple[str, str]) -> None:
    remark = freshness(replace(PROGRESS, at=NOW - read, news_at=NOW - news), NOW)
    assert (remark.tone, remark.text) == told


@pytest.mark.parametrize(
    ("heard", "here", "told"),
    [
        (3, True, ("info", "Updated under 1 s ago · newest text 3 s ago")),
        (90, True, ("warning", "No call or test has been completed for 90 s; process 71 is still running.")),
        (None, False, ("info", "No call or test has been completed for 3 min; process 71 is still running.")),
    ],
)
def test_text_is_news_and_silence_of_another_process_is_no_warning(
    heard: int | None, here: bool, told: tuple[str, str]
) -> None:
    heard_at = None if heard is None else NOW - heard
    remark = freshness(replace(PROGRESS, news_at=NOW - 185), NOW, heard_at, here=here)
    assert (remark.tone, remark.text) == told


def test_an_end_with_errors_is_called_so() -> None:
    ended = replace(ROW, state="finished", holder=None, errors=4, planned=8)
    assert (state(ended), marked_state(ended)) == ("finished with 4 errors", "! finished with 4 errors")
    assert state(replace(ROW, errors=4)) == "running"
    assert state(replace(ended, planned=4)) == "ended without a result: 4 errors"
    remark = benchmark_remark(replace(PROGRESS, benchmark=ended))
    assert remark is not None
    assert (remark.tone, remark.text.split(".")[0]) == ("warning", "Finished with 4 errors")
    assert remark.text.endswith("so all rates exclude them. Fix the cause, then retry these experiments.")
    imported = benchmark_remark(replace(PROGRESS, benchmark=replace(ended, imported="results.jsonl")))
    assert imported is not None
    assert imported.text.endswith("so all rates exclude them.")


def test_what_is_paused_may_be_quiet_and_what_is_large_is_read_less_often() -> None:
    paused = replace(PROGRESS, benchmark=replace(ROW, state="paused"), news_at=NOW - 900)
    assert freshness(paused, NOW).text == "Updated under 1 s ago · newest event 15 min ago"
    assert (beat_seconds(ROW), beat_seconds(replace(ROW, planned=10_001)), beat_seconds(None)) == (2.0, 5.0, 2.0)


@pytest.mark.parametrize("state", ["queued", "paused", "stopping", "stopped", "interrupted"])
def test_a_state_that_asks_for_something_says_what(state: str) -> None:
    remark = benchmark_remark(replace(PROGRESS, benchmark=replace(ROW, state=state)))
    assert remark is not None
    assert remark.text.startswith(("Queued", "Paused", "Stopping", "Stopped", "Interrupted"))


def test_what_is_spent_and_at_work_stands_beside_what_may_be() -> None:
    assert (spent(ROW), at_work(ROW)) == ("$0.12 of $2.50", "1 of 4")
    assert (spent(replace(ROW, budget_usd=None)), at_work(replace(ROW, concurrency=None))) == ("$0.12", "1")


def test_a_change_says_when_what_and_who() -> None:
    change = AllowanceChange(NOW, 71, Allowance(None, 4), Allowance(2.5, 2))
    assert changed(change) == "2023-11-14 22:13:20 UTC: budget none → $2.50, concurrency 4 → 2 (process 71)"


def test_ages_are_told_in_whole_units() -> None:
    assert [ago(seconds) for seconds in (0.4, 119, 120, 7199, 7200, 200_000)] == [
        *("under 1 s ago", "119 s ago", "2 min ago", "119 min ago", "2 h ago", "2 days ago"),
    ]

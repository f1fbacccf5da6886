"""The runner: what an experiment's events say, how it ends, and that nothing is asked twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from koderz_core.errors import JournalError, ModelError, PlanError
from koderz_core.events import (
    CallFailed,
    CallStarted,
    CandidateScored,
    CodeTested,
    Entry,
    ExperimentFinished,
)
from koderz_core.prompts.extraction import candidate
from koderz_core.protocols import Context
from koderz_core.records import Request, TestFailure, Verdict
from koderz_core.runner.recorder import Redactor
from koderz_core.strategies import STRATEGIES, facts_of
from koderz_core.strategies.direct import Direct

RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
WRONG = "```python\ndef add(a, b):\n    return a - b\n```"
Make = Callable[..., Any]  # Any: Bench of conftest.py, which a test module cannot import


def of(entries: list[Entry], kind: type) -> list[Any]:
    return [entry.event for entry in entries if isinstance(entry.event, kind)]


def third_time_right() -> Callable[[Request], str]:
    programs = iter([WRONG, "No idea.", RIGHT])
    return lambda request: next(programs) if asks_for_code(request) else "Think again."


def asks_for_code(request: Request) -> bool:
    return request.messages[0].role == "system"


def test_direct_is_scored_on_tests_it_never_saw(bench: Make) -> None:
    made = bench(lambda _: RIGHT)
    made.go()
    entries = made.entries()
    (finished,), (scored,) = of(entries, ExperimentFinished), of(entries, CandidateScored)
    assert (finished.outcome, finished.score_kind, finished.reason) == ("solved", "held_out", "iterations")
    assert scored.gate is None
    assert scored.held_out.passed
    assert not of(entries, CodeTested)


def test_supervised_stops_on_the_gate_and_its_score_is_an_oracles(bench: Make) -> None:
    made = bench(third_time_right(), "supervised", spec=False, checkpoints=False, max_iterations=9)
    made.go()
    tested, (finished,) = of(made.entries(), CodeTested), of(made.entries(), ExperimentFinished)
    assert [(test.iteration, test.verdict.error) for test in tested] == [(1, "assertion"), (2, "extraction"), (3, None)]
    assert (finished.outcome, finished.score_kind, finished.reason) == ("solved", "oracle", "gate")
    assert len(of(made.entries(), CandidateScored)) == 2


def test_the_best_candidate_is_handed_in_when_none_passes(bench: Make) -> None:
    made = bench(lambda _: WRONG, "supervised", spec=False, checkpoints=False, max_iterations=2)
    made.go()
    (finished,) = of(made.entries(), ExperimentFinished)
    assert (finished.outcome, finished.reason) == ("unsolved", "iterations")
    assert finished.code is not None


def test_no_program_at_all_is_giving_up(bench: Make) -> None:
    made = bench(lambda _: "I would rather not.")
    made.go()
    (finished,) = of(made.entries(), ExperimentFinished)
    assert (finished.outcome, finished.reason, finished.failure) == ("unsolved", "gave_up", "extraction")


def test_a_reply_cut_at_its_token_limit_is_called_truncated(bench: Make) -> None:
    made = bench(lambda _: "well " * 50, "supervised", spec=False, checkpoints=False, max_iterations=1, max_tokens=10)
    made.go()
    assert [test.verdict.error for test in of(made.entries(), CodeTested)] == ["truncated"]


def test_a_reply_that_no_file_can_hold_is_stored_with_question_marks(bench: Make) -> None:
    made = bench(lambda _: f"\ud800 {RIGHT} \udfff")
    made.go()
    assert of(made.entries(), ExperimentFinished)[0].outcome == "solved"


def test_passing_trouble_is_asked_again_and_every_attempt_is_told(bench: Make) -> None:
    troubles = iter([ModelError("busy", retryable=True), ModelError("busy", retryable=True)])

    def answer(_: Request) -> str:
        if trouble := next(troubles, None):
            raise trouble
        return RIGHT

    made = bench(answer)
    made.go()
    assert [call.attempt for call in of(made.entries(), CallStarted)] == [1, 2, 3]
    assert len(of(made.entries(), CallFailed)) == 2
    assert of(made.entries(), ExperimentFinished)[0].outcome == "solved"


def test_a_provider_that_refuses_is_never_the_models_failure(bench: Make) -> None:
    def answer(_: Request) -> str:
        raise ModelError("The key is wrong.")

    made = bench(answer)
    made.go()
    (finished,) = of(made.entries(), ExperimentFinished)
    assert (finished.outcome, finished.error) == ("error", "The key is wrong.")
    assert len(of(made.entries(), CallStarted)) == 1


def test_a_bug_costs_its_experiment_and_no_other(bench: Make, caplog: pytest.LogCaptureFixture) -> None:
    calls = iter([ZeroDivisionError("oops")])

    def answer(_: Request) -> str:
        if bug := next(calls, None):
            time.sleep(0.05)
            raise bug
        return RIGHT

    made = bench(answer, problems=("tiny/0", "tiny/1"))
    runner = made.go()
    failed, other = of(made.entries(), ExperimentFinished)
    assert (failed.outcome, other.outcome, failed.seconds >= 0.05) == ("error", "solved", True)
    assert len(runner.bugs) == 1


def test_a_stop_cancels_what_runs_and_begins_nothing_more(bench: Make) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def answer(_: Request) -> str:
        asked.set()
        go_on.wait(10)
        return RIGHT

    made = bench(answer, problems=("tiny/0", "tiny/1"))
    runner = made.runner()
    runner.start()
    asked.wait(10)
    runner.stop()
    go_on.set()
    runner.wait()
    assert [end.outcome for end in of(made.entries(), ExperimentFinished)] == ["cancelled"]


def test_a_finished_benchmark_has_nothing_left_to_do(bench: Make) -> None:
    made = bench(lambda _: RIGHT)
    made.go()
    assert made.go().remaining == 0
    assert len(made.requests) == 1


def test_a_benchmark_is_run_by_one_process_at_a_time(bench: Make) -> None:
    made = bench(lambda _: RIGHT)
    first = made.runner()
    with pytest.raises(JournalError, match="being run by this process already"):
        made.runner()
    first.start()
    first.wait()


def test_seeds_depend_on_experiment_and_step_alone(bench: Make) -> None:
    made = bench(third_time_right(), "supervised", max_iterations=3)
    made.go()
    seeds = [call.seed for call in of(made.entries(), CallStarted)]
    assert len(set(seeds)) == len(seeds) == len(made.requests)
    made.path.unlink()
    made.answer = third_time_right()
    made.go()
    assert [call.seed for call in of(made.entries(), CallStarted)] == seeds


def test_changed_prompts_are_not_mixed_with_recorded_answers(bench: Make) -> None:
    made = bench(lambda _: RIGHT)
    made.go()
    recorded = made.path.read_bytes()
    made.path.write_bytes(recorded.replace(b'"coding":"1"', b'"coding":"0"'))
    with pytest.raises(PlanError, match=r"coding prompt was 0 and is now 1 .* --fork"):
        made.runner()


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_of_tests_and_solution_only_failing_gate_tests_reach_a_prompt(bench: Make, strategy: str) -> None:
    made = bench(lambda _: WRONG, strategy)
    made.go()
    said = "\n".join(message.content for request in made.requests for message in request.messages)
    told = facts_of(strategy).shows_attempts
    assert ("return a - b" in said) == told
    assert "MARKED SOLUTION" not in said
    assert "MARKED TEST" not in said
    assert ("candidate(1, 2) == 3" in said) == told


def test_attempts_are_counted_on_after_an_interruption(bench: Make) -> None:
    troubles = iter([ModelError("busy", retryable=True)])

    def answer(_: Request) -> str:
        if trouble := next(troubles, None):
            raise trouble
        return RIGHT

    made = bench(answer)
    made.go()
    lines = made.path.read_bytes().splitlines(keepends=True)
    failed = next(number for number, line in enumerate(lines) if b'"call_failed"' in line)
    made.path.write_bytes(b"".join(lines[: failed + 1]))
    made.go()
    assert [call.attempt for call in of(made.entries(), CallStarted)] == [1, 2]


def test_a_journal_with_a_gap_is_not_gone_on_with(bench: Make) -> None:
    made = bench(lambda _: RIGHT)
    made.go()
    lines = made.path.read_bytes().splitlines(keepends=True)
    end = next(number for number, line in enumerate(lines) if b'"call_finished"' in line)
    made.path.write_bytes(b"".join(line for line in lines[: end + 1] if b"return a + b" not in line))
    with pytest.raises(JournalError, match="lacks lines that other lines refer to"):
        made.runner()


def test_a_program_handed_in_untested_is_held_to_the_gate_too(bench: Make) -> None:
    @dataclass(frozen=True)
    class Synthesis(Direct):
        def solve(self, ctx: Context) -> str | None:
            ctx.test(candidate(ctx.ask("coder", ()), ctx.problem))
            return "def add(a, b): return a - b"

    STRATEGIES["synthesis"] = Synthesis  # type: ignore[index]  # an explicit dict: tests may add to it
    try:
        made = bench(lambda _: RIGHT, "synthesis")
        made.go()
    finally:
        del STRATEGIES["synthesis"]  # type: ignore[attr-defined]
    (finished,) = of(made.entries(), ExperimentFinished)
    assert (finished.outcome, finished.failure, finished.score_kind) == ("unsolved", "assertion", "oracle")


def test_keys_are_taken_out_of_what_programs_gave_back() -> None:
    failure = TestFailure(0, "f()", "1", "KEY=sk-secret-key")
    verdict = Verdict("F", (failure,), True, "assertion", "gave sk-secret-key", 0.1, "limited")
    clean = Redactor(["sk-secret-key"]).verdict(verdict)
    assert "sk-secret-key" not in repr(clean)
    assert clean.failures[0].actual == "KEY=[secret]"
    assert Redactor(["sk-secret", "sk-secret-key"]).verdict(verdict) == clean
    assert Redactor([]).verdict(verdict) == verdict
    assert Redactor(["FFFFFFFF", "completed"]).verdict(verdict) == verdict


def test_a_runner_is_started_once_and_with_a_thread(bench: Make) -> None:
    made = bench(lambda _: RIGHT)
    with made.runner() as runner:
        with pytest.raises(PlanError, match="at least 1"):
            runner.start(0)
        runner.start()
        with pytest.raises(PlanError, match="started already"):
            runner.start()
        runner.wait()
    assert len(made.requests) == 1

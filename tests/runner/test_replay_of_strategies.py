"""What holds of a strategy however it goes about it: killed, stopped or short of money at any step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from koderz_core.events import CallFinished, CallStarted, CodeTested, Entry, ExperimentFinished, ProgramProbed
from koderz_core.protocols import Judge
from koderz_core.records import (
    Budget,
    Configuration,
    Observed,
    Problem,
    PublicProblem,
    Request,
    Scalar,
    TestSet,
    Verdict,
    fingerprint,
)
from koderz_core.runner.budget import NO_LIMIT

Make = Callable[..., Any]  # Any: Bench of conftest.py, which a test module cannot import
RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
OTHER = "```python\ndef add(a, b):\n    return b + a + 0\n```"
WRONG = "```python\ndef add(a, b):\n    return a - b\n```"
WORSE = "```python\ndef add(a, b):\n    return [a, b]\n```"
TESTS = "```python\nassert add(1, 2) == 3\nassert add(0, 5) == 5\n```"


@dataclass(frozen=True)
class Case:
    """A strategy with its coders; ``replies``: what the call at an ordinal is answered. Calls, gate tests, probes."""

    strategy: str
    parameters: Mapping[str, Scalar]
    coders: int
    replies: Mapping[int, str]
    steps: tuple[int, int, int]
    at_once: int = 1


UP = {1: WRONG, 3: WRONG, 5: RIGHT}
SAMPLES = {1: RIGHT, 2: WRONG, 3: OTHER, 7: TESTS, 10: "BEST: 2"}
LEVELS = {1: WRONG, 2: WRONG, 3: WORSE, 4: WORSE, 7: WRONG, 8: RIGHT, 9: OTHER, 10: WORSE}
SWARM = {1: TESTS, 2: WRONG, 5: "Add them.", 6: WORSE, 9: "Do add them.", 10: RIGHT}
CASES = {
    "retry": Case("ladder", {"max_iterations": 4}, 1, UP, (3, 3, 0)),
    "warming": Case("ladder", {"steps": "0,0.3*2"}, 1, UP, (3, 3, 0)),
    "escalation": Case("ladder", {"steps": "0"}, 3, UP, (3, 3, 0)),
    "cascade": Case("cascade", {}, 3, {1: TESTS, 2: WRONG, 4: RIGHT}, (3, 0, 2)),
    "best_of": Case("best_of", {"samples": 3}, 1, SAMPLES, (5, 3, 2), at_once=3),
    "beam": Case("beam", {"width": 2, "branches": 2, "depth": 3}, 1, LEVELS, (8, 3, 0), at_once=4),
    "swarm": Case("swarm", {"max_iterations": 3}, 1, SWARM, (6, 3, 2)),
    "selected": Case("selected", {}, 2, {2: "No.", 3: RIGHT}, (2, 0, 0)),
    "tree": Case("tree", {"max_iterations": 9}, 2, {**dict.fromkeys(range(1, 16), WRONG), 13: RIGHT}, (7, 7, 0)),
}
EACH = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@dataclass
class Watched:
    """Another judge, and a model with the replies of a case; ``then`` is done at the ``last`` of its steps."""

    judge: Judge
    reply: Callable[[Request], str]
    taken: int = 0
    last: int = 0
    then: Callable[[], None] = field(default=lambda: None)

    def answer(self, request: Request) -> str:
        self._step()
        return self.reply(request)

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        self._step()
        return self.judge.check(problem, code, tests)

    def probe(self, problem: PublicProblem, code: str, calls: Sequence[str]) -> tuple[Observed, ...]:
        """Programs differ in what their calls give; tests hold for those that add."""
        self._step()
        return tuple(Observed(call, str("+" in code) if "==" in call else str(len(code))) for call in calls)

    def _step(self) -> None:
        self.taken += 1
        if self.taken == self.last:
            self.then()


@pytest.fixture
def staged(bench: Make) -> Callable[..., tuple[Any, Watched]]:
    def make(case: Case, budget: Budget = NO_LIMIT) -> tuple[Any, Watched]:
        made = bench(lambda _: "")
        models = {**made.plan.configurations[0].models, "coder": ("scripted/it",) * case.coders}
        configurations = (Configuration(case.strategy, models, case.parameters),)
        made.plan = replace(made.plan, configurations=configurations, budget=budget)
        seed = made.plan.experiments()[0].seed
        by_seed = {int(fingerprint((seed, item))[:8], 16) >> 1: reply for item, reply in case.replies.items()}
        made.judge = watched = Watched(made.judge, lambda request: by_seed[request.seed])
        made.answer = watched.answer
        return made, watched

    return make


def of(entries: list[Entry], kind: type) -> list[Any]:
    return [entry.event for entry in entries if isinstance(entry.event, kind)]


def steps_in(made: Any) -> tuple[int, ...]:
    return tuple(len(of(made.entries(), kind)) for kind in (CallFinished, CodeTested, ProgramProbed))


def end_of(made: Any) -> ExperimentFinished:
    return replace(of(made.entries(), ExperimentFinished)[-1], seconds=0.0)


def answered(made: Any) -> set[int]:
    """The seeds of calls that the journal holds the answers of."""
    ordinals = {entry.ordinal for entry in made.entries() if isinstance(entry.event, CallFinished)}
    return {
        entry.event.seed
        for entry in made.entries()
        if isinstance(entry.event, CallStarted) and entry.ordinal in ordinals
    }


@EACH
def test_wherever_it_was_killed_it_ends_the_same_and_takes_no_recorded_step_again(staged: Make, case: Case) -> None:
    made, watched = staged(case)
    made.go()
    whole, lines = end_of(made), made.path.read_bytes().splitlines(keepends=True)
    assert (whole.outcome, steps_in(made)) == ("solved", case.steps)
    scorings = watched.taken - sum(case.steps)
    for kept in range(1, len(lines)):
        made.path.write_bytes(b"".join(lines[:kept]))
        before, known, over = steps_in(made), answered(made), bool(of(made.entries(), ExperimentFinished))
        watched.taken, made.requests[:] = 0, []
        made.go()
        assert not known & {request.seed for request in made.requests}
        assert watched.taken == sum(case.steps) - sum(before) + (0 if over else scorings), f"killed behind line {kept}"
        assert (end_of(made), steps_in(made)) == (whole, case.steps)


@EACH
def test_stopped_at_any_step_it_begins_no_other_and_goes_on_to_the_same_end(staged: Make, case: Case) -> None:
    made, watched = staged(case)
    made.go()
    whole = end_of(made)
    for number in range(1, sum(case.steps)):
        made.path.unlink()
        watched.taken, watched.last = 0, number
        with made.runner() as runner:
            watched.then = runner.stop
            runner.start()
            runner.wait()
        assert end_of(made).outcome == "cancelled"
        assert watched.taken < number + case.at_once  # those under way at the same time are let end
        known, watched.last, made.requests[:] = answered(made), 0, []
        made.go()
        assert not known & {request.seed for request in made.requests}
        assert (end_of(made), steps_in(made)) == (whole, case.steps)


@EACH
def test_it_never_spends_more_than_its_budget_and_then_its_best_tested_program_counts(staged: Make, case: Case) -> None:
    for calls in range(case.steps[0]):
        made, _ = staged(case, Budget(per_experiment_usd=0.25 * calls or 0.1))
        made.path.unlink(missing_ok=True)
        made.worst_usd = 0.25
        made.go()
        passed = any(isinstance(entry.event, CodeTested) and entry.event.verdict.passed for entry in made.entries())
        assert (end_of(made).outcome == "solved", end_of(made).reason) == (passed, "budget")
        assert len(made.requests) == calls

"""A small benchmark with two problems, a judge that reads the program, and a model that follows a script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from koderz_core.events import BenchmarkOpened, Entry
from koderz_core.grading.problem_tests import Divide
from koderz_core.grading.testsets import split
from koderz_core.journal import Journal, read_all
from koderz_core.models.scripted import ScriptedModel
from koderz_core.protocols import Judge, Model
from koderz_core.records import (
    Configuration,
    Cost,
    DatasetOrigin,
    Observed,
    Plan,
    Problem,
    PublicProblem,
    Request,
    Scalar,
    TestFailure,
    TestSet,
    Verdict,
)
from koderz_core.runner.dependencies import Dependencies, Recollection
from koderz_core.runner.engine import LOCAL, Engine
from koderz_core.runner.live_text import LiveText
from koderz_core.runner.memory_watch import MemoryWatch
from koderz_core.runner.provider_limits import Policy
from koderz_core.runner.recorder import NO_KEYS, Redactor
from koderz_core.runner.reuse import Reuse
from koderz_core.runner.runner import Assignment, Runner
from koderz_core.strategies.facts import ROLES

RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
WRONG = "```python\ndef add(a, b):\n    return a - b\n```"
TWO_RETRIES = Policy(retries=2, first_wait_seconds=0.0)
ORIGIN = DatasetOrigin("tiny", "0" * 64, "MIT")
TESTS = TestSet(
    "def check(candidate):  # MARKED TEST\n    assert candidate(1, 2) == 3\n    assert candidate(0, 0) == 0\n"
)


class ReadingJudge:
    """Passes programs that add, on the tests there are."""

    isolation = "none"

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        assert tests, "a judge must be given tests"
        if "+" in code:
            return Verdict("PP", (), True, None, "", 0.1, self.isolation)
        failure = TestFailure(0, "candidate(1, 2) == 3", "3", "-1")
        return Verdict("FP", (failure,), True, "assertion", "a test failed", 0.1, self.isolation)

    def probe(self, problem: PublicProblem, code: str, calls: Sequence[str]) -> tuple[Observed, ...]:
        return tuple(Observed(call, "3" if "+" in code else "-1") for call in calls)


@dataclass
class Bench:
    """A plan on a journal; ``requests`` are those that reached the model."""

    path: Path
    plan: Plan
    answer: Callable[[Request], str]
    requests: list[Request] = field(default_factory=list)
    live: LiveText = field(default_factory=LiveText)
    model: Model | None = None  # instead of the one that gives ``answer``
    judge: Judge = field(default_factory=ReadingJudge)
    recall: Recollection = lambda _query, _asker: ()
    redact: Redactor = NO_KEYS
    retry_errors: bool = False
    streamed: bool = True
    context_tokens: int | None = None
    reuse: Reuse | None = None
    worst_usd: float | None = None  # the most that a call can cost; each costs 0.25
    pilot: int | None = None
    policy: Policy = TWO_RETRIES
    divide: Divide = split
    memory: MemoryWatch | None = None
    problems: Mapping[str, Problem] | None = None  # instead of tiny ones
    energy: Mapping[str, float] = field(default_factory=dict)
    engine: Engine = LOCAL

    def runner(self, watches: Sequence[Callable[[Entry], None]] = ()) -> Runner:
        problems = self.problems or {name: _problem(name) for name in ("tiny/0", "tiny/1")}
        header = BenchmarkOpened(1, "0", self.plan.id, self.plan, {"coding": "1"}, "prices", "none", {}, self.energy)
        parts = Dependencies(
            models={"scripted/it": self.model or ScriptedModel("scripted/it", self._heard)},
            local=frozenset({"scripted/it"} if self.streamed else ()),
            judge=self.judge,
            price=lambda name, usage, seconds: Cost(0.25, "a test"),
            clock=lambda: 1.0,
            policy=self.policy,
            context_tokens=lambda _: self.context_tokens,
            live=self.live,
            recall=self.recall,
            worst_case=lambda name, request: self.worst_usd,
            redact=self.redact,
            divide=self.divide,
            reuse=self.reuse,
            memory=self.memory,
        )
        assignment = Assignment(header, problems, self.retry_errors, self.pilot, engine=self.engine)
        return Runner(assignment, Journal(self.path), lambda _: parts, watches)

    def go(self) -> Runner:
        runner = self.runner()
        runner.start()
        runner.wait()
        return runner

    def entries(self) -> list[Entry]:
        return list(read_all(self.path))

    def _heard(self, request: Request) -> str:
        self.requests.append(request)
        return self.answer(request)


@pytest.fixture
def bench(tmp_path: Path) -> Callable[..., Bench]:
    def make(
        answer: Callable[[Request], str],
        strategy: str = "direct",
        problems: tuple[str, ...] = ("tiny/0",),
        **parameters: Scalar,
    ) -> Bench:
        configuration = Configuration(strategy, dict.fromkeys(ROLES, ("scripted/it",)), parameters)
        return Bench(tmp_path / "b.jsonl", Plan(ORIGIN, problems, (configuration,)), answer)

    return make


def _problem(name: str) -> Problem:
    public = PublicProblem(name, 'def add(a, b):\n    """Add."""\n', "add")
    return Problem(public, TESTS, "def add(a, b):\n    return a + b  # MARKED SOLUTION\n")

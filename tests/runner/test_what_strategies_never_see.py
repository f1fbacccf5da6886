"""No strategy is ever told a held-out test, the canonical solution or a score: live and on resume, by any policy."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from cases_as_asserts import as_asserts

from koderz_core.events import CandidateScored, CodeTested
from koderz_core.grading.canonical import Canonical
from koderz_core.grading.dividing import Divider
from koderz_core.grading.expected import Expectations
from koderz_core.grading.testsets import Split
from koderz_core.grading.visible import FEEDBACKS
from koderz_core.records import Configuration, PlusTests, Problem, PublicProblem, Request, TestFailure, TestSet, Verdict
from koderz_core.runner.conditions import HELD_OUT, PLUS, policy_of
from koderz_core.runner.presets import PRESETS
from koderz_core.runner.session import Session
from koderz_core.sandbox.inside.faults import fault_of
from koderz_core.sandbox.inside.recorder import Recorder
from koderz_core.sandbox.inside.suite import execute, ready
from koderz_core.sandbox.reference import Answers
from koderz_core.strategies import STRATEGIES, UNTESTED, base_of, complete, create, offered

Make = Callable[..., Any]  # Any: Bench of conftest.py, which a test module cannot import
FACTOR = 7919  # what is right, nobody guesses
BASE, INPUTS = [7301, 7411, 7523, 7643, 7757, 7877], [8311, 8423, 8537]
CANONICAL = f"def scale(x):\n    return x * {FACTOR}  # CANONICAL\n"
PROBLEM = Problem(
    PublicProblem(
        "p/0", 'def scale(x):\n    """Scale x.\n\n    scale(0) => 0\n    scale(2) => 15838\n    """\n', "scale"
    ),
    TestSet("def check(candidate):\n" + "".join(f"    assert candidate({x}) == {x * FACTOR}\n" for x in BASE)),
    CANONICAL,
    PlusTests(json.dumps([[x] for x in INPUTS])),
)
FEW = {"max_iterations": 12, "checkpoint_interval": 5}
PROGRAMS = (
    "def scale(x):\n    return 0 if x == 0 else {}",
    "def scale(x):\n    raise ValueError(x + {})",
    "def scale(x:\n    return {}",
    "def scale(x):\n    return {{0: 0, 2: 15838}}.get(x) or undefined_{}",
    "def scale(x):\n    return {{0: 0, 2: 15838}}.get(x, {})",
)


class InProcess:
    """Judges as the sandbox does, without one."""

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        suite, scope, completed = ready(as_asserts(tests).source), {}, True
        recorder = Recorder(suite.sources, lambda: True)
        try:
            exec(code, scope)
            execute(suite, "", {}, scope["scale"], recorder)
        except Exception as error:  # noqa: BLE001 (whatever a program raises)
            recorder.note(fault_of(error))
            completed = False
        out = recorder.outcome()
        failures = tuple(TestFailure(*failure) for failure in out.failures)
        return Verdict(out.marks, failures, completed, out.error, out.message, 0.0, "none")


@dataclass
class Told:
    """Everything that a strategy was told, and all that any model was sent."""

    verdicts: list[Verdict] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def everything(self) -> str:
        return "\n".join([*map(repr, self.verdicts), *self.texts])


def configurations(gate: str, feedback: str) -> tuple[Configuration, ...]:
    """Every strategy as it is, and every preset, with few iterations."""
    wanted = [(name, {}) for name in {*STRATEGIES, *offered()}]
    wanted += [(one.strategy, dict(one.parameters)) for preset in PRESETS.values() for one in preset.configurations]
    found = []
    for name, parameters in wanted:
        few = {one: value for one, value in FEW.items() if one in complete(name, {})}
        roles = create(name, {**parameters, **few}).roles()
        policies = {} if name in UNTESTED else {"gate": gate, "feedback": feedback}
        models = dict.fromkeys(roles, ("scripted/it",))
        found.append(Configuration(base_of(name), models, complete(name, {**parameters, **few}), **policies))
    return tuple({one.id: one for one in found}.values())


def script() -> Callable[[Request], str]:
    numbers = count()

    def answer(_: Request) -> str:
        number = next(numbers)
        program = PROGRAMS[number % len(PROGRAMS)].format(number)
        return f"Think.\n```python\n{program}\n```" if number % 7 else "No program."

    return answer


@pytest.fixture
def made(bench: Make, tmp_path: Path) -> Callable[[str, str], Any]:
    def make(gate: str, feedback: str) -> Any:
        one = bench(script())
        divider = Divider(
            Canonical(tmp_path / "c", InProcess),
            lambda: Expectations(tmp_path / "e", lambda _, calls: reference(calls)),
        )
        one.problems, one.judge, one.divide = {"p/0": PROBLEM}, InProcess(), divider.divide
        one.plan = replace(
            one.plan,
            problems=("p/0",),
            configurations=configurations(gate, feedback),
            conditions={HELD_OUT: PLUS},
        )
        return one

    return make


def reference(calls: Sequence[str]) -> Answers:
    return Answers(tuple(str(eval(call)[0] * FACTOR) for call in calls), 0.0)


def heard(made: Any, monkeypatch: pytest.MonkeyPatch) -> Told:
    told, test = Told(), Session.test

    def spy(session: Session, candidate: Any) -> Verdict:
        told.verdicts.append(test(session, candidate))
        return told.verdicts[-1]

    made.requests.clear()
    with monkeypatch.context() as patched:
        patched.setattr(Session, "test", spy)
        made.go()
    told.texts = [message.content for request in made.requests for message in request.messages]
    return told


def secrets_of(made: Any, gate: str) -> list[str]:
    """Arguments and answers of everything held out, and what marks the canonical solution."""
    configuration = next(one for one in made.plan.configurations if one.strategy not in UNTESTED)
    tests = made.divide(PROBLEM, policy_of(made.plan, configuration))
    assert isinstance(tests, Split)
    assert tests.rest or gate == "tests"
    hidden = [x for x in BASE if f"({x})" in tests.rest.source] + INPUTS
    return [*(str(x) for x in hidden), *(str(x * FACTOR) for x in hidden), "CANONICAL", f"* {FACTOR}"]


@pytest.mark.parametrize("feedback", FEEDBACKS)
@pytest.mark.parametrize("gate", ["tests", "examples", "split:0.5"])
def test_nothing_held_out_reaches_a_strategy_or_a_model(
    made: Callable[[str, str], Any], monkeypatch: pytest.MonkeyPatch, gate: str, feedback: str
) -> None:
    one = made(gate, feedback)
    live = heard(one, monkeypatch)
    scored = [entry.event for entry in one.entries() if isinstance(entry.event, CandidateScored)]
    assert len(live.verdicts) >= 6
    assert all(event.held_out for event in scored)  # there was something to be told
    secrets = secrets_of(one, gate)
    assert [secret for secret in secrets if secret in live.everything()] == []
    lines = one.path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if b'"experiment_finished"' not in line]  # scores stay, as they would after a kill
    for journal in (kept, kept[: len(kept) // 2]):
        one.path.write_bytes(b"".join(journal))
        again = heard(one, monkeypatch)
        assert [secret for secret in secrets if secret in again.everything()] == []
    one.path.write_bytes(b"".join(kept))
    assert sorted(map(repr, heard(one, monkeypatch).verdicts)) == sorted(map(repr, live.verdicts))


@pytest.mark.parametrize(
    ("feedback", "values", "counts"), [("error", False, True), ("count", False, True), ("none", False, False)]
)
def test_of_the_gate_a_strategy_is_told_no_more_than_its_feedback(
    made: Callable[[str, str], Any], monkeypatch: pytest.MonkeyPatch, feedback: str, values: bool, counts: bool
) -> None:
    one = made("tests", feedback)
    told = heard(one, monkeypatch)
    whole = [entry.event.verdict for entry in one.entries() if isinstance(entry.event, CodeTested)]
    assert any(verdict.failures for verdict in whole)  # the journal keeps what was not told
    shown = [str(x * FACTOR) for x in BASE] + [f"candidate({x})" for x in BASE]
    assert any(value in told.everything() for value in shown) is values
    assert any(f"of {len(BASE)} tests" in text for text in told.texts) is counts


def test_full_feedback_shows_the_call_and_what_was_expected(
    made: Callable[[str, str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = heard(made("split:0.5", "full"), monkeypatch).texts
    assert any("candidate(" in text and "correct is" in text for text in texts)

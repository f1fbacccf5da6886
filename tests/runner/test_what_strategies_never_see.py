"""No strategy is ever told a held-out test, the canonical solution or a score: live and on resume, by any policy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from inspect import isroutine
from itertools import count, product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from cases_as_asserts import as_asserts
from sample import thinned

from koderz_core.conditions import HELD_OUT, PLUS, policy_of
from koderz_core.events import CandidateScored, CodeTested, ProgramProbed, SpecWritten
from koderz_core.grading.canonical import Canonical, Expectations
from koderz_core.grading.gates import FEEDBACKS
from koderz_core.grading.problem_tests import Divider
from koderz_core.grading.testsets import Split
from koderz_core.plan.presets import CATALOGUE
from koderz_core.prompts.extraction import candidate
from koderz_core.protocols import Context
from koderz_core.records import (
    Ask,
    Configuration,
    Memory,
    Message,
    Observed,
    PlusTests,
    Problem,
    PublicProblem,
    Query,
    Request,
    TestFailure,
    TestSet,
    Verdict,
)
from koderz_core.runner.session import Session, Subject
from koderz_core.sandbox.inside.faults import fault_of
from koderz_core.sandbox.inside.recorder import Recorder
from koderz_core.sandbox.inside.suite import execute, ready
from koderz_core.sandbox.reference import Answers
from koderz_core.strategies import STRATEGIES, base_of, complete, create, facts_of, offered

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
STEPS = ("ask", "ask_many", "test", "probe", "recall", "remaining")
FEW = {"max_iterations": 12, "checkpoint_interval": 5}
BEST = "def scale(x):\n    return {{0: 0, 2: 15838}}.get(x, {})"  # of any five in a row two, for who votes
PROGRAMS = (
    "def scale(x):\n    return 0 if x == 0 else {}",
    BEST,
    "def scale(x):\n    raise ValueError((x, {}))",
    BEST,
    "def scale(x:\n    return {}",
    BEST,
    "def scale(x):\n    return {{0: 0, 2: 15838}}.get(x) or undefined_{}",
    BEST,
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

    def probe(self, problem: PublicProblem, code: str, calls: Sequence[str]) -> tuple[Observed, ...]:
        return tuple(Observed(call, repr(problem)) for call in calls)


@dataclass(frozen=True)
class Curious:
    """Uses all that a context offers."""

    max_iterations: int = 2

    def roles(self) -> tuple[str, ...]:
        return ("coder",)

    def solve(self, ctx: Context) -> str | None:
        ctx.recall(Query("lesson", {"problem": ctx.problem.id}))
        ctx.note(SpecWritten(str(ctx.remaining())))
        for reply in ctx.ask_many([Ask("coder", (Message("user", str(number)),)) for number in range(2)]):
            tried = candidate(reply, ctx.problem)
            ctx.probe(tried.code or "", ("scale(3)",))
            ctx.test(tried)
        return tried.code


@dataclass
class Told:
    """Everything that a strategy was told, and all that any model was sent."""

    verdicts: list[Verdict] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    contexts: dict[int, Session] = field(default_factory=dict)
    answers: list[Any] = field(default_factory=list)

    def everything(self) -> str:
        return "\n".join([*(answer for answer in self.reached() if isinstance(answer, str)), *self.texts])

    def reached(self) -> list[Any]:
        """All that a strategy gets at from its context and the answers it gives, by public names."""
        found: dict[int, Any] = {}
        waiting = [*self.contexts.values(), *self.answers]
        while waiting:
            one = waiting.pop()
            if id(one) not in found:
                found[id(one)] = one
                waiting.extend(held_by(one))
        return list(found.values())


def held_by(one: object) -> Iterator[object]:
    if isinstance(one, Mapping):
        yield from (*one.keys(), *one.values())
    elif isinstance(one, Sequence | Set) and not isinstance(one, str):
        yield from one
    elif not isinstance(one, str | int | float | type | ModuleType) and not isroutine(one):
        yield from (getattr(one, name) for name in dir(one) if not name.startswith("_"))


def configurations(gate: str, feedback: str) -> tuple[Configuration, ...]:
    """Every strategy as it is, and every preset, with few iterations."""
    wanted = [(name, {}) for name in sorted({*STRATEGIES, *offered()})]
    wanted += [
        (configuration.strategy, dict(configuration.parameters))
        for preset in CATALOGUE.values()
        for configuration in preset.configurations
    ]
    reminded = {"lessons": True, "examples": True}
    wanted += [("supervised", {"checkpoint_when": "adaptive", "history_tokens": 2000, "reuse_spec": True, **reminded})]
    wanted += [("direct", reminded)]
    found = []
    for name, parameters in wanted:
        few = {item: value for item, value in FEW.items() if item in complete(name, {})}
        roles = create(name, {**parameters, **few}).roles()
        policies = {"gate": gate, "feedback": feedback} if facts_of(name).tests_programs else {}
        models = {role: ("scripted/it",) * (1 + (role in facts_of(name).several)) for role in roles}
        found.append(Configuration(base_of(name), models, complete(name, {**parameters, **few}), **policies))
    return tuple({item.id: item for item in found}.values())


def script() -> Callable[[Request], str]:
    numbers = count()

    def answer(request: Request) -> str:
        number = next(numbers)
        if "asserts" in request.messages[-1].content:  # a tester is asked for them
            return "```python\nassert scale(2) == 15838\nassert scale(7) == 7\n```"
        program = PROGRAMS[number % len(PROGRAMS)].format(number)
        return f"Think.\n```python\n{program}\n```" if number % 16 else "No program."

    return answer


@pytest.fixture
def made(bench: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Any]:
    monkeypatch.setitem(STRATEGIES, "curious", Curious)  # type: ignore[arg-type]

    def make(gate: str, feedback: str) -> Any:
        one = bench(script())
        divider = Divider(
            Canonical(tmp_path / "c", InProcess),
            lambda: Expectations(tmp_path / "e", lambda _, calls: reference(calls)),
        )
        one.problems, one.judge, one.divide = {"p/0": PROBLEM}, InProcess(), divider.divide
        one.recall = lambda query, _: [Memory(f"A {query.kind} to mind.", "exp_other", {"problem": "p/1"})]
        one.plan = replace(
            one.plan,
            problems=("p/0",),
            configurations=configurations(gate, feedback),
            conditions={HELD_OUT: PLUS},
        )
        return one

    return make


def reference(calls: Sequence[str]) -> Answers:
    return Answers(tuple(str(eval(call)[0] * FACTOR) for call in calls), (0.0,) * len(calls))


def heard(made: Any, monkeypatch: pytest.MonkeyPatch) -> Told:
    told = Told()

    def spied(step: Callable[..., Any]) -> Callable[..., Any]:
        def spy(session: Session, *asked: Any, **named: Any) -> Any:
            told.contexts[id(session)] = session
            told.answers.append(step(session, *asked, **named))
            return told.answers[-1]

        return spy

    made.requests.clear()
    with monkeypatch.context() as patched:
        for name in STEPS:
            patched.setattr(Session, name, spied(getattr(Session, name)))
        made.go()
    told.verdicts = [answer for answer in told.answers if isinstance(answer, Verdict)]
    told.texts = [message.content for request in made.requests for message in request.messages]
    return told


def probing(made: Any) -> set[str]:
    """The strategies that ran calls of their own."""
    entries, names = (
        made.entries(),
        {configuration.id: configuration.strategy for configuration in made.plan.configurations},
    )
    probed = {entry.experiment for entry in entries if isinstance(entry.event, ProgramProbed)}
    return {names[experiment.configuration] for experiment in made.plan.experiments() if experiment.id in probed}


def secrets_of(made: Any, gate: str) -> list[str]:
    """Arguments and answers of everything held out, and what marks the canonical solution."""
    configuration = next(
        configuration for configuration in made.plan.configurations if facts_of(configuration.strategy).tests_programs
    )
    tests = made.divide(PROBLEM, policy_of(made.plan, configuration))
    assert isinstance(tests, Split)
    assert tests.rest or gate == "tests"
    hidden = [x for x in BASE if f"({x})" in tests.rest.source] + INPUTS
    return [*(str(x) for x in hidden), *(str(x * FACTOR) for x in hidden), "CANONICAL", f"* {FACTOR}"]


@pytest.mark.parametrize(
    ("gate", "feedback"),
    thinned(
        list(product(["tests", "examples", "split:0.5"], FEEDBACKS)), "gates and feedbacks", [("split:0.5", "full")]
    ),
)
def test_nothing_held_out_reaches_a_strategy_or_a_model(
    made: Callable[[str, str], Any], monkeypatch: pytest.MonkeyPatch, gate: str, feedback: str
) -> None:
    one = made(gate, feedback)
    live = heard(one, monkeypatch)
    scored = [entry.event for entry in one.entries() if isinstance(entry.event, CandidateScored)]
    assert len(live.verdicts) >= 6
    assert all(event.held_out for event in scored)  # there was something to be told
    assert {"cascade", "best_of"} | ({"swarm"} if gate == "tests" else set()) <= probing(one)
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


def test_a_context_offers_its_protocol_and_nothing_more(
    made: Callable[[str, str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = heard(made("examples", "full"), monkeypatch)
    offered_by = {name for context in told.contexts.values() for name in dir(context) if not name.startswith("_")}
    assert offered_by == {name for name in {*dir(Context), *Context.__annotations__} if not name.startswith("_")}
    assert not any(isinstance(answer, Problem | TestSet | Split) for answer in told.reached())
    assert {type(answer).__name__ for answer in told.answers} >= {"Completion", "list", "Verdict", "tuple", "Remaining"}
    assert {Memory, Observed} <= {type(answer) for answer in told.reached()}
    assert {"A solved to mind.", "A lesson to mind."} <= {
        answer for answer in told.reached() if isinstance(answer, str)
    }
    assert any("A solved to mind." in text for text in told.texts)


@pytest.mark.parametrize(
    "hung",
    [
        lambda: SimpleNamespace(problem=PROBLEM.public, whole=PROBLEM),
        lambda: SimpleNamespace(deep=SimpleNamespace(judge=[{"p/0": (PROBLEM,)}])),
        lambda: Subject(None, PROBLEM, PROBLEM.tests, {}, None),  # type: ignore[arg-type]  # slots, and no __dict__
        lambda: Memory("Mind this.", "exp_other", {"problem": PROBLEM}),  # type: ignore[dict-item]
        lambda: [Observed("scale(3)", PROBLEM)],  # type: ignore[arg-type]
    ],
)
def test_a_whole_problem_is_found_wherever_it_hangs_in_a_strategys_reach(hung: Callable[[], Any]) -> None:
    for told in (Told(contexts={0: hung()}), Told(answers=[hung()])):
        assert any(isinstance(answer, Problem) for answer in told.reached())
        assert "CANONICAL" in told.everything()


def test_full_feedback_shows_the_call_and_what_was_expected(
    made: Callable[[str, str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = heard(made("split:0.5", "full"), monkeypatch).texts
    assert any("candidate(" in text and "correct is" in text for text in texts)

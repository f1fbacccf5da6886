"""Resume is replay: killed anywhere it ends the same and asks nothing twice; errors, extensions and forks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from chat_server import Server, serving_chat, streams

from koderz_core.config import load_settings
from koderz_core.errors import ModelError, PlanError
from koderz_core.events import (
    BenchmarkClosed,
    BenchmarkOpened,
    CallFinished,
    CallStarted,
    Entry,
    ExperimentFinished,
    ExperimentStarted,
)
from koderz_core.models.open_models import GuardedModel, OpenModels
from koderz_core.models.scripted import ScriptedModel
from koderz_core.protocols import Model
from koderz_core.records import Configuration, Plan, Problem, PublicProblem, Request, TestSet
from koderz_core.redaction import Redaction
from koderz_core.runner.engine import LocalEngine, Perform
from koderz_core.runner.header import header
from koderz_core.runner.recorder import Redactor
from koderz_core.runner.scheduler import Scheduler

RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
WRONG = "```python\ndef add(a, b):\n    return a - b\n```"
KEY = "planted-key-0123456789"
Make = Callable[..., Any]  # Any: Bench of conftest.py, which a test module cannot import


def of(entries: list[Entry], kind: type) -> list[Any]:
    return [entry.event for entry in entries if isinstance(entry.event, kind)]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving_chat() as known:

        def answer(handler: BaseHTTPRequestHandler) -> None:
            said = [str(message["content"]) for message in known.bodies[-1]["messages"]]
            wants_code, advised = len(said) > 1, "advises" in said[-1]
            streams({"content": (RIGHT if advised else WRONG) if wants_code else "Mind the sign."})(handler)

        known.answer = answer
        yield known


@pytest.fixture
def served(server: Server) -> Iterator[Model]:
    with closing(OpenModels(load_settings(vllm_base_url=server.url), lambda _: {})) as models:
        yield models.get("vllm/it", "")


def test_wherever_it_was_killed_it_ends_the_same_and_no_answered_call_is_made_again(
    bench: Make, server: Server, served: Model
) -> None:
    made = bench(lambda _: "", "supervised", max_iterations=4, checkpoint_interval=2)
    made.model = served
    made.go()
    (whole,), calls = of(made.entries(), ExperimentFinished), len(server.bodies)
    assert (whole.outcome, calls) == ("solved", 5)  # spec, two attempts, a review, the attempt that follows it
    lines = made.path.read_bytes().splitlines(keepends=True)
    for kept in range(len(lines)):
        for torn in (b"", lines[kept][: len(lines[kept]) // 2]):
            made.path.write_bytes(b"".join(lines[:kept]) + torn)
            answered = seeds_of_answers(made.entries()) if kept else set()
            server.bodies.clear()
            made.go()
            asked = {body["seed"] for body in server.bodies}
            assert not asked & answered, f"killed behind line {kept}"
            assert len(answered) + len(server.bodies) == calls
            end = of(made.entries(), ExperimentFinished)[-1]
            assert replace(end, seconds=whole.seconds) == whole


def test_what_was_redacted_is_asked_for_in_the_same_words_when_it_goes_on(bench: Make) -> None:
    made, asked = bench(lambda _: "", "supervised", max_iterations=3, checkpoint_interval=2), list[Request]()
    said = f"```python\ndef add(a, b):\n    return '{KEY}'\n```\nIt was {KEY}."
    model = ScriptedModel("scripted/it", lambda request: asked.append(request) or said)  # type: ignore[func-returns-value]
    made.model, made.redact = GuardedModel(model, Redaction([KEY])), Redactor([KEY])
    public = PublicProblem("tiny/0", f'def add(a, b):\n    """Add, with {KEY}."""\n', "add")
    made.problems = {"tiny/0": Problem(public, TestSet("def check(candidate):\n    assert candidate(1, 2) == 3\n"), "")}
    made.go()
    (whole,), calls = of(made.entries(), ExperimentFinished), {request.seed for request in asked}
    lines = made.path.read_bytes().splitlines(keepends=True)
    assert len(calls) == 5
    assert KEY not in repr(asked) + b"".join(lines).decode()
    for kept in range(1, len(lines)):
        made.path.write_bytes(b"".join(lines[:kept]))
        answered = seeds_of_answers(made.entries())
        asked.clear()
        made.go()
        assert {request.seed for request in asked} == calls - answered, f"killed behind line {kept}"
        assert replace(of(made.entries(), ExperimentFinished)[-1], seconds=whole.seconds) == whole


def seeds_of_answers(entries: list[Entry]) -> set[int]:
    answered = {entry.ordinal for entry in entries if isinstance(entry.event, CallFinished)}
    return {e.event.seed for e in entries if isinstance(e.event, CallStarted) and e.ordinal in answered}


def first_refused() -> Callable[[Request], str]:
    troubles = iter([ModelError("The key is wrong.")])

    def answer(_: Request) -> str:
        if trouble := next(troubles, None):
            raise trouble
        return RIGHT

    return answer


def outcomes(made: Any) -> list[str]:
    return [end.outcome for end in of(made.entries(), ExperimentFinished)]


def test_an_error_stays_until_it_is_to_be_tried_again(bench: Make) -> None:
    made = bench(first_refused(), problems=("tiny/0", "tiny/1"))
    assert made.go().kept_errors == 0
    again = made.go()
    assert (again.remaining, again.kept_errors, outcomes(made)) == (0, 1, ["error", "solved"])
    made.retry_errors = True
    assert made.go().remaining == 1
    assert outcomes(made) == ["error", "solved", "solved"]
    assert made.go().kept_errors == 0


def test_an_error_that_was_being_tried_again_when_killed_is_tried_on(bench: Make) -> None:
    made = bench(first_refused())
    made.go()
    before = len(made.entries())
    made.retry_errors = True
    made.go()
    lines = made.path.read_bytes().splitlines(keepends=True)
    started = next(number for number, line in enumerate(lines[before:], before) if b'"experiment_started"' in line)
    ended = max(number for number, line in enumerate(lines) if b'"experiment_finished"' in line)
    made.retry_errors = False
    for kept in range(before, ended):
        made.path.write_bytes(b"".join(lines[:kept]))
        assert made.go().kept_errors == (kept <= started)
        assert outcomes(made) == (["error"] if kept <= started else ["error", "solved"])


def test_an_error_that_was_being_tried_again_when_stopped_still_stands(bench: Make) -> None:
    made = bench(first_refused())
    made.go()
    made.retry_errors = True
    made.answer = lambda _: runner.stop() or RIGHT
    with made.runner() as runner:
        runner.start()
        runner.wait()
    first, last = of(made.entries(), ExperimentFinished)
    assert first == last


def named(made: Any, **grown: Any) -> Any:
    made.plan = replace(made.plan, name="mine", **grown)
    return made


def test_more_problems_configurations_and_repeats_extend_a_benchmark_of_the_same_name(bench: Make) -> None:
    made = named(bench(lambda _: RIGHT))
    made.go()
    (first,) = made.plan.configurations
    second = Configuration("direct", first.models, {"temperature": 0.5})
    named(made, problems=("tiny/1",), configurations=(second,), repeats=2).go()
    opened = of(made.entries(), BenchmarkOpened)
    assert [len(runner.plan.experiments()) for runner in opened] == [1, 8]
    assert {runner.benchmark for runner in opened} == {made.plan.id}


def test_of_a_plan_that_holds_more_only_what_is_asked_for_is_run(bench: Make) -> None:
    made = named(bench(lambda _: RIGHT))
    made.go()
    (first,) = made.plan.configurations
    second = Configuration("direct", first.models, {"temperature": 0.5})
    runner = named(made, problems=("tiny/1",), configurations=(second,), repeats=2).go()
    assert (runner.remaining, runner.left_out) == (2, 5)
    started = [entry.experiment for entry in of(made.entries(), ExperimentStarted)]
    assert started[1:] == list(made.plan.experiments())
    assert of(made.entries(), BenchmarkClosed)[-1] == BenchmarkClosed("stopped")
    made.plan = runner.plan
    assert made.go().remaining == 5
    assert of(made.entries(), BenchmarkClosed)[-1] == BenchmarkClosed("finished")


def test_an_error_that_is_not_asked_for_is_neither_run_again_nor_missed(bench: Make) -> None:
    made = named(bench(first_refused(), problems=("tiny/0",)))
    made.go()
    runner = named(made, problems=("tiny/1",), repeats=1).go()
    assert (runner.remaining, runner.left_out, runner.kept_errors) == (1, 0, 0)


def test_a_reply_that_was_cut_short_still_says_so_on_resume(bench: Make) -> None:
    made = bench(lambda _: "well " * 50, max_tokens=10)
    made.go()
    lines = made.path.read_bytes().splitlines(keepends=True)
    answered = next(number for number, line in enumerate(lines) if b'"call_finished"' in line)
    made.path.write_bytes(b"".join(lines[: answered + 1]))
    made.go()
    assert len(made.requests) == 1
    assert [end.failure for end in of(made.entries(), ExperimentFinished)] == ["truncated"]


def test_a_plan_that_names_less_takes_nothing_away_and_says_nothing_new(bench: Make) -> None:
    made = named(bench(lambda _: RIGHT, problems=("tiny/0", "tiny/1")))
    made.go()
    runner = named(made, problems=("tiny/1",)).go()
    assert runner.plan == runner.recorded
    assert runner.plan.problems == ("tiny/0", "tiny/1")
    assert len(of(made.entries(), BenchmarkOpened)) == 1


def test_a_run_at_other_prices_says_so_before_its_calls_and_only_if_it_has_any(bench: Make) -> None:
    made = named(bench(lambda _: RIGHT, problems=("tiny/0", "tiny/1")))
    made.energy, made.pilot = {"local_watts": 65.0}, 1
    made.go()
    made.energy, made.pilot = {"local_watts": 130.0}, None
    assert made.go().remaining == 1
    opened = [at for at, entry in enumerate(made.entries()) if isinstance(entry.event, BenchmarkOpened)]
    asked = [at for at, entry in enumerate(made.entries()) if isinstance(entry.event, CallStarted)]
    assert opened[0] < asked[0] < opened[1] < asked[1]
    first, second = of(made.entries(), BenchmarkOpened)
    assert (first.energy["local_watts"], second.energy["local_watts"], second.plan) == (65.0, 130.0, first.plan)
    made.energy = {"local_watts": 90.0}
    assert made.go().remaining == 0
    assert len(of(made.entries(), BenchmarkOpened)) == 2


def test_a_run_of_a_finished_benchmark_leaves_its_journal_as_it_is(bench: Make) -> None:
    made = bench(lambda _: RIGHT)
    made.go()
    before = made.path.read_bytes()
    assert made.go().remaining == 0
    assert made.path.read_bytes() == before


class NotingEngine(LocalEngine):
    """Runs experiments here, and keeps the plan of each run."""

    def __init__(self) -> None:
        self.plans: list[Plan] = []

    def running(
        self, header: BenchmarkOpened, models: frozenset[str], scheduler: Scheduler
    ) -> AbstractContextManager[Perform]:
        self.plans.append(header.plan)
        return super().running(header, models, scheduler)


def test_an_engine_is_given_only_the_configurations_that_run(bench: Make) -> None:
    made = named(bench(lambda _: RIGHT))
    made.go()
    (first,) = made.plan.configurations
    second = Configuration("direct", first.models, {"temperature": 0.5})
    made.engine = engine = NotingEngine()
    runner = named(made, configurations=(second,)).go()
    assert runner.plan.configurations == (first, second)
    third = Configuration("direct", first.models, {"temperature": 0.7})
    named(made, configurations=(first, second, third)).go()
    assert [plan.configurations for plan in engine.plans] == [(second,), (third,)]


def test_what_was_planned_under_other_conditions_does_not_extend(bench: Make) -> None:
    made = named(bench(lambda _: RIGHT), conditions={"test_timeout": 10.0, "vllm at": "http://a/v1"})
    made.go()
    named(made, conditions={"test_timeout": 3.0, "vllm at": "http://b/v1"})
    with pytest.raises(
        PlanError, match=r"limit of tests was 10.0 s and is now 3.0 s \(to undo the change: --test-timeout 10.0\)"
    ) as told:
        made.runner()
    assert (
        "the address of vllm was http://a/v1 and is now http://b/v1 (to undo the change: VLLM_BASE_URL=http://a/v1)"
        in str(told.value)
    )


def test_a_configuration_with_another_provider_may_be_added(bench: Make) -> None:
    made = named(bench(lambda _: RIGHT), conditions={"test_timeout": 10.0})
    made.go()
    runner = named(made, problems=("tiny/1",), conditions={"test_timeout": 10.0, "vllm at": "http://b/v1"}).go()
    assert runner.plan.conditions == {"test_timeout": 10.0, "vllm at": "http://b/v1"}


def test_a_model_that_koderz_no_longer_knows_has_no_tier_and_does_no_harm(bench: Make) -> None:
    plan = replace(bench(lambda _: "").plan, configurations=(Configuration("direct", {"coder": ("embedded/gone",)}),))
    assert header(plan, load_settings(), "none", "0").tiers == {}

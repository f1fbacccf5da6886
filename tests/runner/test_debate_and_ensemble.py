"""Debates and ensembles under the runner: killed, cancelled and short of money anywhere, they stay what they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from koderz_core.config import load_settings
from koderz_core.errors import PlanError
from koderz_core.events import CallFinished, CodeTested, ConsensusReached, Entry, ExperimentFinished, TurnSpoken
from koderz_core.plan.order import Wanted, configuration
from koderz_core.records import Budget, Configuration, Request
from koderz_core.strategies import complete, create

RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
WRONG = "```python\ndef add(a, b):\n    return a - b\n```"
ODD = "```python\ndef add(a, b):\n    return sum([a, -b])\n```"
Make = Callable[..., Any]  # Any: Bench of conftest.py, which a test module cannot import
DEBATE = ("debate", {"agents": "architect,coder", "rounds": 2, "max_iterations": 2})
ENSEMBLE = ("ensemble", {"samples": 3})
EITHER = pytest.mark.parametrize("chosen", [DEBATE, ENSEMBLE], ids=["debate", "ensemble"])


def require(strategy: str) -> None:
    if strategy == "ensemble":
        pytest.importorskip("codebleu", reason="the extra koderz[codebleu] is not installed")


def of(entries: list[Entry], kind: type) -> list[Any]:
    return [entry.event for entry in entries if isinstance(entry.event, kind)]


def answer(request: Request) -> str:
    """By what is asked and its seed alone, so that calls at the same time may come in any order."""
    said = request.messages[-1].content
    if "Write" not in said or "Several people have debated" in said:
        return f"Add them: {len(said)}."
    if "It passed" in said:
        return RIGHT
    return WRONG if request.seed % 2 else ODD


@pytest.fixture
def made(bench: Make, chosen: tuple[str, dict[str, Any]]) -> Any:
    strategy, parameters = chosen
    require(strategy)
    made = bench(answer, strategy)
    models = dict.fromkeys(create(strategy, parameters).roles(), ("scripted/it",))
    made.plan = replace(made.plan, configurations=(Configuration(strategy, models, complete(strategy, parameters)),))
    return made


@EITHER
def test_wherever_it_was_killed_it_ends_the_same_and_no_answered_call_is_made_again(made: Any) -> None:
    made.go()
    (whole,), calls = of(made.entries(), ExperimentFinished), len(made.requests)
    notes = of(made.entries(), TurnSpoken) + of(made.entries(), ConsensusReached)
    assert (calls, len(notes)) in ((7, 5), (3, 1))
    lines = made.path.read_bytes().splitlines(keepends=True)
    for kept in range(1, len(lines)):
        made.path.write_bytes(b"".join(lines[:kept]))
        answered = len(of(made.entries(), CallFinished))
        made.requests.clear()
        made.go()
        assert answered + len(made.requests) == calls, f"killed behind line {kept}"
        assert of(made.entries(), TurnSpoken) + of(made.entries(), ConsensusReached) == notes
        assert replace(of(made.entries(), ExperimentFinished)[-1], seconds=whole.seconds) == whole


@EITHER
def test_cancelled_at_any_call_it_asks_no_more_than_was_under_way(made: Any) -> None:
    made.go()
    calls = len(made.requests)
    for number in range(1, calls + 1):
        made.path.unlink()
        made.requests.clear()
        made.answer = lambda request, last=number: (
            answer(request) if len(made.requests) < last else (runner.stop(), answer(request))[1]
        )
        with made.runner() as runner:
            runner.start()
            runner.wait()
        assert len(made.requests) <= number + 2  # those that were asked at the same time
        assert [end.outcome for end in of(made.entries(), ExperimentFinished)] in ([], ["cancelled"])


@EITHER
@pytest.mark.parametrize("usd", [0.1, 0.6])
def test_what_its_budget_does_not_hold_is_never_asked(made: Any, usd: float) -> None:
    made.worst_usd = 0.25
    made.plan = replace(made.plan, budget=Budget(per_experiment_usd=usd))
    made.go()
    (end,) = of(made.entries(), ExperimentFinished)
    assert (end.outcome, end.reason) == ("unsolved", "budget")
    assert len(made.requests) == int(usd / 0.25)


@EITHER
def test_of_tests_and_solution_nothing_but_failures_that_were_shown_reach_a_prompt(made: Any) -> None:
    made.go()
    said = "\n".join(message.content for request in made.requests for message in request.messages)
    assert "MARKED" not in said
    assert ("candidate(1, 2) == 3" in said) == (made.plan.configurations[0].strategy == "debate")


def test_an_ensemble_without_any_program_has_the_score_kind_of_one_whose_programs_were_tested(bench: Make) -> None:
    require("ensemble")
    made = bench(lambda _: "No idea.", "ensemble", samples=2)
    made.go()
    (end,) = of(made.entries(), ExperimentFinished)
    assert (end.outcome, end.failure, end.score_kind) == ("unsolved", "extraction", "oracle")


def test_a_program_that_differs_from_a_tested_one_only_in_a_comment_has_passed_the_gate(bench: Make) -> None:
    require("ensemble")
    answers = iter([RIGHT, RIGHT.replace("a + b", "a + b  # again")])
    made = bench(lambda _: next(answers), "ensemble", samples=2)
    made.go()
    (end,), (tested,) = of(made.entries(), ExperimentFinished), of(made.entries(), CodeTested)
    assert (end.outcome, end.reason, end.code == tested.code) == ("solved", "gate", False)


def test_every_coder_of_an_ensemble_and_every_speaker_of_a_debate_is_asked() -> None:
    two, settings = ("scripted/weak", "scripted/strong"), load_settings()
    debate = configuration(Wanted("debate", {"coder": two[0], "speaker": two}), settings)
    assert debate.models == {"speaker": two, "judge": two[:1], "coder": two[:1]}
    require("ensemble")
    assert configuration(Wanted("ensemble", {"coder": two}), settings).models == {"coder": two}


def test_an_ensemble_is_refused_where_it_could_not_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("koderz_core.similarity.find_spec", lambda _: None)
    with pytest.raises(PlanError, match=r"CodeBLEU needs packages that are not installed \(codebleu"):
        configuration(Wanted("ensemble", {"coder": "scripted/weak"}), load_settings())

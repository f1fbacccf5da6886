"""Lessons and examples from other problems reach the coder, whatever somebody has put among the memories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from koderz_core import Order, Wanted, open_workspace
from koderz_core.datasets.programs import output_tests, program_problem
from koderz_core.errors import CortexError, SandboxError
from koderz_core.events import CallStarted, MemoryRecalled, TextStored
from koderz_core.journal import read_all
from koderz_core.memory.cortex.write_tools import remember
from koderz_core.memory.leak_guard import named_in_tests, same_problem
from koderz_core.memory.lessons import Evidence, Lesson, examples, lesson_metadata
from koderz_core.memory.memory_file import open_memory_file
from koderz_core.memory.patterns import ADVICE
from koderz_core.records import Asker, Facts, Plan, PublicProblem, Query, TestSet
from koderz_core.records.steps import Solved
from koderz_core.strategies import recorded
from koderz_core.workspace import Workspace

FEW = {"max_iterations": 2, "checkpoints": False, "spec": False}
ERRORS = ("assertion", "name", "exception")


def lesson(error: str, problems: range, *, scripted: bool = True) -> Lesson:
    evidence = tuple(Evidence(f"HumanEval/{at}", "humaneval", 2) for at in problems)
    return Lesson(error, "a wrong answer: None", evidence, scripted)


def asker(workspace: Workspace, problem: str, coder: str = "scripted/weak") -> Asker:
    return Asker("exp_0", problem, workspace.datasets.load().origin, {"coder": (coder,)})


def test_a_coder_that_failed_is_told_lessons_and_the_journal_knows_which() -> None:
    with open_workspace() as workspace:
        workspace.memories.keep([lesson("assertion", range(100, 104))])
        plan = workspace.plans.plan(
            Order([Wanted("supervised", {"coder": "scripted/weak"}, FEW | {"lessons": True})], "0:3")
        )
        workspace.runs.run(plan, concurrency=1)
        entries = list(read_all(workspace.settings.journals_dir / f"{plan.id}.jsonl"))
        events = [entry.event for entry in entries]
        recalled = [event for event in events if isinstance(event, MemoryRecalled) and event.memories]
        assert recalled
        assert "HumanEval/100" in recalled[0].memories[0].tags["problems"]
        texts = [event.text for event in events if isinstance(event, TextStored)]
    assert any(
        "Lessons from other problems:\n- a wrong answer: None (8 times on 4 problems)" in text and "Problem:" in text
        for text in texts
    )


def test_what_scripted_models_taught_is_told_to_scripted_models_only() -> None:
    with open_workspace() as workspace:
        workspace.memories.keep([lesson("name", range(100, 104))])
        query = Query("lesson", {"error": "name"}, limit=3)
        assert len(workspace.memories.recall(query, asker(workspace, "HumanEval/1"))) == 1
        assert workspace.memories.recall(query, asker(workspace, "HumanEval/1", "ollama/x")) == []


def test_a_memory_that_is_kept_elsewhere_is_a_fault_and_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KODERZ_CORTEX_COMMAND", "other-server")
    with open_workspace() as workspace, pytest.raises(CortexError, match="other-server"):
        workspace.memories.recall(Query("lesson"), asker(workspace, "HumanEval/1"))


def test_without_lessons_a_configuration_has_the_id_that_it_had() -> None:
    assert "lessons" not in recorded("supervised", {})
    assert recorded("supervised", {"lessons": True})["lessons"] is True


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with open_workspace(home=tmp_path_factory.mktemp("home")) as opened_one:
        yield opened_one


WORDS = some.text(max_size=20) | some.sampled_from(["is_prime", "candidate", "def f(x): pass"])
NEAR = some.integers(28, 35)  # is_prime and find_zero among them; 33 and 37 have nearly the same text
RIGHT = some.builds(Evidence, NEAR.map("HumanEval/{}".format), some.just("humaneval"), some.integers(0, 9))
WRONG = some.builds(
    Evidence, WORDS, WORDS, some.integers(-1, 9), changes=some.dictionaries(WORDS, some.integers(-1, 9))
)


def lessons(evidence: some.SearchStrategy[Evidence], pattern: some.SearchStrategy[str]) -> some.SearchStrategy[Lesson]:
    several = some.lists(evidence, max_size=8).map(tuple)
    return some.builds(Lesson, some.sampled_from(ERRORS), pattern, several, some.just(True))


LESSONS = lessons(RIGHT, some.sampled_from([*ADVICE])) | lessons(RIGHT | WRONG, some.sampled_from([*ADVICE]) | WORDS)


@given(some.lists(LESSONS, min_size=2, max_size=5), NEAR)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_stored_nothing_of_the_problem_or_its_twins_is_recalled(
    workspace: Workspace, stored: list[Lesson], solving: int
) -> None:
    Path(workspace.settings.home / "cortex.db").unlink(missing_ok=True)
    with open_memory_file(workspace.settings, make=True) as cortex:
        assert cortex is not None
        for record in stored:
            remember(cortex, title="Lesson", content="is_prime", tags=["lesson"], metadata=lesson_metadata(record))
    problems = {item.id: item for item in workspace.datasets.load().problems}
    problem = problems[f"HumanEval/{solving}"]
    for error in ERRORS:
        for memory in workspace.memories.recall(Query("lesson", {"error": error}), asker(workspace, problem.id)):
            sources = memory.tags["problems"].split()
            assert len(sources) >= 3
            assert not any(same_problem(problems[source].public, problem.public) for source in sources)
            assert not named_in_tests(problem) & set(memory.text.split())


def order(coder: str, seed: int, **parameters: bool) -> Order:
    return Order([Wanted("direct", {"coder": coder}, parameters)], "0:4", seed=seed)


def prompts(workspace: Workspace, asked: Plan) -> dict[str, str]:
    """The problem of each experiment with what its coder was told."""
    entries = list(read_all(workspace.settings.journals_dir / f"{asked.id}.jsonl"))
    texts = {entry.event.sha256: entry.event.text for entry in entries if isinstance(entry.event, TextStored)}
    names = {experiment.id: experiment.problem for experiment in asked.experiments()}
    return {
        names[str(entry.experiment)]: "".join(texts[message.text] for message in entry.event.messages)
        for entry in entries
        if isinstance(entry.event, CallStarted)
    }


def test_examples_are_of_other_problems_that_an_earlier_benchmark_solved() -> None:
    with open_workspace() as workspace:
        before, after = (workspace.plans.plan(order("scripted/strong", seed, examples=seed > 1)) for seed in (1, 2))
        workspace.runs.run(before, concurrency=1)
        workspace.runs.run(after, concurrency=1)
        told = prompts(workspace, after)
        problems = {problem.id: problem.public for problem in workspace.datasets.load().problems}
    assert all(prompt.count("A program that passed its tests:") == 2 for prompt in told.values())
    for name, prompt in told.items():
        assert prompt.count(f"def {problems[name].entry_point}(") == 1
    assert "Example 1:" not in "".join(prompts(workspace, before).values())


def test_experiments_of_one_benchmark_are_no_examples_to_each_other() -> None:
    with open_workspace() as workspace:
        alone = workspace.plans.plan(order("scripted/strong", 1, examples=True))
        workspace.runs.run(alone, concurrency=1)
        assert "Example 1:" not in "".join(prompts(workspace, alone).values())
        query = Query("solved", limit=2)
        assert len(workspace.memories.recall(query, asker(workspace, "HumanEval/9"))) == 2
        assert workspace.memories.recall(query, asker(workspace, "HumanEval/9", "ollama/x")) == []


TWINS = {  # a problem, and another of MBPP+ whose published solution passes its tests under its name
    "HumanEval/27": "Mbpp/557",
    "HumanEval/35": "Mbpp/294",
    "HumanEval/52": "Mbpp/433",
    "HumanEval/61": "Mbpp/771",
}


def recalled(workspace: Workspace, problem: str, dataset: str) -> set[str]:
    """The problems whose programs whoever solves this one would be shown, however many they are."""
    about = Asker("exp_0", problem, workspace.datasets.load(dataset).origin, {"coder": ("scripted/strong",)})
    return {item.tags["problem"] for item in workspace.memories.recall(Query("solved", limit=99), about)}


def test_no_example_solves_the_problem_that_is_to_be_solved(test_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KODERZ_DATASETS_DIR", str(test_data))
    stored = [*TWINS.values(), "Mbpp/428", "Mbpp/635", "Mbpp/2", "Mbpp/3", "Mbpp/6"]
    with open_workspace() as workspace:
        wanted = Wanted("direct", {"coder": "scripted/strong"})
        workspace.runs.run(workspace.plans.plan(Order([wanted], ",".join(stored), repeats=3), "mbpp+"), concurrency=2)
        for problem, twin in TWINS.items():
            shown = recalled(workspace, problem, "humaneval+")
            assert twin not in shown
            assert shown  # the guard leaves something
        assert "Mbpp/635" not in recalled(workspace, "Mbpp/428", "mbpp+")
        assert "Mbpp/428" not in recalled(workspace, "Mbpp/635", "mbpp+")


@pytest.mark.parametrize(
    ("body", "refused"),
    [("return a + b", True), ("return a - b", False), ("while True: pass", True), ("return a +", True)],
)
def test_only_a_program_that_gives_a_wrong_answer_is_known_not_to_solve_a_problem(body: str, refused: bool) -> None:
    with open_workspace(test_timeout=1.0) as workspace:
        problem = workspace.datasets.problem("HumanEval/53")
        assert problem.public.entry_point == "add"
        assert workspace.grading.may_solve(problem, f"def total(a, b):\n    {body}\n\nadd = total\n") is refused


def test_a_whole_program_that_solves_the_problem_in_other_words_is_no_example() -> None:
    asked = program_problem(
        "own/1",
        "A shopkeeper stacks boxes. Count them.",
        output_tests([("4\n", "10\n"), ("3\n", "6\n")]),
        TestSet(),
        Facts(),
    )
    source = PublicProblem("own/2", "Add the numbers from 1 to n.", "run", kind="program")
    scripts = {"exp_1": "n = int(input())\nprint(n * (n + 1) // 2)\n", "exp_2": "n = int(input())\nprint(n * n)\n"}
    with open_workspace() as workspace:
        shown = [
            memory.origin
            for experiment, code in scripts.items()
            for memory in examples(
                [Solved(experiment, source.id, "own", code)], asked, lambda *_: source, workspace.grading.may_solve, 1
            )
        ]
    assert shown == ["exp_2"]


def test_without_a_sandbox_no_example_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise SandboxError("The workers are closed.")

    with open_workspace() as workspace:
        workspace.runs.run(workspace.plans.plan(order("scripted/strong", 1)), concurrency=1)
        assert recalled(workspace, "HumanEval/9", "humaneval")
        monkeypatch.setattr(workspace.grading.judge, "check", refuse)
        assert not recalled(workspace, "HumanEval/9", "humaneval")

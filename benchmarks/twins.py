"""How many published solutions of other problems the guard over examples admits although they pass the tests.

Run: ``KODERZ_DATASETS_DIR=FOLDER_WITH_PUBLISHED_FILES python benchmarks/twins.py`` (some minutes). Of all ordered pairs
of problems of HumanEval+ and MBPP+, it finds those whose first program, under the second one's name, answers the first
``SCREENED`` calls of the second one's base tests like its solution. For these it counts the decisions of the guard, and
whether they pass the base tests and the plus tests. Only published solutions run in this process.
"""

from __future__ import annotations

import contextlib
import copy
import io
import resource
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from koderz_core import open_workspace
from koderz_core.grading.suites import base_and_plus
from koderz_core.grading.testsets import TestPolicy
from koderz_core.memory.leak_guard import SourcedText, admissible, renamed_programs
from koderz_core.memory.lessons import examples
from koderz_core.prompts.coding import example
from koderz_core.records import Problem
from koderz_core.records.steps import Solved
from koderz_core.workspace import Workspace

SCREENED = 18
SECONDS = 0.2  # for one program on the screened calls
MOST_MEMORY = 8 << 30  # bytes of address space, as long as one is run
Call = tuple[tuple[Any, ...], Any]  # Any: what a published function takes and gives


def main() -> None:
    with open_workspace(memory="off") as workspace:
        problems = {
            problem.id: problem
            for name in ("humaneval+", "mbpp+")
            for problem in workspace.datasets.load(name).problems
        }
        functions = {name: function for name, problem in problems.items() if (function := defined(problem))}
        counts: Counter[str] = Counter()
        for target in problems.values():
            calls = recorded(target, functions[target.id])
            counts["problems whose base tests make no call that can be recorded"] += not calls
            for name in sorted(functions.keys() - {target.id}) if calls else ():
                if answers_alike(functions[name], calls):
                    counted(counts, workspace, problems[name], target)
    print(f"{len(functions)} solutions, {len(functions) * (len(functions) - 1)} ordered pairs")
    for what, number in counts.items():
        print(f"{number:5}  {what}")


def counted(counts: Counter[str], workspace: Workspace, source: Problem, target: Problem) -> None:
    """The guard's decision about the solution of ``source`` for an experiment on ``target``."""
    program = source.canonical_solution
    row = Solved("exp_0", source.id, "", program)
    text = SourcedText(example(source.public.prompt, program), (source.public,), program)
    shown = examples([row], target, lambda _dataset, _problem: source.public, workspace.grading.may_solve, 1)
    passed_base, passed_plus = passes(workspace, source, target)
    counts["pairs that agree on the screened calls"] += 1
    counts["of these pass the base tests"] += passed_base
    counts["of these pass base and plus tests"] += passed_plus
    counts["admitted by texts, names and likeness alone"] += admissible(text, target)
    counts["of these pass the base tests (admitted)"] += admissible(text, target) and passed_base
    counts["of these pass base and plus tests (admitted)"] += admissible(text, target) and passed_plus
    counts["admitted by the whole guard"] += bool(shown)
    counts["of these pass the base tests (whole guard)"] += bool(shown) and passed_base
    if shown:
        print(f"shown for {target.id}: {source.id}")


def passes(workspace: Workspace, source: Problem, target: Problem) -> tuple[bool, bool]:
    tests = workspace.grading.divide(target, TestPolicy(plus=True, by_canonical=True))
    program = next(renamed_programs(target.public.entry_point, source.public, source.canonical_solution))
    found = base_and_plus(tests.base, tests.plus, lambda suite: workspace.grading.judge.check(target, program, suite))
    return found[0].passed, all(verdict.passed for verdict in found)


def defined(problem: Problem) -> Callable[..., Any] | None:
    names: dict[str, Any] = {}
    exec(problem.canonical_solution, names)
    return names.get(problem.public.entry_point)


def recorded(problem: Problem, function: Callable[..., Any]) -> list[Call]:
    """The first calls of its base tests, with the answers of its solution."""
    calls: list[Call] = []

    def record(*arguments: Any) -> Any:
        before = copy.deepcopy(arguments)
        answer = function(*arguments)
        calls.append((before, copy.deepcopy(answer)))
        return answer

    names: dict[str, Any] = {}
    with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
        exec(problem.canonical_solution, names)  # some tests call it by its name
        exec(problem.tests.source, names)
        names[problem.public.entry_point] = record  # as the asserts of MBPP call it
        names["check"](record)
    return calls[:SCREENED]


def answers_alike(function: Callable[..., Any], calls: list[Call]) -> bool:
    with contextlib.suppress(BaseException), contextlib.redirect_stdout(io.StringIO()), limited():
        return all(bool(function(*copy.deepcopy(given)) == answer) for given, answer in calls)
    return False


@contextlib.contextmanager
def limited() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError

    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, before[1]))
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, before)


if __name__ == "__main__":
    main()

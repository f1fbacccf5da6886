"""Compares the inputs that `koderz strengthen` makes for HumanEval with EvalPlus' plus inputs, by mutation score.

    python benchmarks/strengthening.py --problems sample:30

The inputs are chosen with one half of the mutants of each solution, and the scores are of the other half. The contracts
of EvalPlus, which koderz does not use, say which of the new inputs the problems do not allow. Needs humaneval+.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from koderz_core.grading.mutants import MOST_MUTANTS, Mutant, mutants
from koderz_core.grading.mutation_score import surviving
from koderz_core.grading.strengthening import Strengthening
from koderz_core.grading.suites import plus_tests
from koderz_core.grading.testsets import Split
from koderz_core.records import PlusTests, Problem
from koderz_core.sandbox.reference import trial_answers
from koderz_core.workspace import Workspace, open_workspace
from koderz_core.workspace.datasets import SOURCES, select


def guides(problem: Problem) -> tuple[Mutant, ...]:
    """The mutants that guide the choice of inputs."""
    return mutants(problem, None)[::2][:MOST_MUTANTS]


def others(problem: Problem) -> tuple[Mutant, ...]:
    """The mutants that score the inputs."""
    return mutants(problem, None)[1::2][:MOST_MUTANTS]


def contracts(opened: Workspace) -> dict[str, dict[str, Any]]:
    path = opened.datasets.placed(SOURCES["humaneval+"])
    assert path, "koderz download-data humaneval+"
    with (gzip.open if path.suffix == ".gz" else open)(path) as file:
        return {row["task_id"]: row for row in map(json.loads, file)}


def measure(opened: Workspace, plus: Problem, row: dict[str, Any], inputs: int) -> Counter[str]:
    """The numbers of one problem, all of which add up over problems."""
    grading, own = opened.grading, replace(plus, plus=None)
    judge, expectations = grading.judge, grading.expectations()
    made = Strengthening(judge, grading.canonical, grading.divide, expectations, trial_answers, guides)
    found = made.of(own, grading.policy, inputs, 0, row["atol"])
    split = grading.divide(plus, replace(grading.policy, plus=True))
    assert isinstance(split, Split), "every problem has base tests"
    scoring = others(plus)
    left = surviving(judge, own, scoring, split.base)
    new = PlusTests(json.dumps(found.inputs), tolerance=row["atol"])
    tests = plus_tests(replace(plus, plus=new), expectations, each_limited=True) if found.inputs else None
    left_new = surviving(judge, own, left, tests) if tests else left
    left_plus = surviving(judge, own, left, split.plus)
    contract = replace(own, canonical_solution=row["prompt"] + row["contract"] + row["canonical_solution"])
    allowed = trial_answers(contract, [json.dumps(call) for call in found.inputs], 0).outputs if found.inputs else ()
    numbers = Counter(
        mutants=len(scoring),
        base=len(scoring) - len(left),
        strengthened=len(scoring) - len(left_new),
        evalplus=len(scoring) - len(left_plus),
        both=len(scoring) - len(set(left_new) & set(left_plus)),
        inputs=len(found.inputs),
        published=len(split.plus.cases or ()),
        outside=sum(answer is None for answer in allowed),
        without=not found.inputs,
    )
    print(plus.id, dict(numbers), found.reason, flush=True)
    return numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", default="sample:30")
    parser.add_argument("--inputs", type=int, default=20)
    options = parser.parse_args()
    with open_workspace() as opened, ThreadPoolExecutor(2) as pool:
        problems, rows = select(opened.datasets.load("humaneval+"), options.problems), contracts(opened)
        found = pool.map(lambda problem: measure(opened, problem, rows[problem.id], options.inputs), problems)
        total = sum(found, Counter[str]())
    print(f"{len(problems)} problems, {total['mutants']} mutants, {total['without']} problems without new inputs")
    for name, tests in (("base", 0), ("strengthened", total["inputs"]), ("evalplus", total["published"]), ("both", 0)):
        print(f"{name}: {total[name] / total['mutants']:.1%} killed, {tests} more tests")
    print(f"inputs outside EvalPlus' contracts: {total['outside']} of {total['inputs']}")


if __name__ == "__main__":
    main()

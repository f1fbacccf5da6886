"""The prompts for problems that ask for more than a function: every prompt here is meant to be read.

The files in ``golden/kinds/`` are written by ``KODERZ_WRITE_PROMPTS=1 pytest tests/strategies/test_golden_kinds.py``; a
change in one of them needs a new version in ``koderz_core/prompts/kinds.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest
from stage import Stage
from test_golden_prompts import GOLDEN, WRITE

from koderz_core.prompts import testing
from koderz_core.records import Completion, Extracted, Message, PublicProblem, Sampling, TestFailure, Verdict
from koderz_core.strategies.direct import Direct
from koderz_core.strategies.supervised import Supervised

KINDS = GOLDEN / "kinds"
FAULTY = 'def largest(numbers):\n    """The largest number, None if there is none."""\n    return min(numbers)\n'
STUB = "class Counter:\n    def __init__(self, start):\n        pass\n\n    def next(self):\n        pass\n"
PROBLEMS = {
    "repair": PublicProblem("t/1", FAULTY, "largest", kind="repair", given=FAULTY),
    "module": PublicProblem(
        "t/2",
        f"# Instructions\n\nCount upwards, as in:\n\n```python\nCounter(3).next()  # 4\n```\n\n"
        f"counter.py\n```python\n{STUB}```\n",
        "Counter",
        kind="module",
        file="counter.py",
        given=STUB,
    ),
    "program": PublicProblem(
        "t/3",
        "Print the sum of n numbers.\n\n## Input\n\nThe number n, then n numbers in the next line.\n\n"
        "## Example\n\n```\n3\n1 2 3\n```\n\n```\n6\n```\n",
        "run",
        kind="program",
    ),
    "repo": PublicProblem(
        "t/4",
        "`largest` of an empty list must give None.\n",
        "",
        kind="repo",
        files={"src/lists.py": FAULTY, "src/other.py": f"import lists\n\n\n{STUB}", "setup.py": "import setuptools\n"},
        editable=("src/lists.py", "src/other.py"),
    ),
}
PROGRAMS = {
    "repair": "def largest(numbers):\n    return max(numbers)",
    "module": STUB.replace("pass", "return 4"),
    "program": "input()\nprint(sum(input().split()))",
    "repo": "src/lists.py\n<<<<<<< SEARCH\n    return min(numbers)\n=======\n    return max(numbers)\n>>>>>>> REPLACE",
}
METHOD = "CounterTest.test_next:\ndef test_next(self):\n    self.assertEqual(Counter(0).next(), 1)"
FAILURES = {
    "repair": TestFailure(1, "assert candidate([]) is None", message="ValueError: max() arg is an empty sequence"),
    "module": TestFailure(1, METHOD, message="AssertionError: 4 != 1"),
    "repo": TestFailure(1, "def test_empty():\n    assert largest([]) is None", message="ValueError: empty"),
    "program": TestFailure(1, r"run('3\n1 2 3\n')", r"'6\n'", "''"),
}


@dataclass
class Failing(Stage):
    """Keeps whole prompts; the second test fails whatever the program."""

    told: dict[str, str] = field(default_factory=dict)

    def ask(
        self, role: str, messages: Sequence[Message], sampling: Sampling | None = None, member: int = 0
    ) -> Completion:
        answer = super().ask(role, messages, sampling, member)
        whole = "\n\n".join(f"[{message.role}]\n{message.content}" for message in messages)
        self.told[f"{role}_{self.roles.count(role)}"] = f"{whole}\n"
        return answer

    def test(self, candidate: Extracted) -> Verdict:
        failure = FAILURES[self.problem.kind]
        return Verdict("PF", (failure,), True, "assertion", failure.message, 0.0, "none")


def prompts() -> Iterator[tuple[str, str]]:
    """The first prompts of some roles, and the second of the coder, for each kind."""
    for kind, problem in PROBLEMS.items():
        once, loop = (Failing(problem=problem, programs=(PROGRAMS[kind],) * 2) for _ in range(2))
        Direct().solve(once)
        Supervised(max_iterations=2, checkpoint_interval=1).solve(loop)
        told = {"direct": once.told["coder_1"]} | {name: loop.told[f"{name}_1"] for name in ("spec", "reviewer")}
        told |= {"coder_2": loop.told["coder_2"]}
        told |= {} if kind == "repo" else {"tester": f"{testing.write(problem, 5)[0].content}\n"}
        yield from ((f"{kind}_{name}", text) for name, text in told.items())


@pytest.mark.parametrize(("name", "text"), tuple(prompts()))
def test_models_are_told_what_was_read_for_each_kind(name: str, text: str) -> None:
    file = KINDS / f"{name}.txt"
    if WRITE:
        file.write_text(text)
    assert file.read_text() == text


def test_no_prompt_of_a_kind_is_kept_that_nobody_is_told() -> None:
    assert {file.stem for file in KINDS.glob("*.txt")} == {name for name, _ in prompts()}

"""What models are really told: every prompt here is meant to be read.

The files in ``golden/`` are written by ``KODERZ_WRITE_PROMPTS=1 pytest tests/strategies/test_golden_prompts.py``; a
change in one of them is a change of what is measured, so the version of its prompt is raised with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from stage import Stage

from koderz_core.grading.gates import visible
from koderz_core.prompts.coding import example
from koderz_core.records import (
    Completion,
    Extracted,
    Finish,
    Memory,
    Message,
    PublicProblem,
    Sampling,
    TestFailure,
    Verdict,
)
from koderz_core.strategies import create
from koderz_core.strategies.best_of import BestOf
from koderz_core.strategies.supervised import Supervised
from koderz_core.strategies.swarm import Swarm

GOLDEN = Path(__file__).parent / "golden"
WRITE = bool(os.environ.get("KODERZ_WRITE_PROMPTS"))
PROBLEM = PublicProblem(
    "t/1",
    "def second_smallest(numbers: list[int]) -> int | None:\n"
    '    """The second smallest of the different numbers in a list; None if there are fewer than two.\n\n'
    "    >>> second_smallest([5, 1, 3])\n    3\n"
    '    """\n',
    "second_smallest",
)
TESTS: Sequence[tuple[list[int], int | None]] = (
    ([1, 2, 3], 2),
    ([5, 1, 3], 3),
    ([1, 1, 2], 2),
    ([7], None),
    ([], None),
    ([2, 2], None),
)
HEAD = "def second_smallest(numbers):\n"
FIRST = HEAD + "    return sorted(numbers)[1]"
SECOND = HEAD + "    if len(numbers) < 2:\n        return None\n    return sorted(numbers)[1]"
THIRD = HEAD + "    return sorted(set(numbers))[1]"
STUCK = HEAD + "    smallest = min(numbers, default={0})\n    return min(n for n in numbers if n > smallest)"
LARGEST = "def largest(numbers):\n    return max(numbers, default=None)"
UNFINISHED = HEAD + "    return sorted(set(numbers)["
PROGRAMS: Sequence[str | None] = (
    *(FIRST, SECOND, SECOND + "  # now it is right", FIRST.replace("\n", "\n\n"), THIRD, None),
    *(STUCK.format(number) for number in range(9)),
)
REVIEWS = (
    """<think>The list [1, 1, 2] is the key.</think>
## 1. Failing tests
Lists with equal numbers, and lists with fewer than two different ones.

## 2. Root cause
`sorted(numbers)[1]` counts equal numbers twice.

## 3. Fix
Remove equal numbers first, and check how many are left:
```python
different = sorted(set(numbers))
return different[1] if len(different) > 1 else None
```

## 4. Edge cases
`[]`, `[7]` and `[2, 2]` must give None.

## 5. Strategy
Do not patch the index: work on the set of numbers.""",
    """**1. Failing tests:** all lists with fewer than two different numbers.
**2. Root cause:** `min()` of nothing raises ValueError.
**3. Fix:** give the second `min` `default=None`.
**4. Edge cases:** the empty list.
**5. Test criteria**
- `second_smallest([2, 2])` gives None""",
    "You are close: mind the default of `min`.",
)


@dataclass
class Rehearsal(Stage):
    """Keeps whole prompts, and runs the programs of its script; ``feedback``: the policy of what is told of that."""

    feedback: str = "full"
    told: dict[str, str] = field(default_factory=dict)

    def ask(
        self, role: str, messages: Sequence[Message], sampling: Sampling | None = None, member: int = 0
    ) -> Completion:
        number = self.tested + (role == "coder")
        whole = "\n\n".join(f"[{message.role}]\n{message.content}" for message in messages)
        self.told[f"{role}_{number:02}"] = f"{whole}\n\n[temperature {sampling.temperature if sampling else None}]\n"
        return super().ask(role, messages, sampling, member)

    def test(self, candidate: Extracted) -> Verdict:
        self.tested += 1
        return visible(self._verdict(candidate.code), self.feedback)

    def _verdict(self, code: str | None) -> Verdict:
        if code is None:
            return Verdict("-" * len(TESTS), (), False, "extraction", "No program was found in the reply.", 0.0, "none")
        scope: dict[str, object] = {}
        try:
            exec(code, scope)
        except SyntaxError as error:
            return Verdict("-" * len(TESTS), (), False, "truncated", f"SyntaxError: {error}", 0.0, "none")
        failures = [one for place, test in enumerate(TESTS) if (one := _failure(place, scope, *test))]
        marks = "".join("F" if any(item.index == place for item in failures) else "P" for place in range(len(TESTS)))
        first = failures[0] if failures else None
        error = None if first is None else "exception" if first.message else "assertion"
        return Verdict(marks, tuple(failures), True, error, first.message if first else "", 0.0, "none")


def _failure(place: int, scope: Mapping[str, object], numbers: list[int], expected: int | None) -> TestFailure | None:
    source = f"assert candidate({numbers}) == {expected}"
    try:
        actual = scope["second_smallest"](numbers)  # type: ignore[operator]
    except Exception as error:  # noqa: BLE001 (whatever a program raises)
        return TestFailure(place, source, message=f"{type(error).__name__}: {error}")
    return None if actual == expected else TestFailure(place, source, str(expected), str(actual))


def told(
    strategy: Supervised,
    feedback: str = "full",
    programs: Sequence[str | None] = PROGRAMS,
    reviews: Sequence[str] = REVIEWS,
    finish: Finish = "stop",
) -> dict[str, str]:
    remembered = [Memory("The second smallest of the different numbers.", "exp_000000000001")]
    stage = Rehearsal((), programs, remembered, (), reviews, PROBLEM, finishes={"coder": finish}, feedback=feedback)
    strategy.solve(stage)
    return stage.told


WHOLE = Supervised(max_iterations=16, reuse_spec=True, history_tokens=400)
PLAIN = Supervised(max_iterations=4, checkpoint_interval=3, spec=False, history_tokens=400)
BARE = Supervised(3, checkpoints=False, spec=False, previous_error=False, history_tokens=400)
SILENT = [REVIEWS[0], "<think>The list is"]
KEPT = (
    *("coder_01", "coder_02", "coder_04", "coder_05", "coder_06", "coder_07", "coder_10", "coder_11"),
    *("reviewer_05", "reviewer_10", "reviewer_15"),
)


def told_in_a_vote() -> dict[str, str]:
    """Two programs that are equally good by their tests, and differ in one call of the tester's."""
    tests = "```python\nassert second_smallest([1, 2, 3, 4]) == 2\nassert second_smallest([4, 3]) == 4\n```"
    highest = HEAD + "    return sorted(set(numbers))[-2]"
    stage = Rehearsal((), (FIRST, highest), says={"tester": tests}, problem=PROBLEM)
    BestOf(samples=2).solve(stage)
    return {f"best_of_{name}": text for name, text in stage.told.items() if not name.startswith("coder")}


def told_with_examples() -> Iterator[tuple[str, str]]:
    """By a strategy without feedback, which is told the commonest lessons from the start."""
    solved = example('def largest(numbers):\n    """The largest number, None if there is none."""\n', LARGEST)
    for text, parameter in ((solved, "examples"), ("An answer for empty input is missing.", "lessons")):
        stage = Rehearsal((), (THIRD,), [Memory(text, "exp_000000000001")], problem=PROBLEM)
        create("direct", {parameter: True}).solve(stage)
        yield f"{parameter}_coder_01", stage.told["coder_01"]


def told_in_a_swarm() -> dict[str, str]:
    """The critic of a program that fails gate tests and one of the tester's two, and the refiner after it."""
    tests = "```python\nassert second_smallest([4, 4, 5]) == 5\nassert second_smallest([1, 9]) == 9\n```"
    said = {"tester": tests, "critic": "<think>Equal ones.</think>`sorted(numbers)` keeps equal numbers apart."}
    stage = Rehearsal((), (SECOND, FIRST), says=said, problem=PROBLEM)
    Swarm(max_iterations=2).solve(stage)
    return {f"swarm_{name}": text for name, text in stage.told.items() if name.startswith(("critic", "refiner"))}


def prompts() -> dict[str, str]:
    """By the course that they are of: a reply is cut, the second review is empty, a review comes amid repetitions."""
    courses = {
        "whole": (told(WHOLE, programs=[*PROGRAMS, SECOND]), KEPT),
        "detailed": (told(Supervised(1, spec_prompt="detailed")), ["spec_00"]),
        "error": (told(PLAIN, "error"), ["coder_02", "coder_03", "reviewer_03"]),
        "count": (told(PLAIN, "count"), ["coder_02", "reviewer_03"]),
        "none": (told(PLAIN, "none"), ["coder_02", "coder_03", "reviewer_03"]),
        "no_error": (told(BARE), ["coder_03"]),
        "cut": (told(BARE, "none", [UNFINISHED] * 3, finish="length"), ["coder_03"]),
        "silent": (told(Supervised(7, 2, spec=False), reviews=SILENT), ["coder_05", "coder_06", "reviewer_06"]),
        "amid": (told(Supervised(6, 4, spec=False)), ["coder_04", "coder_05"]),
    }
    found = {f"{course}_{name}": told[name] for course, (told, kept) in courses.items() for name in kept}
    return found | told_in_a_vote() | told_in_a_swarm() | dict(told_with_examples())


@pytest.mark.parametrize(("name", "text"), prompts().items())
def test_models_are_told_what_was_read_and_found_good(name: str, text: str) -> None:
    file = GOLDEN / f"{name}.txt"
    if WRITE:
        file.write_text(text)
    assert file.read_text() == text


def test_no_prompt_is_kept_that_nobody_is_told_any_more() -> None:
    assert {file.stem for file in GOLDEN.glob("*.txt")} == set(prompts())

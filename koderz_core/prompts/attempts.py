"""Prompts for the coder after a failure: its program, the test results, earlier attempts, a reviewer's guidance.

Actual beside expected values help small models more than a traceback does. Text from a program stays on its line: it
could otherwise pass for another attempt, or for the question that a reviewer is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from koderz_core.prompts.coding import Brief, Prompt, asking, lessons_told
from koderz_core.prompts.quotes import escaped, fenced, inline_code
from koderz_core.prompts.sections import GUIDANCE_LIMIT
from koderz_core.records import Extracted, TestFailure, Verdict

VERSION = "3"
CODE_LIMIT = 6000  # characters of a shown program: about 1,500 tokens of the smallest context
BYTES_PER_TOKEN = 3
"""The fewest that tokenizers get out of prose and code (3 to 5), so that an estimate is rather too high."""
LATEST_TOKENS = (CODE_LIMIT + GUIDANCE_LIMIT) // BYTES_PER_TOKEN
"""What a prompt holds at most of the last program and of guidance."""
_HEADING_BYTES = 80
SHOWN_FAILURES = 3
SAID_LIMIT = 1000  # characters of one value or message: twice what is recorded of it, since escapes are longer
CUT = "truncated"
"""The class of error of a reply that was cut: it is about the reply, so every feedback tells it."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A candidate, the ``number``-th, and what the gate tests said of it.

    ``same_as``: the first attempt that was the same program, None if it is a new one.
    """

    number: int
    candidate: Extracted
    verdict: Verdict
    same_as: int | None = None


def next_attempt(brief: Brief, attempts: Sequence[Attempt], guidance: str = "", lessons: Sequence[str] = ()) -> Prompt:
    """After at least one attempt: the last of them, and of those before it what there is room for.

    ``lessons``: what other problems taught of its error.
    """
    last = attempts[-1]
    parts = [history(attempts, brief), _latest(last, brief.previous_error), *lessons_told(lessons), _advice(guidance)]
    return asking(brief, [part for part in (*parts, _request(last)) if part])


def fresh_attempt(brief: Brief, guidance: str = "", lessons: Sequence[str] = ()) -> Prompt:
    """A new start for a coder that repeats itself: nothing of its programs, which it would only copy."""
    return asking(brief, [part for part in (*lessons_told(lessons), _advice(guidance), "Write the function.") if part])


def history(attempts: Sequence[Attempt], brief: Brief) -> str:
    """The newest attempts before the last that the brief has room for, in their order; empty if there are none."""
    room, shown = brief.history_tokens * BYTES_PER_TOKEN - _HEADING_BYTES, list[str]()
    beginning = 0  # of the shown ones, the first with a program: without it the others after it say nothing
    for attempt in reversed(attempts[:-1]):
        text = _earlier(attempt, attempts[-1], brief.previous_error)
        room -= len(text.encode("utf-8", "replace")) + len("\n\n")
        if room < 0:
            break
        shown.insert(0, text)
        beginning = 0 if _is_new(attempt, attempts[-1]) else beginning + 1
    shown = shown[beginning:]
    return "\n\n".join([_heading(len(attempts), len(shown)), *shown]) if shown else ""


def _heading(attempts: int, shown: int) -> str:
    first, those = attempts - shown, "attempt" if shown == 1 else "attempts"
    hidden = f" ({_range(1, first - 1)} not shown)" if first > 1 else ""
    return f"Earlier: {those} {_range(first, attempts - 1)} of {attempts} so far{hidden}:"


def _range(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first} {'and' if last == first + 1 else 'to'} {last}"


def _is_new(attempt: Attempt, last: Attempt) -> bool:
    """Whether it has a program that neither an earlier attempt nor the last one shows."""
    return attempt.candidate.code is not None and attempt.same_as is None and last.same_as != attempt.number


def _earlier(attempt: Attempt, last: Attempt, with_error: bool) -> str:
    if last.same_as is not None and last.same_as in (attempt.number, attempt.same_as):
        return f"Attempt {attempt.number}: the same program as your previous attempt below."
    if attempt.same_as is not None:
        return f"Attempt {attempt.number}: the same program as attempt {attempt.same_as}."
    if attempt.candidate.code is None:
        return f"Attempt {attempt.number}: a reply without a program."
    said = f"\n{failing_tests(attempt.verdict, most=1)}" if with_error or _cut(attempt) else ""
    return f"Attempt {attempt.number}:\n{fenced(attempt.candidate.code, CODE_LIMIT)}{said}"


def _latest(attempt: Attempt, with_error: bool) -> str:
    if attempt.candidate.code is None:
        why = escaped(attempt.verdict.message, SAID_LIMIT) or "It held no program."
        return f"Your previous reply could not be tested. {why}"
    said = failing_tests(attempt.verdict) if with_error or _cut(attempt) else "It failed the tests."
    return f"Your previous attempt:\n{fenced(attempt.candidate.code, CODE_LIMIT)}\n\n{said}"


def _advice(guidance: str) -> str:
    return f"A reviewer of earlier attempts advises:\n{guidance}" if guidance else ""


def _cut(attempt: Attempt) -> bool:
    """Whether its reply was: that is told where nothing of the tests is, since it comes from none."""
    return attempt.verdict.error == CUT


def _request(last: Attempt) -> str:
    if _cut(last):
        return (
            "Write the whole function, in one ```python block, with little text around it, so that the reply is not "
            "cut again."
        )
    if last.candidate.code is None:
        return "Write the whole function, in one ```python block."
    if last.same_as is None:
        return "Write a corrected version. If the approach itself is wrong, choose another one."
    return (
        f"You have written this same program before: it is attempt {last.same_as} again. Repeating it cannot help, so "
        "write one that computes the answer in another way."
    )


def failing_tests(verdict: Verdict, most: int = SHOWN_FAILURES) -> str:
    """A paragraph on a verdict: how many tests passed and, of ``most`` of the first failures, what was seen.

    A verdict may tell less: how many passed and the class and message of the first failure, only how many, or nothing.
    """
    if verdict.error == CUT:
        return "It could not be tested: the reply was cut at its token limit, before the program was complete."
    passed = f"It passed {verdict.tests_passed} of {verdict.tests_total} tests."
    if not verdict.failures and "F" in verdict.marks:
        return f"{passed} The first failure is of class {_class(verdict)}" if verdict.error else passed
    if not verdict.failures:
        why = escaped(verdict.message, SAID_LIMIT) or verdict.error
        return f"It failed before any test could pass: {why}" if why else "It failed the tests."
    named = " (`candidate` stands for the function)" if "candidate(" in verdict.failures[0].source else ""
    lines = [f"{passed} Failing{named}:"]
    lines += [f"- {_one(failure)}" for failure in verdict.failures[:most]]
    hidden = len(verdict.failures) - most
    return "\n".join(lines + ([f"- and {hidden} more"] if hidden > 0 else []))


def _class(verdict: Verdict) -> str:
    said = escaped(verdict.message, SAID_LIMIT) or ("a wrong result" if verdict.error == "assertion" else "")
    return f"{verdict.error}: {said}" if said else f"{verdict.error}."


def _one(failure: TestFailure) -> str:
    source = inline_code(escaped(failure.source, SAID_LIMIT))
    if not failure.expected:
        return f"{source}: {escaped(failure.message, SAID_LIMIT)}"
    actual, expected = (escaped(str(value), SAID_LIMIT) for value in (failure.actual, failure.expected))
    return f"{source}: it gave {actual}, correct is {expected}"

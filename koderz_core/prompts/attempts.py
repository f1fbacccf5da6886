"""Prompts for the coder after a failure: its program, the test results, earlier attempts, a reviewer's guidance.

Small models profit more from actual and expected values than from a traceback. Text from a program stays on one line:
otherwise it could look like another attempt, or like a question to the reviewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from koderz_core.prompts.coding import Brief, Prompt, coder_prompt, lesson_paragraphs, request
from koderz_core.prompts.kinds import named, quoted, words
from koderz_core.prompts.markdown import BYTES_PER_TOKEN, escaped, fenced, inline_code
from koderz_core.records import Extracted, PublicProblem, TestFailure, Verdict

VERSION = "3"
GUIDANCE_LIMIT = 3000  # characters: longer guidance, of more than about 750 tokens, would crowd out the problem
CODE_LIMIT = 6000  # characters of a shown program: about 1,500 tokens of the smallest context
LATEST_TOKENS = (CODE_LIMIT + GUIDANCE_LIMIT) // BYTES_PER_TOKEN
"""The largest number of tokens that the last program and guidance take in a prompt."""
_HEADING_BYTES = 80
SHOWN_FAILURES = 3
TEST_LIMIT = 2000  # characters of the source of a test of a module, which has several lines
SAID_LIMIT = 1000  # characters of one value or message: twice the recorded length, because escapes are longer
CUT = "truncated"
"""The error class of a reply that was cut: it concerns the reply, so every feedback shows it."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The ``number``-th attempt: a candidate and its verdict on the gate tests.

    ``same_as``: the first attempt with the same program, None if the program is new.
    """

    number: int
    candidate: Extracted
    verdict: Verdict
    same_as: int | None = None


def next_attempt(brief: Brief, attempts: Sequence[Attempt], guidance: str = "", lessons: Sequence[str] = ()) -> Prompt:
    """The prompt after at least one attempt: it shows the last one, and earlier ones as far as there is room.

    ``lessons``: lessons from other problems on the error of the last attempt.
    """
    last = attempts[-1]
    parts = [
        history(attempts, brief),
        _latest(last, brief),
        *lesson_paragraphs(lessons),
        _advice(guidance),
    ]
    hints = hints_of(last.verdict) if brief.previous_error else ""
    return coder_prompt(brief, [part for part in (*parts, _request(last, brief.problem)) if part], hints)


def fresh_attempt(brief: Brief, guidance: str = "", lessons: Sequence[str] = ()) -> Prompt:
    """The prompt of a fresh start, for a coder that repeats its programs: it shows none that it could copy."""
    return coder_prompt(
        brief, [part for part in (*lesson_paragraphs(lessons), _advice(guidance), request(brief.problem)) if part]
    )


def history(attempts: Sequence[Attempt], brief: Brief) -> str:
    """The newest attempts before the last that fit into the brief's history, in order; empty if there are none."""
    room, shown = brief.history_tokens * BYTES_PER_TOKEN - _HEADING_BYTES, list[str]()
    beginning = 0  # the first shown attempt with a program: attempts before it only refer to others
    for attempt in reversed(attempts[:-1]):
        text = _earlier(attempt, attempts[-1], brief)
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
    """Whether an attempt has a program that neither an earlier attempt nor the last one has."""
    return attempt.candidate.code is not None and attempt.same_as is None and last.same_as != attempt.number


def _earlier(attempt: Attempt, last: Attempt, brief: Brief) -> str:
    said = words(brief.problem)
    if last.same_as is not None and last.same_as in (attempt.number, attempt.same_as):
        return f"Attempt {attempt.number}: the same {said.answer} as your previous attempt below."
    if attempt.same_as is not None:
        return f"Attempt {attempt.number}: the same {said.answer} as attempt {attempt.same_as}."
    if attempt.candidate.code is None:
        return f"Attempt {attempt.number}: a reply without a {said.answer}."
    with_error = brief.previous_error or _cut(attempt)
    results = f"\n{failing_tests(attempt.verdict, brief.problem, most=1)}" if with_error else ""
    return f"Attempt {attempt.number}:\n{quoted(attempt.candidate.code, brief.problem, CODE_LIMIT)}{results}"


def _latest(attempt: Attempt, brief: Brief) -> str:
    if attempt.candidate.code is None:
        why = escaped(attempt.verdict.message, SAID_LIMIT) or f"It held no {words(brief.problem).answer}."
        return f"Your previous reply could not be tested. {why}"
    with_error = brief.previous_error or _cut(attempt)
    said = failing_tests(attempt.verdict, brief.problem) if with_error else "It failed the tests."
    return f"Your previous attempt:\n{quoted(attempt.candidate.code, brief.problem, CODE_LIMIT)}\n\n{said}"


def hints_of(verdict: Verdict) -> str:
    """The texts of a verdict, with tracebacks if it has any: they name places in a repository."""
    said = [text for failure in verdict.failures[:SHOWN_FAILURES] for text in (failure.source, failure.message)]
    return "\n".join([verdict.message, *said])


def _advice(guidance: str) -> str:
    return f"A reviewer of earlier attempts advises:\n{guidance}" if guidance else ""


def _cut(attempt: Attempt) -> bool:
    """Whether the reply of an attempt was cut; shown even without feedback, because no test is involved."""
    return attempt.verdict.error == CUT


def _request(last: Attempt, problem: PublicProblem) -> str:
    said = words(problem)
    whole, corrected = named(said.whole, problem), named(said.corrected, problem)
    if _cut(last):
        return f"Write {whole}{said.block}, with little text around it, so that the reply is not cut again."
    if last.candidate.code is None:
        return f"Write {whole}{said.block}."
    if last.same_as is None:
        return f"Write {corrected}. If the approach itself is wrong, choose another one."
    return (
        f"You have written this same {said.answer} before: it is attempt {last.same_as} again. Repeating it cannot "
        f"help, so {said.repeated}."
    )


def failing_tests(verdict: Verdict, problem: PublicProblem, most: int = SHOWN_FAILURES) -> str:
    """A paragraph on a verdict: how many tests passed, and at most ``most`` failures with their values.

    A verdict may hold less: only the class and message of the first failure, only the counts, or nothing.
    """
    if verdict.error == CUT:
        return "It could not be tested: the reply was cut at its token limit, before the program was complete."
    passed = f"It passed {verdict.tests_passed} of {verdict.tests_total} tests."
    if not verdict.failures and "F" in verdict.marks:
        return f"{passed} The first failure is of class {_class(verdict)}" if verdict.error else passed
    if not verdict.failures:
        why = escaped(verdict.message, SAID_LIMIT) or verdict.error
        return f"It failed before any test could pass: {why}" if why else "It failed the tests."
    said = words(problem)
    meaning = f" ({said.meaning})" if said.call in verdict.failures[0].source else ""
    lines = [f"{passed} Failing{meaning}:"]
    lines += [f"- {_failure(failure, problem)}" for failure in verdict.failures[:most]]
    hidden = len(verdict.failures) - most
    return "\n".join(lines + ([f"- and {hidden} more"] if hidden > 0 else []))


def _class(verdict: Verdict) -> str:
    said = escaped(verdict.message, SAID_LIMIT) or ("a wrong result" if verdict.error == "assertion" else "")
    return f"{verdict.error}: {said}" if said else f"{verdict.error}."


def _failure(failure: TestFailure, problem: PublicProblem) -> str:
    if problem.kind in ("module", "repo") and "\n" in failure.source:
        return f"{escaped(failure.message, SAID_LIMIT)}, in the test:\n{fenced(failure.source, TEST_LIMIT)}"
    source = inline_code(escaped(failure.source, SAID_LIMIT))
    if not failure.expected:
        return f"{source}: {escaped(failure.message, SAID_LIMIT)}"
    actual, expected = (escaped(str(value), SAID_LIMIT) for value in (failure.actual, failure.expected))
    return f"{source}: it gave {actual}, correct is {expected}"

"""Prompt for the reviewer at a checkpoint: the real programs, what their tests said, what came of earlier reviews."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from koderz_core.events import Why
from koderz_core.prompts.attempts import Attempt, failing_tests
from koderz_core.prompts.quotes import fenced, one_line
from koderz_core.prompts.sections import FIX, WHOLE, Guidance
from koderz_core.records import Message, PublicProblem, Verdict

VERSION = "3"
PROGRAMS_LIMIT = 12_000  # characters of all programs shown together: about 3,000 tokens, whatever the interval
SHOWN_PROGRAMS = 8
SHOWN_REVIEWS = 8
GIST_LIMIT = 160
MARKS_LIMIT = 100

_TASK = (
    "You review the attempts of a weaker programmer at the function below. For each attempt you see the real program "
    "and what its tests said. The programmer will read your answer beside the problem and its latest attempt, and sees "
    "nothing else of this."
)
_MARKS = "Marks tell of all tests in order: P passed, F failed, - not reached."
_ANSWER = """Answer under exactly these headings, at most {words} words together:
## 1. Failing tests
{failing}
## 2. Root cause
Follow the latest program on a failing input: which line goes wrong, and why.
## 3. Fix
What to change, precisely; show the changed lines where that is clearer than words. If the approach itself is wrong, \
describe another one.
## 4. Edge cases
Inputs that the next program must handle, and what each must give."""
_SEEN = "Which tests fail, and what the failures have in common."
_UNSEEN = "You are not shown which tests fail: say which inputs must fail, going by the problem's text."
_STRATEGY = """
## 5. Strategy
Which approach suits this problem, which edge cases the failures point to, and which pitfalls to avoid."""
_TEST_CRITERIA = """
## 5. Test criteria
Concrete calls and the value that each must give, to check a program by hand. Only what follows from the text of the \
problem or from the failures shown: never guess a value."""
_LEAVE = "Another correction of the same kind will not help: find what all of these attempts get wrong."
_NOTES: dict[Why, str] = {
    "plateau": f"Plateau: the last 3 attempts passed equally many tests. {_LEAVE}",
    "repeated_error": f"The last 3 attempts failed with the same error. {_LEAVE}",
    "repeated_program": f"The last attempt repeats an earlier program. {_LEAVE}",
    "budget": "Half of what the programmer may spend is gone: put first what matters most.",
}


@dataclass(frozen=True, slots=True)
class Review:
    """A review after ``after_iteration`` attempts, and what of it was passed on."""

    after_iteration: int
    guidance: Guidance


def checkpoint(
    problem: PublicProblem,
    attempts: Sequence[Attempt],
    reviews: Sequence[Review],
    why: Why = "interval",
    *,
    disclosure: bool = True,
) -> tuple[Message, ...]:
    """Show the attempts since the last of ``reviews``, and what came of those; none of them was empty.

    ``why``: what the attempts show to be stuck by, or why a review is due now. ``disclosure``: the first review is also
    asked for a strategy, the second for test criteria.
    """
    new = attempts[reviews[-1].after_iteration if reviews else 0 :]
    shown = new[-SHOWN_PROGRAMS:]
    parts = [
        f"{_TASK} {_MARKS}" if any(attempt.verdict.failures for attempt in shown) else _TASK,
        f"Problem:\n{fenced(problem.prompt.rstrip())}",
        *_hidden(new, shown),
        *_programs(shown),
        *_earlier(attempts, reviews),
        *([_NOTES[why]] if why in _NOTES else []),
        _demand(len(reviews) if disclosure else None, seen=any(_seen(attempt.verdict) for attempt in shown)),
    ]
    return (Message("user", "\n\n".join(parts)),)


def _seen(verdict: Verdict) -> bool:
    """Whether it tells what fails: single tests, or what kept all of them from being reached."""
    return bool(verdict.failures) or (verdict.error is not None and "F" not in verdict.marks)


def _demand(earlier: int | None, *, seen: bool) -> str:
    extra = {0: _STRATEGY, 1: _TEST_CRITERIA}.get(earlier, "") if earlier is not None else ""
    return _ANSWER.format(words=300 if extra else 250, failing=_SEEN if seen else _UNSEEN) + extra


def _hidden(new: Sequence[Attempt], shown: Sequence[Attempt]) -> Iterator[str]:
    if len(shown) < len(new):
        first, last = new[0].number, shown[0].number - 1
        yield f"Attempt {first} is not shown." if first == last else f"Attempts {first} to {last} are not shown."


def _programs(shown: Sequence[Attempt]) -> Iterator[str]:
    """Each program once: at the first of these attempts that wrote it, whatever was written before them."""
    copies: dict[int, int] = {}
    limit = PROGRAMS_LIMIT // len(shown)
    for attempt in shown:
        first = copies.setdefault(attempt.same_as or attempt.number, attempt.number)
        if first < attempt.number:
            yield f"Attempt {attempt.number}: the same program as attempt {first}."
        else:
            yield f"Attempt {attempt.number}:\n{_program(attempt, limit)}\n{_said(attempt.verdict)}"


def _program(attempt: Attempt, limit: int) -> str:
    again = f"(the same program as attempt {attempt.same_as})\n" if attempt.same_as is not None else ""
    code = attempt.candidate.code
    return again + (fenced(code, limit) if code else "(no program in the reply)")


def _said(verdict: Verdict) -> str:
    """What its tests said; which of them passed only where single failures may be shown."""
    if not verdict.failures:
        return failing_tests(verdict)
    cut = "..." if len(verdict.marks) > MARKS_LIMIT else ""
    return f"{failing_tests(verdict)}\nMarks: {verdict.marks[:MARKS_LIMIT]}{cut}"


def _earlier(attempts: Sequence[Attempt], reviews: Sequence[Review]) -> Iterator[str]:
    """What came of each earlier review, in a line, and the latest guidance whole."""
    if not reviews:
        return
    borders = [0, *(review.after_iteration for review in reviews), len(attempts)]
    lines = [
        f"- Review {place} after attempt {review.after_iteration}: "
        f"{_best(attempts[borders[place - 1] : borders[place]])} before, "
        f"{_best(attempts[borders[place] : borders[place + 1]])} since. It advised: {_gist(review.guidance)}"
        for place, review in enumerate(reviews, 1)
    ][-SHOWN_REVIEWS:]
    yield "\n".join(["What came of earlier reviews (most tests passed by an attempt):", *lines])
    yield f"Your latest guidance, which did not suffice:\n{reviews[-1].guidance.text}"


def _best(attempts: Sequence[Attempt]) -> str:
    total = max(attempt.verdict.tests_total for attempt in attempts)
    best = max(attempt.verdict.tests_passed for attempt in attempts)
    return f"{best} of {total}" if total else "not told"


def _gist(guidance: Guidance) -> str:
    said = guidance.sections.get(FIX, "") if WHOLE not in guidance.passed_on else ""
    return one_line(said or guidance.text, GIST_LIMIT)

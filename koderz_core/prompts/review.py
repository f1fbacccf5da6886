"""Reviews at a checkpoint: the prompt, and the sections of the reviewer's answer that are passed on to the coder.

The prompt shows the programs, their test results and the effect of earlier reviews.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from koderz_core.events import Why
from koderz_core.prompts.attempts import GUIDANCE_LIMIT, Attempt, failing_tests, hints_of
from koderz_core.prompts.extraction import answer
from koderz_core.prompts.kinds import quoted, statement, words
from koderz_core.prompts.markdown import fair_shares, fence_after, one_line, shortened
from koderz_core.records import Message, PublicProblem, Verdict

VERSION = "3"
PROGRAMS_LIMIT = 12_000  # characters of all programs shown together: about 3,000 tokens, whatever the interval
SHOWN_PROGRAMS = 8
SHOWN_REVIEWS = 8
GIST_LIMIT = 160
MARKS_LIMIT = 100

_TASK = (
    "You review the attempts of a weaker programmer at {below}. For each attempt you see the real program "
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
    """A review after ``after_iteration`` attempts, and the guidance that was passed on."""

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
    """The prompt for a review: it shows the attempts since the last of ``reviews``, and the effect of these reviews.

    ``reviews``: only those that were not empty. ``why``: the sign that the attempts make no progress, or why a review
    is due. ``disclosure``: request two more sections: a strategy in the first review, test criteria in the second.
    """
    new = attempts[reviews[-1].after_iteration if reviews else 0 :]
    shown = new[-SHOWN_PROGRAMS:]
    task = _TASK.format(below=words(problem).below)
    parts = [
        f"{task} {_MARKS}" if any(attempt.verdict.failures for attempt in shown) else task,
        f"Problem:\n{statement(problem, hints_of(attempts[-1].verdict))}",
        *_hidden(new, shown),
        *_programs(shown, problem),
        *_earlier(attempts, reviews),
        *([_NOTES[why]] if why in _NOTES else []),
        _demand(len(reviews) if disclosure else None, seen=any(_seen(attempt.verdict) for attempt in shown)),
    ]
    return (Message("user", "\n\n".join(parts)),)


def _seen(verdict: Verdict) -> bool:
    """Whether a verdict shows what fails: single tests, or the error before all tests."""
    return bool(verdict.failures) or (verdict.error is not None and "F" not in verdict.marks)


def _demand(earlier: int | None, *, seen: bool) -> str:
    extra = {0: _STRATEGY, 1: _TEST_CRITERIA}.get(earlier, "") if earlier is not None else ""
    return _ANSWER.format(words=300 if extra else 250, failing=_SEEN if seen else _UNSEEN) + extra


def _hidden(new: Sequence[Attempt], shown: Sequence[Attempt]) -> Iterator[str]:
    if len(shown) < len(new):
        first, last = new[0].number, shown[0].number - 1
        yield f"Attempt {first} is not shown." if first == last else f"Attempts {first} to {last} are not shown."


def _programs(shown: Sequence[Attempt], problem: PublicProblem) -> Iterator[str]:
    """The attempts, each program only once: at the first of the shown attempts that wrote it."""
    copies: dict[int, int] = {}
    limit = PROGRAMS_LIMIT // len(shown)
    for attempt in shown:
        first = copies.setdefault(attempt.same_as or attempt.number, attempt.number)
        if first < attempt.number:
            yield f"Attempt {attempt.number}: the same {words(problem).answer} as attempt {first}."
        else:
            yield f"Attempt {attempt.number}:\n{_program(attempt, limit, problem)}\n{_said(attempt.verdict, problem)}"


def _program(attempt: Attempt, limit: int, problem: PublicProblem) -> str:
    answer = words(problem).answer
    again = f"(the same {answer} as attempt {attempt.same_as})\n" if attempt.same_as is not None else ""
    code = attempt.candidate.code
    return again + (quoted(code, problem, limit) if code else f"(no {answer} in the reply)")


def _said(verdict: Verdict, problem: PublicProblem) -> str:
    """The test results of an attempt; with the marks of all tests only if the feedback shows single failures."""
    if not verdict.failures:
        return failing_tests(verdict, problem)
    cut = "..." if len(verdict.marks) > MARKS_LIMIT else ""
    return f"{failing_tests(verdict, problem)}\nMarks: {verdict.marks[:MARKS_LIMIT]}{cut}"


def _earlier(attempts: Sequence[Attempt], reviews: Sequence[Review]) -> Iterator[str]:
    """The effect of each earlier review, in one line, and the whole latest guidance."""
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


SECTION_LIMIT = 6000  # characters that are recorded of a section

FAILING_TESTS, ROOT_CAUSE, FIX, EDGE_CASES = "failing tests", "root cause", "fix", "edge cases"
STRATEGY, TEST_CRITERIA, OTHER = "strategy", "test criteria", "other"
PASSED_ON = (ROOT_CAUSE, FIX, EDGE_CASES, STRATEGY, TEST_CRITERIA, OTHER)
WHOLE = "whole"
"""Passed on for an answer without a section on the fix, because the fix may be anywhere in it."""

_NAMES: Mapping[str, str] = {
    FAILING_TESTS: r"(?:fail(?:ing|ed)[ -]tests?|test failures?)(?: analys[ie]s)?",
    ROOT_CAUSE: r"(?:root[ -]causes?|diagnosis)(?: diagnosis| analys[ie]s)?",
    FIX: r"(?:proposed |suggested |recommended )?fix(?:es)?",
    EDGE_CASES: r"edge[ -]cases?(?: to (?:handle|consider))?",
    STRATEGY: r"strategic guidance|strategy",
    TEST_CRITERIA: r"test criteria",
}
_NUMBER = r"\(?\d{1,2}(?:[.):]+\s*|\s+)(?:[-\u2013\u2014]+\s+)?"
_COLON = r"[:\uff1a]|\s[-\u2013\u2014]+(?=\s|$)|[\u2013\u2014]"
_HEADING = re.compile(
    rf"(?:{_NUMBER})?(?:the )?(?:{'|'.join(f'(?P<n{i}>{name})' for i, name in enumerate(_NAMES.values()))})\b"
    rf"(?:(?P<more>[^\n]*?)(?P<colon>{_COLON})(?P<rest>[^\n]*)|(?P<only>[^\n]*))",
    re.IGNORECASE,
)
_ANY_HEADING = re.compile(rf" {{0,3}}(?:#{{1,6}}\s+\S|\*\*{_NUMBER}\S)")
_DEEPEST = 7  # a heading without #: below any with it
_LONGEST_HEADING = 60


@dataclass(frozen=True, slots=True)
class Guidance:
    """The text of a review that goes into the coder's next prompts; ``sections``: the answer by heading.

    Nothing is passed on of an answer that is empty or holds only thoughts.
    """

    text: str
    sections: Mapping[str, str]
    passed_on: tuple[str, ...]


def guidance(reply: str) -> Guidance:
    """The guidance in a reviewer's answer, without thoughts; its sections share GUIDANCE_LIMIT characters fairly."""
    text = answer(reply).strip()
    sections = {name: shortened(said, SECTION_LIMIT) for name, said in _read(text).items()}
    if FIX not in sections:
        return Guidance(shortened(text, GUIDANCE_LIMIT), sections, (WHOLE,) if text else ())
    passed_on = tuple(name for name in PASSED_ON if name in sections)
    titles = [f"{name.capitalize()}:\n" for name in passed_on]
    room = GUIDANCE_LIMIT - sum(len(title) + len("\n\n") for title in titles)
    shares = fair_shares({name: sections[name] for name in passed_on}, room)
    said = [shortened(sections[name], limit) for name, limit in shares.items()]
    return Guidance("\n\n".join(map(str.__add__, titles, said)), sections, passed_on)


@dataclass(frozen=True, slots=True)
class _Heading:
    """The section that a line begins, the level of its heading (1 to 7), and the text after the heading."""

    name: str
    level: int
    rest: str


def _read(text: str) -> dict[str, str]:
    """Non-empty sections by name; text before the first heading belongs to none."""
    found: dict[str, list[str]] = {}
    now, fence = _Heading("", _DEEPEST, ""), ""
    for line in text.split("\n"):
        before, fence = fence, fence_after(line, fence)
        heading = None if before or fence else _heading(line, now)
        now = heading or now
        if now.name:
            found.setdefault(now.name, []).append(heading.rest if heading else line)
    joined = {name: "\n".join(lines).strip() for name, lines in found.items()}
    return {name: content for name, content in joined.items() if content}


def _heading(line: str, now: _Heading) -> _Heading | None:
    """The heading in a line, if any, after the heading ``now``; a deeper heading is part of the section of ``now``.

    An unknown heading ends only the failing tests, which the coder does not get; otherwise it is part of the section.
    """
    level = _level(line)
    if level is None or now.level < level < _DEEPEST:
        return None
    if found := _named(line, hashed=level < _DEEPEST):
        return _Heading(found[0], level, found[1])
    return _Heading(OTHER, level, line) if now.name == FAILING_TESTS and _ANY_HEADING.match(line) else None


def _level(line: str) -> int | None:
    """The level of a heading on this line; None: the line is a list item or code."""
    text = line.expandtabs(4)
    body = text.lstrip(" ")
    if len(text) - len(body) > 3 or body.startswith(("* ", "- ")):  # spec.commonmark.org/0.31.2/#atx-headings
        return None
    return min(len(body) - len(body.lstrip("#")), _DEEPEST) or _DEEPEST


def _named(line: str, *, hashed: bool) -> tuple[str, str] | None:
    """A section's name and the rest of its line, for a heading with any number, case or bold. ``hashed``: after #."""
    match = _HEADING.match(line.strip().strip("#*_ "))
    more = (match["more"] if match["colon"] else match["only"]).strip(" *_#") if match else ""
    if not match or len(more) > _LONGEST_HEADING or (more and not hashed):
        return None
    name = next(name for place, name in enumerate(_NAMES) if match[f"n{place}"])
    rest = (match["rest"] or "").strip().removeprefix("**").strip()
    return name, f"{more}{match['colon']} {rest}".strip() if more and rest else more or rest

"""The prompt for the critic of one program, which shows its test results, and the remarks in the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from koderz_core.prompts.attempts import CODE_LIMIT, GUIDANCE_LIMIT, failing_tests
from koderz_core.prompts.extraction import answer
from koderz_core.prompts.kinds import quoted, statement
from koderz_core.prompts.markdown import escaped, inline_code, shortened
from koderz_core.prompts.testing import OwnTest
from koderz_core.records import Message, Observed, PublicProblem, Verdict

VERSION = "1"
MOST_TESTS = 5  # failed tests of a tester in one prompt
_SAID_LIMIT = 200  # characters of one value

_TASK = (
    "You are the critic of the program below. Somebody else will correct it, who sees the problem, the program, what "
    "the tests said and your critique, and nothing else of this. Say (1) which line goes wrong first and why, going "
    "through a failing input step by step, (2) what must change, (3) which other inputs the text of the problem "
    "allows that the program handles wrongly. If the approach itself is wrong, say so and describe another one. Praise "
    "nothing, and do not write the whole program. At most 200 words."
)
_OWN = (
    "A tester who has seen the problem's text, but no program, wrote other tests; the tester may be wrong, so check "
    "each against that text before you rely on it. The program passed {passed} of {total} of these."
)


@dataclass(frozen=True, slots=True)
class Tested:
    """A test that a model wrote, with the result of the whole test (``held``) and of its call (``gave``)."""

    test: OwnTest
    held: Observed
    gave: Observed

    @property
    def passed(self) -> bool:
        return self.held.value == "True"


def ask(problem: PublicProblem, code: str, verdict: Verdict, own: Sequence[Tested] = ()) -> tuple[Message, ...]:
    """The prompt for a critique of a program that failed. ``own``: the results of tests that a model wrote, if any."""
    parts = [
        _TASK,
        f"Problem:\n{statement(problem)}",
        f"Program:\n{quoted(code, problem, CODE_LIMIT)}",
        failing_tests(verdict, problem),
        *(["\n".join(_own(own))] if own else []),
    ]
    return (Message("user", "\n\n".join(parts)),)


def remarks(reply: str) -> str:
    """The remarks in an answer, without thoughts, at most GUIDANCE_LIMIT characters."""
    return shortened(answer(reply).strip(), GUIDANCE_LIMIT)


def _own(own: Sequence[Tested]) -> Iterator[str]:
    failed = [candidate for candidate in own if not candidate.passed]
    yield _OWN.format(passed=len(own) - len(failed), total=len(own)) + (" Those it failed:" if failed else "")
    for tested in failed[:MOST_TESTS]:
        yield f"- {inline_code(escaped(tested.test.claim, _SAID_LIMIT))}: the call {_gave(tested.gave)}"


def _gave(observed: Observed) -> str:
    if observed.value is not None:
        return f"gives {escaped(observed.value, _SAID_LIMIT)}"
    return f"fails ({escaped(observed.message, _SAID_LIMIT) or observed.error})"

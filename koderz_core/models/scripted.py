"""Models that follow a script instead of thinking (mock mode). All their answers are marked SCRIPTED."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from koderz_core.errors import UnknownNameError
from koderz_core.models.capabilities import TOKENS, Capabilities
from koderz_core.models.provider import Provider
from koderz_core.patches import read_patch
from koderz_core.protocols import OnText
from koderz_core.records import Completion, Finish, Message, Request, Sampling, Usage
from koderz_core.records.completions import EFFORTS

WORDS_PER_PIECE = 4
TOKENS_PER_EFFORT = 50


class ScriptedModel:
    """Answers each request with ``answer(request)``; a token is a word.

    It takes ``seconds_per_piece`` for each piece of a few words, with or without a listener, so that a screen has
    something to show. It ignores temperature and top_p; ``max_tokens`` cuts its answer. Under an effort it reports more
    or fewer tokens of reasoning.
    """

    def __init__(self, id: str, answer: Callable[[Request], str], seconds_per_piece: float = 0.0) -> None:  # noqa: A002
        self.id = id
        self._answer = answer
        self._seconds_per_piece = seconds_per_piece

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """The scripted answer. Raises only what ``answer`` or ``on_text`` raise."""
        started = time.monotonic()
        script = _words(self._answer(request))
        words = script[: request.sampling.max_tokens]
        first: float | None = None
        for start in range(0, len(words), WORDS_PER_PIECE):
            if request.turn_seconds is not None and time.monotonic() - started >= request.turn_seconds:
                return _out_of_time(request, time.monotonic() - started)
            time.sleep(self._seconds_per_piece)
            if on_text:
                first = first if first is not None else time.monotonic() - started
                on_text("".join(words[start : start + WORDS_PER_PIECE]))
        return Completion(
            text="".join(words),
            finish=_finish(script, words),
            usage=_usage(request, len(words)),
            seconds=time.monotonic() - started,
            honoured=Sampling(
                max_tokens=request.sampling.max_tokens, seed=request.seed, effort=request.sampling.effort
            ),
            first_token_seconds=first,
        )

    def close(self) -> None:
        """Do nothing: it holds no resources."""


@dataclass(frozen=True, slots=True)
class Actor:
    """How often an actor's program is correct, and how slowly it answers."""

    rate: float
    seconds_per_piece: float = 0.0


ACTORS: Mapping[str, Actor] = {
    "strong": Actor(0.9),
    "weak": Actor(0.4),
    "never": Actor(0.0),
    "slow": Actor(0.4, seconds_per_piece=0.05),
    "stubborn": Actor(0.0, seconds_per_piece=0.2),
}

_SENTENCE = "SCRIPTED: solve the problem step by step. Check the edge cases."
_REVIEW = """SCRIPTED.
## 1. Failing tests
SCRIPTED: all failures look alike.
## 2. Root cause
SCRIPTED: the program returns None.
## 3. Fix
SCRIPTED: return the value the problem needs.
## 4. Edge cases
SCRIPTED: empty input, one element, and many elements."""


def actor(name: str, programs: Mapping[str, str]) -> Callable[[Request], str]:
    """The script of an actor. ``programs``: a correct program for each problem text. Raises UnknownNameError.

    A request for a program (its system message contains a Python block) is answered with the correct program at the
    actor's rate, decided by the request's seed alone, and otherwise with a program that returns None, or for a
    repository with a patch that adds a comment. Any other request is answered with a sentence, or with one under each
    heading of a review if it asks for headings.
    """
    if name not in ACTORS:
        raise UnknownNameError("scripted model", name, ACTORS)
    rate = ACTORS[name].rate

    def answer(request: Request) -> str:
        problem = _problem(request.messages, programs)
        first = request.messages[0]
        if first.role != "system" or "```python" not in first.content:
            return _REVIEW if "\n## " in request.messages[-1].content else _SENTENCE
        if problem is None:
            return "SCRIPTED: this scripted model does not know the problem in the request."
        correct = Random(request.seed).random() < rate  # noqa: S311 (an actor's luck, not a secret)
        solution = programs[problem]
        is_patch = solution.startswith(("--- ", "diff --git "))
        wrong = _idle(solution) if is_patch else _wrong(problem)
        block = f"```{'diff' if is_patch else 'python'}\n{(solution if correct else wrong).rstrip()}\n```"
        return f"SCRIPTED: this may solve it.\n\n{block}\n"

    return answer


def _problem(messages: tuple[Message, ...], programs: Mapping[str, str]) -> str | None:
    """The known problem whose text is last in the latest message with one; examples of other problems come first."""
    for message in reversed(messages):
        if known := [problem for problem in programs if problem in message.content]:
            return max(known, key=message.content.rfind)
    return None


def _wrong(problem: str) -> str:
    """A program whose function returns None. The problem's text defines that function last, after its helpers."""
    names = re.findall(r"def (\w+)\(", problem)
    return f"def {names[-1] if names else 'solution'}(*args, **kwargs):\n    return None\n"


def _idle(patch: str) -> str:
    """A patch of the same place that adds a comment only; "" if no file that exists changes its content."""
    found = ((change.old, hunk) for change in read_patch(patch) if change.old for hunk in change.hunks)
    path, hunk = next(found, ("", None))
    if hunk is None:
        return ""
    lines = [f" {line}" for line in hunk.before]
    lines.insert(1, "+# SCRIPTED: this comment changes nothing.\n")
    size = len(hunk.before)
    heading = f"@@ -{hunk.start},{size} +{hunk.start},{size + 1} @@"
    return f"--- a/{path}\n+++ b/{path}\n{heading}\n{''.join(lines)}"


def _words(text: str) -> list[str]:
    """The words of a text with their white space, so that they join to the same text."""
    return re.findall(r"\s*\S+(?:\s+\Z)?", text)


def _usage(request: Request, words: int) -> Usage:
    """A token is a word. The reasoning is a part of the output."""
    sent, effort = sum(len(_words(message.content)) for message in request.messages), request.sampling.effort
    if not effort:
        return Usage(sent, words, 0, 0)
    thoughts = int(effort) if effort.isdigit() else TOKENS_PER_EFFORT * EFFORTS.index(effort)
    return Usage(sent, words + thoughts, 0, 0, reasoning_tokens=thoughts)


def _out_of_time(request: Request, seconds: float) -> Completion:
    """The answer of a model that the time limit of its turn ended."""
    return Completion("", "timeout", Usage(), seconds, Sampling(max_tokens=request.sampling.max_tokens))


def _finish(script: list[str], words: list[str]) -> Finish:
    if len(words) < len(script):
        return "length"
    return "stop" if words else "empty"


PROVIDER = Provider(
    create=lambda card, _, programs: ScriptedModel(
        card.id, actor(card.name, programs()), ACTORS[card.name].seconds_per_piece
    ),
    ready="SCRIPTED: mock mode",
    names=tuple(ACTORS),
    closed=True,
    rows=((".*", Capabilities(effort=(*EFFORTS, TOKENS), source="a script")),),
)

"""The whole architecture on one screen: who asks whom for what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Protocol

from koderz_core.events import Note
from koderz_core.records import (
    Ask,
    Completion,
    Extracted,
    Memory,
    Message,
    Observed,
    Problem,
    PublicProblem,
    Query,
    Remaining,
    Request,
    Sampling,
    TestSet,
    Verdict,
)

OnText = Callable[[str], None]
"""Receives a streamed answer piece by piece; may raise to end the call."""


class Model(Protocol):
    """A language model. One attempt per call: retries and limits are the runner's."""

    @property
    def id(self) -> str: ...

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Answer once; raise ModelError if the provider failed. Safe to call from several threads."""

    def close(self) -> None:
        """Give back what the model holds: processes, connections. Idempotent."""


class Judge(Protocol):
    """Runs a program on tests, isolated; what the program does wrong is in the verdict."""

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        """Raise SandboxError only if the program could not be judged. Safe to call from several threads."""

    def probe(self, problem: PublicProblem, code: str, calls: Sequence[str]) -> tuple[Observed, ...]:
        """What each call gives, an expression that only the program's own process reads. Else as ``check``."""


class Context(Protocol):
    """All a strategy may do. Metering, journal, cancelling and replay happen behind it."""

    problem: PublicProblem
    random: Random

    def ask(
        self, role: str, messages: Sequence[Message], sampling: Sampling | None = None, member: int = 0
    ) -> Completion:
        """Ask the ``member``-th model of a role."""

    def members(self, role: str) -> int:
        """How many models a role has; none for one that the strategy did not name among its ``roles``."""

    def ask_many(self, asks: Sequence[Ask]) -> list[Completion]:
        """Ask all of them at the same time; if some fail, the others are let end and the first error is raised."""

    def test(self, candidate: Extracted) -> Verdict:
        """Run a candidate on the gate tests: one iteration. No code found is a verdict too."""

    def probe(self, code: str, calls: Sequence[str]) -> list[Observed]:
        """What these calls of a program give, such as ``f([1, 2])``: no iteration, and never part of the score."""

    def recall(self, query: Query) -> Sequence[Memory]:
        """What is remembered from outside this experiment, the best first."""

    def remaining(self) -> Remaining:
        """What may still be used."""

    def note(self, note: Note) -> None:
        """Put something worth knowing into the journal."""


class Strategy(Protocol):
    """A way of solving: a frozen dataclass of its parameters, with one method that matters."""

    def roles(self) -> tuple[str, ...]:
        """The roles it asks, given its parameters."""

    def solve(self, ctx: Context) -> str | None:
        """The best candidate (most gate tests, then latest); None only if no reply held code."""

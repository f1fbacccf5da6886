"""The interfaces between the parts of koderz: models, the judge, strategies and their context."""

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
    """A language model. Each call makes one attempt; the runner handles retries and rate limits."""

    @property
    def id(self) -> str: ...

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Answer once. Raises ModelError if the provider failed. May be called from several threads."""

    def close(self) -> None:
        """Release the resources of the model, such as processes and connections. Idempotent."""


class Judge(Protocol):
    """Runs programs on tests in isolation. A fault of the program is part of the verdict, never an exception."""

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        """Return the verdict on a program. May be called from several threads.

        Raises SandboxError only if the program could not be judged.
        """

    def probe(self, problem: PublicProblem, code: str, calls: Sequence[str]) -> tuple[Observed, ...]:
        """Return the result of each call; only the program's own process evaluates the calls. Raises as ``check``."""


class Context(Protocol):
    """Everything that a strategy may do. The context also handles costs, the journal, cancelling and resuming."""

    problem: PublicProblem
    random: Random

    def ask(
        self, role: str, messages: Sequence[Message], sampling: Sampling | None = None, member: int = 0
    ) -> Completion:
        """Ask the model number ``member`` (from 0) of a role."""

    def members(self, role: str) -> int:
        """Return the number of models of a role; 0 for a role that is not among the strategy's ``roles``."""

    def ask_many(self, asks: Sequence[Ask]) -> list[Completion]:
        """Send several requests at the same time.

        If a request fails, the other requests are completed before the first error is raised.
        """

    def test(self, candidate: Extracted) -> Verdict:
        """Run a program on the gate tests: one iteration. An answer without a program gets a verdict too."""

    def probe(self, code: str, calls: Sequence[str]) -> list[Observed]:
        """Return the results of calls, such as ``f([1, 2])``. They do not count as an iteration or in the score."""

    def recall(self, query: Query) -> Sequence[Memory]:
        """Return memories from outside this experiment, the best first."""

    def remaining(self) -> Remaining:
        """Return the iterations and the money that the experiment may still use."""

    def note(self, note: Note) -> None:
        """Write a note to the journal."""


class Strategy(Protocol):
    """A way to solve problems: a frozen dataclass whose fields are the parameters of the strategy."""

    def roles(self) -> tuple[str, ...]:
        """Return the roles that the strategy asks with its parameters."""

    def solve(self, ctx: Context) -> str | None:
        """Return the best program (most gate tests passed, then latest); None if no answer contained a program."""

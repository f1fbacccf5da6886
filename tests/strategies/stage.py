"""A context that answers from a script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from koderz_core.events import CheckpointReviewed, Note
from koderz_core.records import (
    Ask,
    Completion,
    Extracted,
    Finish,
    Memory,
    Message,
    Observed,
    PublicProblem,
    Query,
    Remaining,
    Sampling,
    TestFailure,
    Usage,
    Verdict,
)
from koderz_core.strategies.facts import ROLES

WRITERS = {name for name, role in ROLES.items() if role.writes_programs}
PROBLEM = PublicProblem("t/0", 'def f(x):\n    """Double x."""\n', "f")


@dataclass
class Stage:
    """A context: program ``n`` passes ``passes[n]`` of 3 tests and is ``programs[n]``, else one like no other.

    ``remembered`` is recalled, ``dollars`` are left each time it is asked, and ``reviews`` and
    ``spec`` answered by the reviewer and the spec model. If it ``selects``, a selector finds all coders equally good.
    Each answer of a role ends as in ``finishes``; a program whose answer was cut does not parse.
    ``says``: what other roles answer; ``coders``: how many there are. A probe really runs a program.
    """

    passes: Sequence[int] = ()
    programs: Sequence[str | None] = ()
    remembered: Sequence[Memory] = ()
    dollars: Sequence[float | None] = ()
    reviews: Sequence[str] = ()
    problem: PublicProblem = PROBLEM
    random: Random = field(default_factory=lambda: Random(1))
    says: Mapping[str, str] = field(default_factory=dict)
    coders: int = 1
    asked: list[tuple[str, str, Sampling | None]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    queries: list[Query] = field(default_factory=list)
    finishes: Mapping[str, Finish] = field(default_factory=dict)
    spec: str | None = None
    members_asked: list[int] = field(default_factory=list)
    probed: list[tuple[str, Sequence[str]]] = field(default_factory=list)
    tested: int = 0
    times_left_was_asked: int = 0
    selects: bool = False

    def ask(
        self, role: str, messages: Sequence[Message], sampling: Sampling | None = None, member: int = 0
    ) -> Completion:
        self.asked.append((role, messages[-1].content, sampling))
        self.members_asked.append(member)
        number = sum(role in WRITERS for role in self.roles)
        text = self._program(number) if role in WRITERS else self.says.get(role, f"{role} says {number}")
        if role == "spec" and self.spec is not None:
            text = self.spec
        review = len(self.prompts("reviewer"))
        if role == "reviewer" and review <= len(self.reviews):
            text = self.reviews[review - 1]
        return Completion(text, self.finishes.get(role, "stop"), Usage(), 0.0, Sampling())

    def ask_many(self, asks: Sequence[Ask]) -> list[Completion]:
        return [self.ask(ask.role, ask.messages, ask.sampling, ask.member) for ask in asks]

    def _program(self, number: int) -> str:
        program = self.programs[number - 1] if number <= len(self.programs) else f"def f(x):\n    return {number}"
        return "I do not know." if program is None else f"```python\n{program}\n```"

    def members(self, role: str) -> int:
        return self.coders if role == "coder" else 1

    def probe(self, code: str, calls: Sequence[str]) -> list[Observed]:
        self.probed.append((code, calls))
        scope: dict[str, object] = {}
        exec(code, scope)
        return [_observed(call, scope) for call in calls]

    def test(self, candidate: Extracted) -> Verdict:
        passed = self.passes[self.tested]
        self.tested += 1
        if candidate.finish == "length":
            return Verdict("---", (), False, "truncated", "SyntaxError: '(' was never closed", 0.0, "none")
        failures = tuple(TestFailure(i, f"candidate({i}) == {i}", str(i), "9") for i in range(passed, 3))
        error = "assertion" if failures else None
        return Verdict("P" * passed + "F" * (3 - passed), failures, True, error, "", 0.0, "none")

    def recall(self, query: Query) -> Sequence[Memory]:
        self.queries.append(query)
        return self._ranking(query.limit) if self.selects and query.kind == "selector" else self.remembered

    def _ranking(self, coders: int) -> Sequence[Memory]:
        """The predictions of a selector that finds the coders equally good."""
        equal = {"probability": "0.5", "propensity": repr(1 / coders), "usd": ""}
        return [Memory("P(right) 0.5", "selector", {"member": str(at), **equal}) for at in range(coders)]

    def remaining(self) -> Remaining:
        self.times_left_was_asked += 1
        return Remaining(None, self.dollars[self.times_left_was_asked - 1] if self.dollars else None)

    def note(self, note: Note) -> None:
        self.notes.append(note)

    @property
    def roles(self) -> list[str]:
        return [role for role, _, _ in self.asked]

    def prompts(self, role: str) -> list[str]:
        return [prompt for asked, prompt, _ in self.asked if asked == role]

    def reviewed(self) -> Iterator[CheckpointReviewed]:
        return (note for note in self.notes if isinstance(note, CheckpointReviewed))


def _observed(call: str, scope: dict[str, object]) -> Observed:
    try:
        return Observed(call, repr(eval(call, scope)))
    except Exception as error:  # noqa: BLE001 (whatever a program raises)
        return Observed(call, None, "exception", f"{type(error).__name__}: {error}")

"""The tests of a repository task before and after a patch: which it fixed, which it broke, and which it kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from koderz_core.records import TestFailure, Verdict
from koderz_core.records.rows import IterationRow
from koderz_core.report.formats import TextTable, duration, one_line

Tested = Verdict | IterationRow
SIGNS: Mapping[str, str] = {"P": "✓", "F": "✗", "-": "·"}
WORDS: Mapping[tuple[bool, str], str] = {
    (True, "P"): "fixed",
    (True, "F"): "still fails",
    (True, "-"): "did not run",
    (False, "F"): "broken",
    (False, "-"): "did not run",
}
"""What a patch does to a test, by whether the test fails at the start and by its mark."""
LEGEND = (
    "✓ passes, ✗ fails, · did not run. Before the arrow: the result at the start of the task. After the arrow: the "
    "result with this patch."
)
FIXED, KEPT = "failing tests fixed", "passing tests kept"


@dataclass(frozen=True, slots=True)
class RepositoryTests:
    """The ids of a task's tests; ``failing``: those that fail at the start. ``gate``: those that a loop runs.

    ``rest`` are held out from a loop that runs the gate, and ``base`` from a strategy that does not run it.
    """

    failing: frozenset[str]
    gate: tuple[str, ...]
    rest: tuple[str, ...]
    base: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TestChange:
    """A test at the start of a task, and with a patch. ``mark`` as in ``Verdict``. Names and failures are hostile."""

    __test__ = False  # pytest: not a test class
    id: str
    kind: str  # gate or held-out
    failing: bool
    mark: str
    failure: TestFailure | None
    seconds: float | None

    @property
    def file(self) -> str:
        """The file of the test."""
        return self.id.partition("::")[0]

    @property
    def name(self) -> str:
        """The name within the file."""
        return self.id.partition("::")[2] or self.id

    @property
    def good(self) -> bool:
        """Whether the test passes, as it must."""
        return self.mark == "P"

    @property
    def changed(self) -> bool:
        """Whether the test does not do what it did at the start."""
        return self.good == self.failing

    @property
    def signs(self) -> str:
        """``✗ → ✓ fixed``."""
        word = WORDS.get((self.failing, self.mark), "")
        return f"{SIGNS['F' if self.failing else 'P']} → {SIGNS[self.mark]} {word}".rstrip()


def changes_of_tests(tests: RepositoryTests, gate: Tested | None, held_out: Tested | None) -> tuple[TestChange, ...]:
    """Every test with a verdict, those of one file together; files and tests that changed come first.

    Empty if a verdict is about other tests. A program that no loop tested is scored on all tests.
    """
    parts = (("gate", tests.gate, gate), ("held-out", tests.rest if gate else tests.base, held_out))
    found: list[TestChange] = []
    for kind, ids, verdict in parts:
        if verdict is not None:
            if len(ids) != len(verdict.marks):
                return ()
            found += _changes(kind, ids, verdict, tests.failing)
    moved = {change.file for change in found if change.changed}
    return tuple(sorted(found, key=lambda change: (change.file not in moved, change.file, not change.changed)))


def _changes(kind: str, ids: Sequence[str], verdict: Tested, failing: frozenset[str]) -> Iterator[TestChange]:
    failures = {failure.index: failure for failure in verdict.failures}
    for place, name in enumerate(ids):
        seconds = verdict.test_seconds[place] if verdict.test_seconds else None
        yield TestChange(name, kind, name in failing, verdict.marks[place], failures.get(place), seconds)


def figures(changes: Sequence[TestChange]) -> dict[str, str]:
    """``{"failing tests fixed": "2 of 3", "passing tests kept": "118 of 120"}``."""
    return {
        label: f"{sum(change.good for change in part)} of {len(part)}"
        for label, failing in ((FIXED, True), (KEPT, False))
        if (part := [change for change in changes if change.failing == failing])
    }


def changes_table(title: str, changes: Sequence[TestChange]) -> TextTable:
    """One line per test; columns without any text are left out."""
    named = {
        "start → now": [change.signs for change in changes],
        "test": [one_line(change.name) for change in changes],
        "file": [one_line(change.file) for change in changes],
        "tests": [change.kind for change in changes],
        "expected": [_of_failure(change, "expected") for change in changes],
        "actual": [_of_failure(change, "actual") for change in changes],
        "message": [_of_failure(change, "message") for change in changes],
        "time": ["" if change.seconds is None else duration(change.seconds) for change in changes],
    }
    columns = {name: cells for name, cells in named.items() if any(cells)}
    return TextTable(title, tuple(columns), tuple(zip(*columns.values(), strict=True)))


def _of_failure(change: TestChange, name: str) -> str:
    return one_line(getattr(change.failure, name) or "") if change.failure else ""


def history_table(tests: RepositoryTests, iterations: Sequence[IterationRow]) -> TextTable:
    """The gate tests over all iterations: those that fail at the start, and others that an iteration did not pass."""
    tried = [row for row in iterations if len(row.marks) == len(tests.gate)]
    marks = {name: [row.marks[place] for row in tried] for place, name in enumerate(tests.gate)}
    shown = [name for name in tests.gate if name in tests.failing or set(marks[name]) - {"P"}]
    lines = (
        (
            f"{SIGNS['F' if name in tests.failing else 'P']} → {' '.join(SIGNS[mark] for mark in marks[name])}",
            one_line(name),
        )
        for name in sorted(shown, key=lambda name: (name not in tests.failing, name))
    )
    head = (f"start → {', '.join(str(row.iteration) for row in tried)}", "test")
    return TextTable("Gate tests at the start and in each iteration", head, tuple(lines) if tried else ())

"""All that a context offers: each step is taken once, wherever it was killed, and is told again what it was told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from koderz_core.errors import StoreError
from koderz_core.events import (
    CallFinished,
    CallStarted,
    CodeTested,
    Entry,
    ExperimentFinished,
    MemoryRecalled,
    ProgramProbed,
    RemainingRead,
    SpecWritten,
    TextStored,
)
from koderz_core.prompts.extraction import candidate
from koderz_core.protocols import Context, Judge
from koderz_core.records import (
    Ask,
    Asker,
    Configuration,
    Memory,
    Message,
    Observed,
    Problem,
    PublicProblem,
    Query,
    Remaining,
    Request,
    TestSet,
    Verdict,
)
from koderz_core.runner.recorder import Redactor
from koderz_core.strategies import STRATEGIES

RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
WRONG = "```python\ndef add(a, b):\n    return a - b  # {}\n```"
CALLS = ("add(1, 2)", "add(0, 0)")
Make = Callable[..., Any]  # Any: Bench of conftest.py, which a test module cannot import


@dataclass(frozen=True)
class Exploring:
    """Several programs at once, looked at by what they do, then tested until one passes or no iteration is left."""

    max_iterations: int = 3

    def roles(self) -> tuple[str, ...]:
        return ("coder",)

    def solve(self, ctx: Context) -> str | None:
        (lesson,) = ctx.recall(self.query())
        asks = [Ask("coder", (Message("user", f"{lesson.text} {number}"),)) for number in range(3)]
        tried = [candidate(reply, ctx.problem) for reply in ctx.ask_many(asks)]
        seen = [ctx.probe(item.code or "", self.calls())[0].value for item in tried]
        ctx.note(SpecWritten(self.said(seen)))
        while ctx.remaining().iterations:
            latest = tried.pop(0)
            if ctx.test(latest).passed:
                break
            tried.append(candidate(ctx.ask("coder", (Message("user", f"{lesson.text} more"),)), ctx.problem))
        return latest.code

    def query(self) -> Query:
        return Query("lesson", {"topic": "signs"})

    def calls(self) -> Sequence[str]:
        return CALLS

    def said(self, seen: list[str | None]) -> str:
        return f"They give {seen}."


class OtherQuery(Exploring):
    def query(self) -> Query:
        return Query("lesson", {"topic": "sums"})


class OtherCalls(Exploring):
    def calls(self) -> Sequence[str]:
        return ("add(2, 2)",)


class OtherNote(Exploring):
    def said(self, seen: list[str | None]) -> str:
        return "Something else."


def script(request: Request) -> str:
    asked = request.messages[0].content.rpartition(" ")[2]
    return RIGHT if asked == "2" else WRONG.format(asked)


@dataclass
class Counting:
    """Another judge, and a memory that never says the same twice; both know how often they were asked."""

    judge: Judge
    checks: int = 0
    probes: int = 0
    recalls: int = 0
    told: list[str] = field(default_factory=list)

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        self.checks += 1
        return self.judge.check(problem, code, tests)

    def probe(self, problem: PublicProblem, code: str, calls: Sequence[str]) -> tuple[Observed, ...]:
        self.probes += 1
        return self.judge.probe(problem, code, calls)

    def recall(self, query: Query, asker: Asker) -> Sequence[Memory]:
        self.recalls += 1
        self.told.append(f"Mind the sign, {len(self.told)}.")
        return (Memory(self.told[-1], "exp_1", query.tags),)


@pytest.fixture
def explored(bench: Make, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Counting]:
    monkeypatch.setitem(STRATEGIES, "exploring", Exploring)  # type: ignore[arg-type]
    made = bench(script, "exploring")
    made.judge = counting = Counting(made.judge)
    made.recall = counting.recall
    return made, counting


def of(entries: list[Entry], kind: type) -> list[Any]:
    return [entry.event for entry in entries if isinstance(entry.event, kind)]


def steps_in(entries: list[Entry]) -> dict[str, int]:
    kinds = {"calls": CallFinished, "checks": CodeTested, "probes": ProgramProbed, "recalls": MemoryRecalled}
    return {name: len(of(entries, kind)) for name, kind in kinds.items()}


def asked_again(entries: list[Entry], requests: list[Request]) -> set[int]:
    answered = {entry.ordinal for entry in entries if isinstance(entry.event, CallFinished)}
    seeds = {e.event.seed for e in entries if isinstance(e.event, CallStarted) and e.ordinal in answered}
    return seeds & {request.seed for request in requests}


def test_wherever_it_was_killed_it_ends_the_same_and_no_recorded_step_is_taken_again(
    explored: tuple[Any, Counting],
) -> None:
    made, counting = explored
    made.go()
    (whole,), steps = of(made.entries(), ExperimentFinished), steps_in(made.entries())
    assert (whole.outcome, steps) == ("solved", {"calls": 5, "checks": 3, "probes": 3, "recalls": 1})
    scorings = counting.checks - steps["checks"]
    lines = made.path.read_bytes().splitlines(keepends=True)
    for kept in range(len(lines)):
        for torn in (b"", lines[kept][: len(lines[kept]) // 2]):
            made.path.write_bytes(b"".join(lines[:kept]) + torn)
            before = made.entries()
            made.requests.clear()
            counting.checks = counting.probes = counting.recalls = 0
            made.go()
            over = bool(of(before, ExperimentFinished))
            taken = {"calls": len(made.requests), "checks": counting.checks - (0 if over else scorings)}
            taken |= {"probes": counting.probes, "recalls": counting.recalls}
            recorded = steps_in(before)
            assert {name: taken[name] + recorded[name] for name in steps} == steps, f"killed behind line {kept}"
            assert not asked_again(before, made.requests)
            assert replace(of(made.entries(), ExperimentFinished)[-1], seconds=whole.seconds) == whole


def test_the_journal_holds_every_answer_once(explored: tuple[Any, Counting]) -> None:
    made, _ = explored
    made.go()
    entries = made.entries()
    texts = {stored.sha256: stored.text for stored in of(entries, TextStored)}
    (recalled,), (note,) = of(entries, MemoryRecalled), of(entries, SpecWritten)
    assert recalled.query == Query("lesson", {"topic": "signs"})
    assert [(texts[memory.text], memory.origin, memory.tags) for memory in recalled.memories] == [
        ("Mind the sign, 0.", "exp_1", {"topic": "signs"})
    ]
    assert note.text == "They give ['-1', '-1', '3']."
    last = of(entries, ProgramProbed)[-1]
    assert (last.observed, "a + b" in texts[last.code]) == (tuple(Observed(call, "3") for call in CALLS), True)
    assert [entry.remaining for entry in of(entries, RemainingRead)] == [Remaining(3), Remaining(2), Remaining(1)]


@pytest.mark.parametrize("changed", [OtherQuery, OtherCalls, OtherNote])
def test_a_step_that_is_not_what_was_recorded_is_refused(
    explored: tuple[Any, Counting], monkeypatch: pytest.MonkeyPatch, changed: type
) -> None:
    made, _ = explored
    made.go()
    lines = made.path.read_bytes().splitlines(keepends=True)
    made.path.write_bytes(b"".join(line for line in lines if b'"experiment_finished"' not in line))
    monkeypatch.setitem(STRATEGIES, "exploring", changed)  # type: ignore[arg-type]
    made.go()
    end = of(made.entries(), ExperimentFinished)[-1]
    assert end.outcome == "error"
    assert "differs from the journal" in end.error


@dataclass(frozen=True)
class Asking:
    """Notes what it is told, and hands in nothing."""

    def roles(self) -> tuple[str, ...]:
        return ("coder",)

    def solve(self, ctx: Context) -> None:
        ctx.note(SpecWritten(f"{ctx.remaining()} {ctx.recall(Query('lesson', limit=2))}"))
        ctx.note(SpecWritten(f"{ctx.probe('+', ['add()'])} {ctx.ask_many(())}"))


@pytest.fixture
def asking(bench: Make, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setitem(STRATEGIES, "asking", Asking)  # type: ignore[arg-type]
    made = bench(script)
    return replace(
        made, plan=replace(made.plan, configurations=(Configuration("asking", {"coder": ("scripted/it",)}),))
    )


def notes(made: Any) -> list[str]:
    made.go()
    return [note.text for note in of(made.entries(), SpecWritten)]


def test_a_strategy_without_a_limit_has_no_end_and_without_memory_nothing_is_remembered(asking: Any) -> None:
    assert notes(asking)[0] == f"{Remaining(None, None, None)} ()"


def test_no_more_is_recalled_than_was_asked_for_and_what_no_journal_can_hold_becomes_question_marks(
    asking: Any,
) -> None:
    asking.recall = lambda *_: [Memory("a\ud800", "b\ud800", {"\ud800": "c"})] * 3
    assert notes(asking)[0] == f"{Remaining(None)} {(Memory('a?', 'b?', {'?': 'c'}),) * 2}"


def test_what_a_program_found_of_a_key_is_neither_told_nor_journalled(asking: Any) -> None:
    class Leaking:
        def probe(self, _problem: PublicProblem, _code: str, calls: Sequence[str]) -> tuple[Observed, ...]:
            return (Observed(calls[0], "'sk-0123456789'", None, "sk-0123456789"),)

    asking.judge, asking.redact = Leaking(), Redactor(["sk-0123456789"])
    assert notes(asking)[1] == f"{[Observed('add()', repr('[secret]'), None, '[secret]')]} []"
    assert b"0123456789" not in asking.path.read_bytes().replace(b"0" * 64, b"")


def test_memory_is_told_who_asks(asking: Any) -> None:
    told: list[Asker] = []
    asking.recall = lambda _query, asker: told.append(asker) or ()
    notes(asking)
    (experiment,) = asking.plan.experiments()
    assert told == [Asker(experiment.id, "tiny/0", asking.plan.dataset, {"coder": ("scripted/it",)})]


def test_a_memory_out_of_reach_ends_nothing_and_is_said_in_the_journal_and_on_screen(
    asking: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def recall(_query: Query, _asker: Asker) -> Sequence[Memory]:
        raise StoreError("The store is locked.")

    asking.recall = recall
    assert notes(asking)[0] == f"{Remaining(None)} ()"
    (recalled,) = of(asking.entries(), MemoryRecalled)
    assert (recalled.memories, recalled.fault) == ((), "The store is locked.")
    assert "continues without memories, because they could not be read: The store is locked." in caplog.text
    assert of(asking.entries(), ExperimentFinished)[-1].error is None

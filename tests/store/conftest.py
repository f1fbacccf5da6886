"""A journal written event by event, and a store beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from koderz_core.events import (
    SCHEMA_VERSION,
    BenchmarkOpened,
    CallFinished,
    CallStarted,
    CandidateScored,
    CodeTested,
    Entry,
    Event,
    ExperimentFinished,
    ExperimentStarted,
    TextStored,
    encode,
)
from koderz_core.records import (
    Configuration,
    Cost,
    DatasetOrigin,
    Experiment,
    MessageRef,
    Plan,
    Sampling,
    Usage,
    Verdict,
)
from koderz_core.store.store import Store

LOCAL = "ollama/qwen2.5-coder:0.5b"
FRONTIER = "anthropic/claude-opus-4-5"
SMALL = "anthropic/claude-haiku-4-5"


class JournalWriter:
    """Says what happens, one call a second; ``tell`` is one whole experiment with a single call."""

    def __init__(self, folder: Path, plan: Plan, energy: Mapping[str, float] | None = None) -> None:
        self.plan = plan
        self.path = folder / f"{plan.id}.jsonl"
        self.at = 1_700_000_000.0
        folder.mkdir(exist_ok=True)
        tiers = {LOCAL: "local", SMALL: "small_frontier", FRONTIER: "frontier"}
        self.say(
            BenchmarkOpened(SCHEMA_VERSION, "0.1.0", plan.id, plan, {}, "prices 1", "limited", tiers, energy or {})
        )

    def say(self, event: Event, experiment: str | None = None, ordinal: int | None = None) -> None:
        self.at += 1
        with self.path.open("ab") as file:
            file.write(encode(Entry(self.at, event, experiment, ordinal)))

    def text(self, text: str) -> str:
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        self.say(TextStored(sha256, text))
        return sha256

    def ask(
        self,
        experiment: Experiment,
        ordinal: int,
        model: str = LOCAL,
        attempt: int = 1,
        reserved_usd: float | None = None,
    ) -> None:
        message = MessageRef("user", self.text(f"Write {experiment.problem}"))
        asked = CallStarted("coder", 0, model, "hash", (message,), Sampling(), 7, attempt, reserved_usd)
        self.say(asked, experiment.id, ordinal)

    def answer(self, experiment: Experiment, ordinal: int, text: str, usd: float | None = 0.25) -> None:
        usage, cost = Usage(100, 20), Cost(usd, "prices 1")
        said = CallFinished(self.text(text), "stop", usage, cost, 1.5, None, Sampling())
        self.say(said, experiment.id, ordinal)

    def tell(self, experiment: Experiment, passed: bool = True, usd: float | None = 0.25, model: str = LOCAL) -> None:
        code = f"def f(): return {experiment.problem!r}, {passed}"
        self.say(ExperimentStarted(experiment), experiment.id)
        self.ask(experiment, 0, model)
        self.answer(experiment, 0, code, usd)
        self.say(CodeTested(1, "hash", self.text(code), "fence", verdict(passed)), experiment.id, 1)
        self.say(CandidateScored(self.text(code), True, verdict(passed), None), experiment.id)
        outcome, reason = ("solved", "gate") if passed else ("unsolved", "iterations")
        self.say(ExperimentFinished(outcome, reason, "oracle", self.text(code), 2.0), experiment.id)


def verdict(passed: bool) -> Verdict:
    return Verdict("PP" if passed else "PF", (), True, None if passed else "assertion", "", 0.1, "limited")


@pytest.fixture
def plan() -> Plan:
    origin = DatasetOrigin("humaneval", "a" * 64, "MIT")
    direct = Configuration("direct", {"coder": (LOCAL,)})
    supervised = Configuration("supervised", {"coder": (LOCAL,), "reviewer": (FRONTIER,)}, {"iterations": 5})
    return Plan(origin, ("HumanEval/0", "HumanEval/1", "HumanEval/2"), (direct, supervised))


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Plan], JournalWriter]:
    return lambda plan: JournalWriter(tmp_path / "journals", plan)


@pytest.fixture
def journal(write: Callable[[Plan], JournalWriter], plan: Plan) -> JournalWriter:
    return write(plan)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "koderz.duckdb", tmp_path / "journals", patience_seconds=10)


@pytest.fixture
def reindexed(tmp_path: Path) -> Callable[[], bytes]:
    """What a store that is built at once from the journals holds."""

    def dumped() -> bytes:
        other = Store(tmp_path / "other" / "koderz.duckdb", tmp_path / "journals")
        other.reindex()
        return other.dump()

    return dumped

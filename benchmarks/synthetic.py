"""Data folders of any size without results of models, for measuring the code that reads them.

Everything in them is SYNTHETIC: drawn at random and labelled so. About half of the experiments belong to one large
benchmark, the rest to ordinary ones. One benchmark is written and read like the runner's. The journals of the others
contain only their opening and closing, and their tables are filled with copies of the first one's results. Used by
``benchmarks/dashboard.py``.
"""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from synthetic_fill import fill

from koderz_core.events import (
    SCHEMA_VERSION,
    BenchmarkClosed,
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
    TestFailure,
    Tier,
    Usage,
    Verdict,
)
from koderz_core.store.store import Store

SMALL, MIDDLE, LARGE = "scripted/synthetic-small", "scripted/synthetic-middle", "scripted/synthetic-large"
TIERS: dict[str, Tier] = {SMALL: "local", MIDDLE: "small_frontier", LARGE: "frontier"}
PRICE_USD = {SMALL: 0.00005, MIDDLE: 0.0008, LARGE: 0.012}
CHANCE = {SMALL: 0.06, MIDDLE: 0.12, LARGE: 0.3}  # that a program passes
MOST_ITERATIONS = 20
PER_EXPERIMENT = 7.2  # iterations, on average and about
PROBLEMS = 164
LINES = 30  # of a program
HELD_OUT_TESTS = 120
ORIGIN = DatasetOrigin("synthetic", hashlib.sha256(b"synthetic").hexdigest(), "none: made up")


def folder(work: Path, iterations: int) -> Path:
    """The data folder with about this number of iterations under ``work``, created if it does not exist."""
    made = work / f"synthetic-{iterations}"
    if not (made / "complete").exists():
        shutil.rmtree(made, ignore_errors=True)
        (made / "journals").mkdir(parents=True)
        told, *others = plans(iterations)
        write(made / "journals" / f"{told.id}.jsonl", told, 0)
        for number, plan in enumerate(others, 1):
            write(made / "journals" / f"{plan.id}.jsonl", plan, number, experiments=False)
        store = Store(made / "koderz.duckdb", made / "journals")
        store.ingest()
        with store.open() as con:
            fill(con, told.id)
        (made / "complete").touch()
    return made


def plans(iterations: int) -> Iterator[Plan]:
    """Ordinary benchmarks, and one with half of all experiments, opened last."""
    half = max(1, int(iterations / PER_EXPERIMENT / 2))
    problems = min(PROBLEMS, max(1, half // 5))
    for number in range(max(1, half // problems // 5)):
        yield plan_of(f"synthetic {number}", problems, 1)
    yield plan_of("synthetic large", problems, max(1, round(half / problems / 5)))


def plan_of(name: str, problems: int, repeats: int) -> Plan:
    names = tuple(f"Synthetic/{number}" for number in range(problems))
    return Plan(ORIGIN, names, _configurations(), repeats=repeats, name=name)


def write(path: Path, plan: Plan, seed: int, *, experiments: bool = True) -> None:
    """The journal of a plan, run to its end; without ``experiments`` only its opening and closing."""
    told = Teller(plan, random.Random(seed), 1_750_000_000.0 + 100_000.0 * seed)
    with path.open("wb") as file:
        file.writelines(map(encode, told.opening()))
        for experiment in plan.experiments() if experiments else ():
            file.writelines(map(encode, told.experiment(experiment)))
        file.write(encode(told.entry(BenchmarkClosed("finished"))))


@dataclass(slots=True)
class Teller:
    """Writes made-up events; ``at`` advances by a few seconds with each."""

    plan: Plan
    chance: random.Random
    at: float
    texts: set[str] = field(default_factory=set)

    def opening(self) -> Iterator[Entry]:
        opened = BenchmarkOpened(SCHEMA_VERSION, "0", self.plan.id, self.plan, {}, "none", "hardened", TIERS)
        yield self.entry(opened)

    def entry(self, event: Event, experiment: Experiment | None = None, ordinal: int | None = None) -> Entry:
        self.at += 0.3 * self.chance.random()
        return Entry(self.at, event, experiment.id if experiment else None, ordinal)

    def experiment(self, experiment: Experiment) -> Iterator[Entry]:
        """One experiment, iteration by iteration until it passes its gate."""
        configuration = next(
            configuration for configuration in self.plan.configurations if configuration.id == experiment.configuration
        )
        model = configuration.models["coder"][0]
        most = MOST_ITERATIONS if configuration.strategy == "supervised" else 5
        began, programs, verdict = self.at, {}, None
        yield self.entry(ExperimentStarted(experiment), experiment)
        for iteration in range(1, most + 1):
            passed = self.chance.random() < CHANCE[model]
            program, verdict = yield from self._iteration(experiment, iteration, model, passed)
            programs[program] = verdict
            if passed:
                break
        for code, gate in programs.items():
            held_out = self._verdict(gate.passed and self.chance.random() < 0.8, HELD_OUT_TESTS)
            yield self.entry(CandidateScored(code, code == program, gate, held_out), experiment)
        outcome = "solved" if held_out.passed else "unsolved"
        reason = "gate" if gate.passed else "iterations"
        end = ExperimentFinished(outcome, reason, "held_out", program, self.at - began, held_out.error)
        yield self.entry(end, experiment)

    def _iteration(
        self, experiment: Experiment, iteration: int, model: str, passed: bool
    ) -> Iterator[Entry | tuple[str, Verdict]]:
        """The events of one; returns the program's hash and its gate verdict."""
        asked, prompt = self._text(f"Write a function for {experiment.problem}. " * 20)
        yield from asked
        message = MessageRef("user", prompt)
        sampling = Sampling(0.8, None, 1024)
        began = CallStarted("coder", 0, model, prompt, (message,), sampling, experiment.seed, 1, 0.01)
        yield self.entry(began, experiment, 2 * iteration)
        said, program = self._text(self._program(experiment.problem))
        yield from said
        usage = Usage(self.chance.randrange(200, 3000), self.chance.randrange(50, 600))
        cost = Cost(PRICE_USD[model] * (0.5 + self.chance.random()), "made up")
        seconds = 0.5 + 4 * self.chance.random()
        yield self.entry(CallFinished(program, "stop", usage, cost, seconds, 0.2, sampling), experiment, 2 * iteration)
        verdict = self._verdict(passed, 5)
        yield self.entry(CodeTested(iteration, prompt, program, "fence", verdict), experiment, 2 * iteration + 1)
        return program, verdict

    def _text(self, text: str) -> tuple[tuple[Entry, ...], str]:
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        new = sha256 not in self.texts
        self.texts.add(sha256)
        return (self.entry(TextStored(sha256, text)),) if new else (), sha256

    def _program(self, problem: str) -> str:
        """About half of the programs repeat an earlier one."""
        lines = "".join(f"    step_{number} = value + {number}\n" for number in range(LINES))
        return f"# SYNTHETIC, {problem}, {self.chance.randrange(100)}\ndef solve(value):\n{lines}    return value\n"

    def _verdict(self, passed: bool, tests: int) -> Verdict:
        if passed:
            return Verdict("P" * tests, (), True, None, "", 0.05, "hardened")
        failed = self.chance.randrange(tests)
        marks = "P" * failed + "F" * (tests - failed)
        failure = TestFailure(failed, "assert solve(1) == 2", "2", "1", "AssertionError")
        error = self.chance.choice(("assertion", "assertion", "type", "name", "timeout"))
        return Verdict(marks, (failure,), True, error, "assert solve(1) == 2", 0.05, "hardened")


def _configurations() -> tuple[Configuration, ...]:
    repair = {"spec": False, "checkpoints": False, "max_iterations": MOST_ITERATIONS}
    return (
        Configuration("supervised", {"coder": (SMALL,)}, repair),
        Configuration("supervised", {"coder": (MIDDLE,)}, repair),
        Configuration("best_of", {"coder": (LARGE,)}, {"n": 5}),
        Configuration("supervised", {"coder": (SMALL,)}, {**repair, "previous_error": False}),
        Configuration("best_of", {"coder": (SMALL,)}, {"n": 5}),
    )

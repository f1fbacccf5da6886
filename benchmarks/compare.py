"""How long the Summary page keeps a server busy with 12 configurations, 164 problems and 10 iterations each.

Run: ``python benchmarks/compare.py`` (needs the ``dev`` extra). The journal is written event by event with made-up
numbers. Then the comparison and the whole page are timed; the target is 1 second of processor time, which is at most a
second of wall time on an idle machine. The yardstick is a fixed piece of arithmetic, which a slower machine also takes
longer for.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random

import streamlit as st
from streamlit.testing.v1 import AppTest

import koderz_core
from koderz_core import Workspace, open_workspace
from koderz_core.events import (
    SCHEMA_VERSION,
    BenchmarkClosed,
    BenchmarkOpened,
    CallFinished,
    CallStarted,
    CandidateScored,
    CheckpointReviewed,
    CodeTested,
    Entry,
    Event,
    ExperimentFinished,
    ExperimentStarted,
    TextStored,
)
from koderz_core.journal import Journal
from koderz_core.records import (
    Configuration,
    Cost,
    DatasetOrigin,
    Experiment,
    Plan,
    Sampling,
    Tier,
    Usage,
    Verdict,
)
from koderz_core.workspace import leave

LIMIT_SECONDS = 1.0
PROBLEMS, ITERATIONS, TIMES = 164, 10, 5
OPUS, TESTS = "anthropic/claude-opus-4-5", 8
LOCAL = tuple(f"ollama/made-up-{number}b" for number in (1, 3, 7, 14, 32))
USD = {"frontier": 0.02, "local": 0.00004}


@dataclass(frozen=True, slots=True)
class Took:
    """Wall seconds, and seconds of processor time of all threads of this process."""

    wall: float
    busy: float


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--home", type=Path, help="Keep the made-up benchmark in this folder.")
    parser.add_argument("--stop", action="store_true", help="Experiments stop at the gate, as real ones do.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KODERZ_HOME"] = str(options.home or folder)
        with open_workspace() as workspace:
            plan = _plan(0 if options.stop else 1)
            if not (workspace.settings.journals_dir / f"{plan.id}.jsonl").exists():
                _write(plan, workspace.settings.journals_dir, stop=options.stop)
            workspace.results.benchmarks()
            _measure(workspace, plan)


def _measure(workspace: Workspace, plan: Plan) -> None:
    trials = workspace.results.trials([plan.id])
    tries = sum(len(trial.tries) for trial in trials)
    print(f"{len(plan.configurations)} configurations x {PROBLEMS} problems: {len(trials)} trials, {tries} iterations")
    yardstick = _least(_arithmetic)
    print(f"yardstick: {yardstick.wall:.3f} s, of these {yardstick.busy:.3f} s at work")
    compare, problems = _page(plan, "compare"), _page(plan, "problems")
    for what, act in (
        ("trials from the store", lambda: workspace.results.trials([plan.id])),
        ("comparison, all curves", lambda: workspace.comparisons.compare(workspace.results.summaries(plan.id))),
        ("whole Summary page", lambda: _anew(compare)),
        ("Summary page, another choice", compare.run),
        ("whole Problems page", problems.run),
    ):
        took = _least(act)
        ratio, yards = took.busy / LIMIT_SECONDS, took.busy / yardstick.busy
        print(f"{what}: {took.busy:.3f} s at work = {ratio:.2f} of the limit, {yards:.1f} yardsticks", end="")
        print(f" ({took.wall:.3f} s by the clock)")
    leave()


def _page(plan: Plan, name: str) -> AppTest:
    app = AppTest.from_file(str(Path(koderz_core.__file__).parents[1] / "app.py"), default_timeout=60).run()
    app.switch_page(f"pages/{name}.py")
    app.query_params["benchmarks"] = plan.id
    app.run()
    assert not app.exception, app.exception
    assert not app.error, app.error
    return app


def _anew(page: AppTest) -> None:
    """As if a journal had just grown."""
    st.cache_resource.clear()
    page.run()


def _least(act: Callable[[], object]) -> Took:
    """The minimum of a few: other work on this machine only adds."""
    taken = []
    for _ in range(TIMES):
        wall, busy = time.perf_counter(), time.process_time()
        act()
        taken.append(Took(time.perf_counter() - wall, time.process_time() - busy))
    return Took(min(took.wall for took in taken), min(took.busy for took in taken))


def _arithmetic() -> int:
    return sum(number * number % 7 for number in range(3_000_000))


def _plan(seed: int) -> Plan:
    """Six local models, alone and supervised by a frontier model, except one that is that model itself."""
    models = {"spec": (OPUS,), "reviewer": (OPUS,)}
    alone = [Configuration("direct", {"coder": (OPUS,)}), Configuration("direct", {"coder": (LOCAL[-1],)})]
    alone += [Configuration("repair", {"coder": (model,)}, {"max_iterations": ITERATIONS}) for model in LOCAL]
    guided = [
        Configuration("supervised", {**models, "coder": (model,)}, {"max_iterations": ITERATIONS}) for model in LOCAL
    ]
    problems = tuple(f"HumanEval/{number}" for number in range(PROBLEMS))
    origin = DatasetOrigin("humaneval", sha256(b"made up").hexdigest(), "MIT")
    return Plan(origin, problems, (*alone, *guided), seed, name="made up")


def _write(plan: Plan, journals: Path, *, stop: bool) -> None:
    tiers: dict[str, Tier] = {OPUS: "frontier", **dict.fromkeys(LOCAL, "local")}
    opened = BenchmarkOpened(SCHEMA_VERSION, "0.1.0", plan.id, plan, {}, "made up", "strong", tiers)
    journal, random, at = Journal(journals / f"{plan.id}.jsonl"), Random(plan.seed), 1_700_000_000.0
    configurations = {configuration.id: configuration for configuration in plan.configurations}
    hard = {problem: random.betavariate(0.7, 1.6) for problem in plan.problems}
    journal.append(Entry(at, opened))
    for experiment in plan.experiments():
        told = _experiment(experiment, configurations[experiment.configuration], hard[experiment.problem], random, stop)
        entries = []
        for event, ordinal in told:
            at += 0.5
            inside = None if isinstance(event, TextStored) else experiment.id
            entries.append(Entry(at, event, inside, ordinal))
        journal.append(*entries)
    journal.append(Entry(at, BenchmarkClosed("finished")))
    journal.close()


def _experiment(
    experiment: Experiment, configuration: Configuration, hard: float, random: Random, stop: bool
) -> Iterator[tuple[Event, int | None]]:
    """The events of one: a 32b model finds a program more often than a 1b one, and a reviewed one more often."""
    yield ExperimentStarted(experiment), None
    direct, coder = configuration.strategy == "direct", configuration.models["coder"][0]
    size = 200 if coder == OPUS else int(coder.partition("up-")[2].rstrip("b"))
    chance = max(0.02, (1.02 - hard) * size / (size + 7))
    ordinal, tried, solved, code = 0, [], False, ""
    for iteration in range(1, 2 if direct else ITERATIONS + 1):
        if configuration.strategy == "supervised" and iteration in (1, 6):
            yield from _call(OPUS, "spec" if iteration == 1 else "reviewer", ordinal, "think of the edge cases", random)
            ordinal += 1
        if configuration.strategy == "supervised" and iteration == 6:
            yield CheckpointReviewed(1, iteration - 1, "think again"), ordinal
            ordinal, chance = ordinal + 1, 0.5 * (chance + 1 - hard)
        right = random.random() < chance * (1 if iteration == 1 else 0.35)
        false_pass = not right and random.random() < 0.02
        code = f"def solve_{experiment.problem[10:]}(number):\n    return number + {random.randrange(4)}  # {right}\n"
        yield from _call(coder, "coder", ordinal, code, random)
        ordinal, digest = ordinal + 1, sha256(code.encode()).hexdigest()
        passed = right or false_pass
        if not direct:
            yield CodeTested(iteration, "made up", digest, "fence", _verdict(passed, random)), ordinal
        ordinal, solved = ordinal + 1, right
        tried.append((digest, passed, right))
        if passed and stop:
            break
    yield from _scores(tried, random, direct=direct)
    reason = "gate" if tried[-1][1] else "iterations"
    failure = None if solved else "assertion"
    digest = sha256(code.encode()).hexdigest()
    yield (
        ExperimentFinished("solved" if solved else "unsolved", reason, "held_out", digest, 1.2 * ordinal, failure),
        None,
    )


def _scores(tried: list[tuple[str, bool, bool]], random: Random, *, direct: bool) -> Iterator[tuple[Event, None]]:
    for digest, passed, right in {digest: (digest, passed, right) for digest, passed, right in tried}.values():
        gate = None if direct else _verdict(passed, random)
        yield CandidateScored(digest, digest == tried[-1][0], gate, _verdict(right, random)), None


def _call(model: str, role: str, ordinal: int, text: str, random: Random) -> Iterator[tuple[Event, int | None]]:
    usd = USD["frontier" if model == OPUS else "local"] * random.uniform(0.5, 2.0)
    cost, usage = Cost(usd, "made up"), Usage(random.randrange(300, 1500), random.randrange(60, 400))
    digest = sha256(text.encode()).hexdigest()
    yield CallStarted(role, 0, model, "made up", (), Sampling(), 7, 1), ordinal
    yield TextStored(digest, text), None
    yield CallFinished(digest, "stop", usage, cost, random.uniform(0.5, 4.0), None, Sampling()), ordinal


def _verdict(passed: bool, random: Random) -> Verdict:
    marks = "P" * TESTS if passed else "".join(random.choice("PF") for _ in range(TESTS - 1)) + "F"
    return Verdict(marks, (), True, None if passed else "assertion", "", 0.01, "strong")


if __name__ == "__main__":
    main()

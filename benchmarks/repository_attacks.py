"""Attacks and honest patches on repository tasks: what the judge makes of each. Exits with 1 if a bar is missed.

Run: ``koderz forge standard --output tasks.jsonl``, then ``python benchmarks/repository_attacks.py tasks.jsonl``
(Linux; some minutes for each task of a small package). The correct patch and all honest ones must pass. The empty patch
and all attacks of tests/sandbox/attacks must not. ``--plain`` shows instead whether a plain run of pytest counts the
attacks as solved: one that fools nothing tests nothing. Results are kept in the file of ``--log``, so a run can be
interrupted.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from honest_variants import REWRITES, variants
from process_tree import machine

from koderz_core.config import load_settings
from koderz_core.datasets.own_problems import load_path
from koderz_core.errors import DataError
from koderz_core.records import Problem, TestSet
from koderz_core.sandbox.repository.judge import RepositoryJudge
from koderz_core.sandbox.tiers import probe

sys.path.append(str(Path(__file__).parents[1] / "tests" / "sandbox"))
from attacks.repositories import changed_part, plain, tests_of
from attacks.repository_corpus import ATTACKS, LIMIT, Written, written

SEED = 24
PASSING = 40
"""Tests that pass before and after are run with attacks up to this number, those in the files of failing ones first."""
TWINS = {attack.name for attack in ATTACKS if attack.twins}
GOLD, EMPTY, ATTACK, VARIANT, HAND, LIMITS = "correct", "empty", "attack", "rewrite", "by hand", "stated limit"
ONLY = {"attacks": (EMPTY, ATTACK, LIMITS), "honest": (GOLD, VARIANT, HAND)}


@dataclass(frozen=True, slots=True)
class Trial:
    """One patch for one task. ``result``: passed, faked, failed, or that the patch is none."""

    task: str
    kind: str
    name: str
    result: str
    message: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Order:
    """A trial to make. ``patch`` makes the patch, None if there is none for this task."""

    problem: Problem
    kind: str
    name: str
    patch: Callable[[], str | None]


class Log:
    """The trials so far, one line of JSON each."""

    def __init__(self, path: Path) -> None:
        lines = path.read_text().splitlines() if path.exists() else []
        self._path, self._guard = path, threading.Lock()
        self.trials = [Trial(**json.loads(line)) for line in lines]

    def add(self, trial: Trial) -> None:
        with self._guard, self._path.open("a") as file:
            file.write(json.dumps(asdict(trial)) + "\n")
            self.trials.append(trial)


def main() -> None:
    asked = _arguments()
    problems = load_path(asked.tasks, load_settings()).problems
    chosen = sampled([problem for problem in problems if problem.repository], asked.sample)
    log = Log(asked.log or asked.tasks.with_suffix(".plain.log" if asked.plain else ".attacks.log"))
    known = {(trial.task, trial.kind, trial.name) for trial in log.trials}
    orders = [order for problem in chosen for order in _orders(problem, asked.plain)]
    orders += [] if asked.plain else list(_by_hand(problems, {problem.id for problem in chosen}))
    orders = [order for order in orders if asked.only is None or order.kind in ONLY[asked.only]]
    todo = [order for order in orders if (order.problem.id, order.kind, order.name) not in known]
    print(
        f"{machine()}; {len(chosen)} tasks, {len(orders)} trials, {len(orders) - len(todo)} of them known.", flush=True
    )
    if asked.plain:
        _made(todo, _plain, log, asked.workers)
        sys.exit(show_plain(log.trials))
    tier = asked.tier or next(tier.isolation for tier in probe(shutil.which("bwrap")) if tier.holds)
    judge = RepositoryJudge(tier, shutil.which("bwrap"), workers=asked.workers)
    try:
        _made(todo, partial(_judged, judge), log, asked.workers)
    finally:
        judge.close()
    wanted = {(order.problem.id, order.kind, order.name) for order in orders}
    sys.exit(show([trial for trial in log.trials if (trial.task, trial.kind, trial.name) in wanted]))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", type=Path, help="dataset file of koderz forge")
    parser.add_argument("--sample", type=int, help="number of tasks, spread over the packages (default: all)")
    parser.add_argument("--only", choices=ONLY, help="try only attacks, or only honest patches (default: both)")
    parser.add_argument("--plain", action="store_true", help="run the attacks with pytest alone")
    parser.add_argument("--log", type=Path, help="file with the results so far")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--tier", choices=("limited", "strong", "hardened"))
    return parser.parse_args()


def sampled(problems: list[Problem], number: int | None) -> list[Problem]:
    """A seeded sample in which no package has two tasks more than another, as long as it has tasks."""
    lots: defaultdict[str, list[Problem]] = defaultdict(list)
    for problem in random.Random(SEED).sample(problems, len(problems)):
        lots[tests_of(problem).tree.name].append(problem)
    rounds = [lot[place] for place in range(len(problems)) for lot in lots.values() if place < len(lot)]
    return rounds[:number]


def _orders(problem: Problem, only_attacks: bool) -> Iterator[Order]:
    yield Order(problem, GOLD, GOLD, lambda: problem.canonical_solution)
    yield Order(problem, EMPTY, EMPTY, str)
    for attack in ATTACKS:
        yield Order(problem, ATTACK, attack.name, partial(attack.make, problem))
    if not only_attacks:
        yield Order(problem, LIMITS, LIMIT.name, partial(LIMIT.make, problem))
        for name in REWRITES:
            yield Order(problem, VARIANT, name, lambda name=name: dict(variants(problem)).get(name))  # type: ignore[misc]  # a default


def _by_hand(problems: tuple[Problem, ...], preferred: set[str]) -> Iterator[Order]:
    """Each implementation by hand for one task, if possible one whose fault is in the same function."""
    for entry in written():
        own = [problem for problem in problems if problem.repository and tests_of(problem).tree.name == entry.tree]
        own.sort(key=lambda problem: (-_overlap(entry, problem), problem.id not in preferred, problem.id))
        if own:
            yield Order(own[0], HAND, f"{entry.tree}: {entry.name}", partial(entry.program, own[0]))


def _overlap(one: Written, problem: Problem) -> int:
    path, lines = changed_part(one.diff)
    other, others = changed_part(tests_of(problem).fault)
    return (path == other) * (1 + len(lines & others))


def _made(todo: list[Order], make: Callable[[Order], Trial], log: Log, workers: int) -> None:
    with ThreadPoolExecutor(workers) as pool:
        for number, trial in enumerate(pool.map(make, todo), 1):
            log.add(trial)
            if number % 20 == 0 or number == len(todo):
                print(f"{number} of {len(todo)} trials", file=sys.stderr, flush=True)


def _judged(judge: RepositoryJudge, order: Order) -> Trial:
    problem, patch = order.problem, order.patch()
    if patch is None:
        return Trial(problem.id, order.kind, order.name, "none")
    try:
        verdict = judge.check(problem, patch, _fewer(problem) if order.kind in (ATTACK, LIMITS) else problem.tests)
    except DataError as error:
        return Trial(problem.id, order.kind, order.name, "broken task", str(error)[:300])
    result = "passed" if verdict.passed else "faked" if verdict.error == "faked" else "failed"
    if (
        result != "passed"
        and order.kind in (VARIANT, HAND)
        and not plain(problem, patch, problem.tests.ids).solves(problem)
    ):
        result = "changes the behaviour"
    return Trial(problem.id, order.kind, order.name, result, verdict.message[:300], round(verdict.seconds, 2))


def _fewer(problem: Problem) -> TestSet:
    """All failing tests and some others: an attack that does not pass these does not pass all of them either."""
    repository = tests_of(problem)
    near = {test.partition("::")[0] for test in repository.failing}
    passing = sorted(repository.passing, key=lambda test: test.partition("::")[0] not in near)
    return replace(problem.tests, ids=(*repository.failing, *passing[:PASSING]))


def _plain(order: Order) -> Trial:
    patch = order.patch()
    solved = plain(order.problem, patch or "").solves(order.problem)
    return Trial(order.problem.id, order.kind, order.name, solved or "failed")


def show_plain(trials: list[Trial]) -> int:
    """The table of attacks on a plain run; 1 if one of them fools none."""
    print("\n| patch | tasks | solved by exit code | by the lines | not solved |\n|---|---|---|---|---|")
    rows: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for trial in trials:
        rows[trial.name][trial.result] += 1
    for name, counts in rows.items():
        code, lines = (sum(count for result, count in counts.items() if word in result) for word in ("code", "lines"))
        print(f"| {name} | {counts.total()} | {code} | {lines} | {counts['failed']} |")
    fooling = {trial.name for trial in trials if trial.result != "failed"}
    return int(bool({attack.name for attack in ATTACKS} - fooling) or EMPTY in fooling)


def show(trials: list[Trial]) -> int:
    """The tables, and whether a bar is missed."""
    rows: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for trial in trials:
        rows[trial.kind, trial.name][trial.result] += 1
    print("\n| patch | tasks | passed | faked | failed | changes the behaviour | none |\n|---|---|---|---|---|---|---|")
    for (kind, name), counts in rows.items():
        results = ("passed", "faked", "failed", "changes the behaviour", "none")
        twins = ", knows of twins" if name in TWINS else ""
        print(f"| {kind}{twins}: {name} | {counts.total()} | {' | '.join(str(counts[result]) for result in results)} |")
    missed = [trial for trial in trials if _is_missed(trial)]
    print(f"\n{len(trials)} trials of {len({trial.task for trial in trials})} tasks; bars missed: {len(missed)}")
    for trial in missed:
        print(f"- {trial.kind}: {trial.name}, {trial.task}: {trial.result} {trial.message}")
    return int(bool(missed))


def _is_missed(trial: Trial) -> bool:
    if trial.kind in (EMPTY, ATTACK):
        return trial.result in ("passed", "broken task")
    return trial.kind != LIMITS and trial.result in ("faked", "failed", "broken task")


if __name__ == "__main__":
    main()

"""The cost of failing providers: a table of every fault, then many experiments while a share of requests fails.

    python benchmarks/faults.py [--faults 0.3] [--experiments 200] [--seed 0] [--no-table]

Real clients call servers on this machine that fail on purpose (tests/models) and otherwise answer correctly. An
experiment that is not solved was therefore lost, or a fault was counted against its model.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "models")]

from faulty_server import FAULTS, PASSING, FaultyServer, serving_faults  # noqa: E402

from koderz_core.config import load_settings  # noqa: E402
from koderz_core.events import BenchmarkOpened, CallFailed, CallFinished, CallStarted, Entry, ExperimentFinished  # noqa: E402
from koderz_core.journal import Journal, read_all  # noqa: E402
from koderz_core.models.catalogue import resolve  # noqa: E402
from koderz_core.models.providers import create  # noqa: E402
from koderz_core.records import (  # noqa: E402
    Configuration,
    Cost,
    DatasetOrigin,
    Observed,
    Plan,
    Problem,
    PublicProblem,
    TestFailure,
    TestSet,
    Usage,
    Verdict,
)
from koderz_core.runner.dependencies import Dependencies  # noqa: E402
from koderz_core.runner.provider_limits import Policy  # noqa: E402
from koderz_core.runner.runner import Assignment, Runner  # noqa: E402

NAMES = {"vllm": "vllm/coder", "anthropic": "anthropic/claude-opus-5-5", "ollama": "ollama/coder:7b"}
TESTS = TestSet("def check(candidate):\n    assert candidate(1, 2) == 3\n")
PROBLEM = Problem(PublicProblem("tiny/0", 'def add(a, b):\n    """Add."""\n', "add"), TESTS, "")
REFUSED = "refused"
REFUSED_SECONDS = 1.5
PLACES = 16
AS_SHIPPED = Policy()


class Judge:
    """Passes programs that add, so that the machine's cores are free for the callers."""

    isolation = "none"

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:  # noqa: ARG002
        if "+" in code:
            return Verdict("P", (), True, None, "", 0.0, self.isolation)
        return Verdict("F", (TestFailure(0, "", "", ""),), True, "assertion", "", 0.0, self.isolation)

    def probe(self, problem: PublicProblem, code: str, calls: Sequence[str]) -> tuple[Observed, ...]:  # noqa: ARG002
        return ()


@dataclass(frozen=True)
class Seen:
    """What the journal records of the experiments of one model."""

    outcomes: Counter[str]
    tries: int
    failed: Counter[str]
    cost_usd: float
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--faults", type=float, default=0.3)
    parser.add_argument("--experiments", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-table", action="store_true")
    asked = parser.parse_args()
    if not asked.no_table:
        print_table()
    sys.exit(storm(asked.faults, asked.experiments, asked.seed))


def print_table() -> None:
    """Each fault once before a correct answer, and at every request, of which there are at most four."""
    head = ("fault", "provider", "once: tries", "USD", "outcome", "always: tries", "USD", "outcome")
    widths = (28, 10, 12, 10, 9, 14, 10, 9)
    print(*(name.ljust(width) for name, width in zip(head, widths, strict=True)))
    for fault in (*FAULTS, REFUSED):
        for provider in NAMES:
            cells = [fault, provider]
            for always in (False, True):
                met = one(provider, fault, always=always)
                cells += [str(met.tries), f"{met.cost_usd:.6f}", next(iter(met.outcomes))]
            print(*(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)), flush=True)


def one(provider: str, fault: str, *, always: bool) -> Seen:
    """One experiment that meets a fault."""
    faults = iter([fault])
    policy = Policy(retries=3, first_wait_seconds=0.1, random=lambda: 1.0)
    with serving_faults() as server:
        server.fault = lambda: fault if always else next(faults, None)
        if fault != REFUSED:
            return seen(perform({provider: server.port}, 1, policy), provider)
    with refusing_at_first(server, 60.0 if always else 0.5):
        return seen(perform({provider: server.port}, 1, policy), provider)


def storm(share: float, experiments: int, seed: int) -> int:
    """Many experiments with a failing provider and as many with a sound one; 0 if nothing was lost or changed."""
    dice, guard = random.Random(seed), threading.Lock()

    def fault() -> str | None:
        with guard:
            return dice.choice(PASSING) if dice.random() < share else None

    with serving_faults() as healthy:
        alone = seen(perform({"ollama": healthy.port}, experiments), "ollama")
    with serving_faults() as faulty:
        faulty.fault = fault
    with serving_faults() as healthy, refusing_at_first(faulty, REFUSED_SECONDS):
        entries = perform({"vllm": faulty.port, "ollama": healthy.port}, experiments)
    at_fault, other = seen(entries, "vllm"), seen(entries, "ollama")
    print(f"\n{experiments} experiments at each of two providers, {PLACES} at a time. Of the requests to one of them")
    print(
        f"{share:.0%} fail, each in a random way, and for {REFUSED_SECONDS:g} s it refuses connections (seed {seed})."
    )
    print(f"failing provider: {_ended(at_fault)}, {at_fault.failed.total()} of them failed:")
    for what, times in at_fault.failed.most_common():
        print(f"  {times:4d}  {what}")
    print(f"other provider:   {_ended(other)}; alone: {_ended(alone)}")
    counted = at_fault.outcomes["unsolved"] + other.outcomes["unsolved"]
    lost = 2 * experiments - counted - at_fault.outcomes["solved"] - other.outcomes["solved"]
    print(f"lost: {lost}; counted against a model: {counted}; tries too many at the other: {other.tries - experiments}")
    return int(lost + counted + other.tries > experiments)


def perform(ports: Mapping[str, int], experiments: int, policy: Policy = AS_SHIPPED) -> list[Entry]:
    """The results of experiments with models at each of these ports."""
    urls = {provider: f"http://127.0.0.1:{port}{'/v1' * (provider == 'vllm')}" for provider, port in ports.items()}
    addresses = {f"{provider}_base_url": url for provider, url in urls.items()}
    settings = load_settings(**addresses, anthropic_api_key="sk-none", timeout=2, first_token_timeout=0.5)
    names = [NAMES[provider] for provider in ports]
    configurations = tuple(Configuration("direct", {"coder": (name,)}, {}) for name in names)
    plan = Plan(DatasetOrigin("tiny", "0" * 64, "MIT"), ("tiny/0",), configurations, repeats=experiments)
    header = BenchmarkOpened(1, "0", plan.id, plan, {}, "prices", "none", {})
    models = {name: create(resolve(name, settings), settings, dict) for name in names}
    parts = Dependencies(models, frozenset(names), Judge(), price, time.time, policy=policy)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "b.jsonl"
        with Runner(Assignment(header, {"tiny/0": PROBLEM}), Journal(path), lambda _: parts) as runner:
            runner.start(PLACES)
            runner.wait()
        return list(read_all(path))


def price(_model: str, usage: Usage, _seconds: float) -> Cost:
    """$1 and $5 per million tokens in and out; unknown if the provider does not report them."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return Cost(None, "unknown")
    return Cost((usage.input_tokens + 5 * usage.output_tokens) / 1e6, "of this measurement")


def seen(entries: Sequence[Entry], provider: str) -> Seen:
    """What a journal records of one provider."""
    of: dict[str | None, list[Entry]] = defaultdict(list)
    for entry in entries:
        of[entry.experiment].append(entry)
    calls = {key: told for key, told in of.items() if any(_asks(call, provider) for call in told)}
    mine = [entry for told in calls.values() for entry in told]
    ends = [(entry.at, entry.event) for entry in mine if isinstance(entry.event, ExperimentFinished)]
    failures = [entry.event for entry in mine if isinstance(entry.event, CallFailed)]
    return Seen(
        outcomes=Counter(end.outcome for _, end in ends),
        tries=sum(_asks(entry, provider) for entry in mine),
        failed=Counter(_without_addresses(failure.message) for failure in failures),
        cost_usd=sum(entry.event.cost.usd or 0.0 for entry in mine if isinstance(entry.event, CallFinished)),
        seconds=max(at for at, _ in ends) - entries[0].at,
    )


@contextmanager
def refusing_at_first(server: FaultyServer, seconds: float) -> Iterator[None]:
    """A server that has stopped returns after some seconds, unless all experiments have ended."""
    over = threading.Event()

    def serve() -> None:
        if not over.wait(seconds):
            with serving_faults(server.port) as again:
                again.fault = server.fault
                over.wait()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _asks(entry: Entry, provider: str) -> bool:
    return isinstance(entry.event, CallStarted) and entry.event.model == NAMES[provider]


def _without_addresses(message: str) -> str:
    return re.sub(r"http://127\.0\.0\.1:\d+(/v1)?, asked for [\w/.-]*\w", "it", message)[:90]


def _ended(seen: Seen) -> str:
    outcomes = ", ".join(f"{times} {outcome}" for outcome, times in seen.outcomes.items())
    return f"{outcomes} in {seen.seconds:.1f} s, ${seen.cost_usd:.6f}, {seen.tries} tries"


if __name__ == "__main__":
    main()

"""The throughput of several addresses for one model, beside one address.

Run: ``python benchmarks/addresses.py``. Scripted servers on this machine take a fixed time for each call. koderz sends
HumanEval samples to one or two of them; programs are not judged. The table shows calls per second, their ratio to one
server with 300 ms, and the ideal ratio: every address always has as many calls under way as its limit or, without a
limit, its share by speed. One server with twice the limit is a control: it needs the same CPU time as two servers, but
no division. Medians of ``--rounds`` rounds, in which the cases take turns. On a busy machine, ``--slower 4`` multiplies
all times by 4, so that they and not the processor limit the calls.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from calls_koderz import MODEL, _run_unjudged
from calls_serving import serving, write_answers
from process_tree import machine

from koderz_core import Order, Wanted, open_workspace
from koderz_core.config import load_settings
from koderz_core.datasets import load

FAST_MS, SLOW_MS = 300, 900
LIMIT = 8
PROBLEMS = 164


@dataclass(frozen=True, slots=True)
class Case:
    """``limit``: concurrent calls at each address; None: only ``concurrency``, that of the whole benchmark, limits."""

    name: str
    latencies_ms: tuple[int, ...]
    concurrency: int
    limit: int | None

    @property
    def ideal_per_second(self) -> float:
        """Calls per second if each address has its limit of calls under way, or its share by speed."""
        speeds = [1000 / latency for latency in self.latencies_ms]
        shares = [self.limit or self.concurrency * speed / sum(speeds) for speed in speeds]
        return sum(share * speed for share, speed in zip(shares, speeds, strict=True))


CASES = (
    Case("one address", (FAST_MS,), LIMIT, LIMIT),
    Case("one address, twice the limit", (FAST_MS,), 2 * LIMIT, 2 * LIMIT),
    Case("two equal addresses", (FAST_MS, FAST_MS), 2 * LIMIT, LIMIT),
    Case("speeds 1:3, 8 calls per address", (SLOW_MS, FAST_MS), 2 * LIMIT, LIMIT),
    Case("speeds 1:3, 16 calls in total", (SLOW_MS, FAST_MS), 2 * LIMIT, None),
)


@dataclass(frozen=True, slots=True)
class Round:
    """``answered``: calls by address, in the order of the case."""

    per_second: float
    answered: tuple[int, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=4, help="of the 164 problems")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slower", type=int, default=1)
    options = parser.parse_args()
    cases = [replace(case, latencies_ms=tuple(options.slower * ms for ms in case.latencies_ms)) for case in CASES]
    rounds: dict[Case, list[Round]] = {case: [] for case in cases}
    with tempfile.TemporaryDirectory() as folder:
        answers = write_answers(load("humaneval", load_settings()).problems, Path(folder))
        for number in range(options.rounds):
            for case in cases:
                home = Path(folder) / f"{number} {case.name}".replace(":", " ")
                rounds[case].append(_round(case, options.repeats, answers, home))
    _show(rounds, options.repeats * PROBLEMS)


def _round(case: Case, repeats: int, answers: Path, home: Path) -> Round:
    with ExitStack() as running:
        ports = [running.enter_context(serving(answers, latency)).port for latency in case.latencies_ms]
        urls = [f"http://127.0.0.1:{port}/v1" for port in ports]
        limits = {"vllm": {"concurrency": case.limit}} if case.limit else {}
        tiers = {"vllm": "frontier"}  # local answers would be streamed
        with open_workspace(home=home, vllm_base_url=" ".join(urls), tiers=tiers, limits=limits) as opened:
            plan = opened.plans.plan(Order([Wanted("direct", {"coder": MODEL})], "all", repeats=repeats))
            begin = time.monotonic()
            _run_unjudged(opened, plan, case.concurrency)
            seconds = time.monotonic() - begin
            answered = {state.address: state.answered for state in opened.models.addresses()}
    return Round(len(plan.experiments()) / seconds, tuple(answered[url] for url in urls))


def _show(rounds: dict[Case, list[Round]], calls: int) -> None:
    first = next(iter(rounds))
    print(f"{machine()}\n{calls} calls in each round, median of {len(rounds[first])} rounds\n")
    print("| case | ms per call | calls/s | ratio | ideal ratio | share of the ideal ratio | calls per address |")
    print("|---|---|---|---|---|---|---|")
    one = _median(rounds[first])
    for case, measured in rounds.items():
        ratio, ideal = _median(measured) / one, case.ideal_per_second / first.ideal_per_second
        latencies = " and ".join(map(str, case.latencies_ms))
        shares = " and ".join(str(count) for count in measured[0].answered)
        figures = f"{_median(measured):.1f} | {ratio:.2f} | {ideal:.2f} | {ratio / ideal:.0%}"
        print(f"| {case.name} | {latencies} | {figures} | {shares} |")


def _median(measured: Sequence[Round]) -> float:
    return statistics.median(item.per_second for item in measured)


if __name__ == "__main__":
    main()

"""koderz's part of ``benchmarks/calls.py``: one benchmark against the scripted server, in a process of its own.

``calls_koderz.py PORT REPEATS AT_ONCE KIND HOME``: KIND is ``calls`` or ``streamed`` (programs are not judged) or
``graded``, where programs are judged in the sandbox and the index is read at the end. Prints the number solved.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from koderz_core import Order, Wanted, Workspace, __version__, open_workspace
from koderz_core.journal import Journal
from koderz_core.records import Observed, Plan, Problem, PublicProblem, TestSet, Verdict
from koderz_core.runner.dependencies import Dependencies
from koderz_core.runner.header import header
from koderz_core.runner.runner import Assignment, Runner

MODEL = "vllm/scripted"


class Approving:
    """A judge that runs nothing and passes everything."""

    def check(self, _problem: Problem, _code: str, _tests: TestSet) -> Verdict:
        return Verdict("P", (), completed=True, error=None, message="", seconds=0.0, isolation="limited")

    def probe(self, _problem: PublicProblem, _code: str, _calls: Sequence[str]) -> tuple[Observed, ...]:
        return ()


def main(port: str, repeats: str, at_once: str, kind: str, home: str) -> None:
    tier = "local" if kind == "streamed" else "frontier"  # local answers are streamed
    address = f"http://127.0.0.1:{port}/v1"
    with open_workspace(home=Path(home), vllm_base_url=address, tiers={"vllm": tier}) as opened:
        plan = opened.plans.plan(Order([Wanted("direct", {"coder": MODEL})], "all", repeats=int(repeats)))
        begin = time.monotonic()
        if kind == "graded":
            opened.runs.run(plan, int(at_once))
        else:
            _run_unjudged(opened, plan, int(at_once))
        seconds = time.monotonic() - begin
        solved = sum(row.solved for row in opened.results.summaries(plan.id)) if kind == "graded" else None
    print(json.dumps({"n": len(plan.experiments()), "solved": solved, "seconds": seconds}))


def _run_unjudged(opened: Workspace, plan: Plan, at_once: int) -> None:
    problems = {problem.id: problem for problem in opened.datasets.load().problems}
    assignment = Assignment(header(plan, opened.settings, "limited", __version__), problems)
    journal = Journal(opened.settings.journals_dir / f"{plan.id}.jsonl")

    def parts(names: frozenset[str]) -> Dependencies:
        return replace(opened.runs._parts(names, plan, plan.id), judge=Approving())

    with Runner(assignment, journal, parts) as runner:
        runner.start(at_once)
        runner.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""One benchmark of ``benchmarks/dask_engine.py`` in a process of its own.

``dask_engine_runs.py ENGINE PORT REPEATS AT_ONCE KIND HOME``: KIND is ``calls`` (programs are not judged) or ``graded``
(in the sandbox). Prints the number of experiments and the seconds from the first call to the last end.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from calls_koderz import MODEL, Approving

from koderz_core import Order, Wanted, Workspace, __version__, open_workspace
from koderz_core.dask_engine.door import Equipment
from koderz_core.dask_engine.messages import Terms
from koderz_core.events import CallStarted, ExperimentFinished
from koderz_core.journal import Journal, read_all
from koderz_core.records import Plan
from koderz_core.runner.dependencies import Dependencies
from koderz_core.runner.engine import Engine
from koderz_core.runner.header import header
from koderz_core.runner.runner import Assignment, Runner
from koderz_core.workspace import engines


def approving(terms: Terms) -> Equipment:
    """A worker that judges nothing."""
    return replace(engines.equip(terms), judge=Approving())


def main(engine: str, port: str, repeats: str, at_once: str, kind: str, home: str) -> None:
    address = f"http://127.0.0.1:{port}/v1"
    with open_workspace(home=Path(home), vllm_base_url=address, tiers={"vllm": "frontier"}) as opened:
        plan = opened.plans.plan(Order([Wanted("direct", {"coder": MODEL})], "all", repeats=int(repeats)))
        with closing(opened.runs.engines.open(engine, plan, int(at_once))) as where:
            run = _run_unjudged if kind == "calls" else _run
            run(opened, plan, int(at_once), where)
        entries = list(read_all(opened.settings.journals_dir / f"{plan.id}.jsonl"))
    begin = next(entry.at for entry in entries if isinstance(entry.event, CallStarted))
    ends = [entry.at for entry in entries if isinstance(entry.event, ExperimentFinished)]
    print(json.dumps({"n": len(ends), "seconds": max(ends) - begin}))


def _run(opened: Workspace, plan: Plan, at_once: int, engine: Engine) -> None:
    with opened.runs.runner(plan, engine=engine) as runner:
        runner.start(at_once)
        runner.wait()


def _run_unjudged(opened: Workspace, plan: Plan, at_once: int, engine: Engine) -> None:
    problems = {problem.id: problem for problem in opened.datasets.load().problems}
    isolation = opened.grading.sandbox.self_test().isolation
    if engine.has_models:
        engine.outfit = replace(engine.outfit, equip="dask_engine_runs:approving")  # type: ignore[attr-defined]
    assignment = Assignment(header(plan, opened.settings, isolation, __version__), problems, engine=engine)
    journal = Journal(opened.settings.journals_dir / f"{plan.id}.jsonl")

    def parts(names: frozenset[str]) -> Dependencies:
        return replace(opened.runs._parts(names, plan, plan.id, engine), judge=Approving())

    with Runner(assignment, journal, parts) as runner:
        runner.start(at_once)
        runner.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])

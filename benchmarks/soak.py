"""What many programs leave behind, attacks among them: processes, descriptors, memory, files; and every verdict.

Run: ``python benchmarks/soak.py`` (Linux; 20,000 programs; as root for the workers' memory). Correct and wrong programs
for HumanEval are mixed with the attacks of tests/sandbox/attacks. Exits with 1 if a verdict was wrong, an attack
succeeded or anything was left. ``--bounds`` shows instead the cost of greedy programs for the host.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import bounds
from left_behind import State, state, table, what_is_left
from process_tree import machine

from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.errors import SandboxError
from koderz_core.records import Isolation, Problem, PublicProblem, TestSet
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.tiers import probe

sys.path.append(str(Path(__file__).parents[1] / "tests" / "sandbox"))
from attacks.cheating import CHEATS
from attacks.ground import Ground, planted
from attacks.hosting import HOST_ATTACKS
from attacks.judges import promises
from attacks.records import Cheat, Host

BOXED: tuple[Isolation, ...] = ("hardened", "strong")  # in the other tier attacks may do harm
WORKERS = 2
BATCH = 200
SHARE_OF_ATTACKS = 0.1
TIMEOUT_SECONDS = 2.0
SEED = 5


@dataclass(frozen=True, slots=True)
class Program:
    name: str
    problem: Problem
    code: str
    right: bool
    attack: bool = False


@dataclass(slots=True)
class Tally:
    """The results of all programs so far. ``classes``: error classes of attacks."""

    honest: int = 0
    classes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def main() -> None:
    asked = _arguments()
    tier = asked.tier or next(tier.isolation for tier in probe(shutil.which("bwrap")) if tier.holds)
    if tier not in BOXED:
        sys.exit("Neither hardened nor strong holds here, so the attacks would do harm.")
    if asked.bounds:
        sys.exit(bounds.show(tier))
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        tempfile.tempdir = folder  # its own, so that whatever is left in it is ours
        sys.exit(_soak(tier, asked.programs))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--tier", choices=BOXED, help="default: the strongest that works here")
    parser.add_argument("--bounds", action="store_true", help="show the cost of greedy programs instead")
    return parser.parse_args()


def _soak(tier: Isolation, programs: int) -> int:
    """The exit code."""
    honest, attacks = _honest(), _attacks(tier)
    sizes = [min(BATCH, programs - start) for start in range(0, programs, BATCH)]
    tally, chance, states, began = Tally(), random.Random(SEED), {"before": state()}, time.monotonic()
    judge = BoxedJudge(tier, shutil.which("bwrap"), timeout_seconds=TIMEOUT_SECONDS, workers=WORKERS)
    for number, size in enumerate(sizes, 1):
        _batch(judge, [_drawn(chance, honest, attacks) for _ in range(size)], tally)
        if number == -(-len(sizes) // 10):
            states["a tenth"] = state()
    states["all"] = state()
    judge.close()
    states["closed"] = state()
    print(f"{machine()}, tier {tier}: {programs} programs in {time.monotonic() - began:.0f} s\n")
    return _report(states, tally, attacks)


def _report(states: dict[str, State], tally: Tally, attacks: Sequence[Cheat | Host]) -> int:
    faults = [*tally.faults, *what_is_left(**{name.replace(" ", "_"): found for name, found in states.items()})]
    tried = sum(tally.classes.values())
    print(table(states))
    print(
        f"\n{tally.honest} HumanEval programs and {tried} runs of {len(attacks)} different attacks. Error classes of "
        "the verdicts on the attacks:"
    )
    print(", ".join(f"{name} {number}" for name, number in tally.classes.most_common()))
    print(f"\n{len(faults)} faults", *faults[:50], sep="\n")
    return 1 if faults else 0


def _batch(judge: BoxedJudge, drawn: Sequence[Program | Cheat | Host], tally: Tally) -> None:
    """Attacks find targets to read and to damage, planted for this batch."""
    with planted() as ground, ThreadPoolExecutor(WORKERS) as pool:
        programs = [draw if isinstance(draw, Program) else _attacking(draw, ground) for draw in drawn]
        for program, said in zip(
            programs, pool.map(lambda candidate: _judged(judge, candidate, ground), programs), strict=True
        ):
            _count(program, said, tally)
        tally.faults += [f"an attack changed: {trace}" for trace in ground.traces()]


def _judged(judge: BoxedJudge, program: Program, ground: Ground) -> str:
    """``passed``, or the error class of the verdict; ``no verdict`` if koderz could not judge."""
    try:
        verdict = judge.check(program.problem, program.code, program.problem.tests)
    except SandboxError:
        return "no verdict"
    shown = " ".join([verdict.message, *(failure.actual or "" for failure in verdict.failures)])
    if program.attack and any(sign in shown for sign in (ground.token, "REACHED")):
        return "reached"
    return "passed" if verdict.passed else verdict.error or "failed"


def _count(program: Program, said: str, tally: Tally) -> None:
    if program.attack:
        tally.classes[said] += 1
        if said in ("passed", "reached"):
            tally.faults.append(f"the attack `{program.name}` {said}")
    else:
        tally.honest += 1
        if said == "no verdict" or (said == "passed") != program.right:
            tally.faults.append(f"{program.name}, a {'right' if program.right else 'wrong'} program: {said}")


def _drawn(chance: random.Random, honest: Sequence[Program], attacks: Sequence[Cheat | Host]) -> Program | Cheat | Host:
    return chance.choice(attacks if chance.random() < SHARE_OF_ATTACKS else honest)


def _honest() -> list[Program]:
    return list(_pairs(load("humaneval", load_settings()).problems))


def _pairs(problems: Sequence[Problem]) -> Iterator[Program]:
    for problem in problems:
        yield Program(problem.id, problem, problem.canonical_solution, right=True)
        yield Program(problem.id, problem, f"{problem.public.prompt}    return None\n", right=False)


def _attacks(tier: Isolation) -> list[Cheat | Host]:
    """The attacks that the tier promises to stop."""
    attacks: list[Cheat | Host] = [*CHEATS, *HOST_ATTACKS]
    return [attack for attack in attacks if promises(tier, attack.holds_from)]


def _attacking(attack: Cheat | Host, ground: Ground) -> Program:
    """Of the same family as the honest programs, so that these meet the same workers."""
    if isinstance(attack, Cheat):
        given = {"LEFT": ground.names["ID"], "SPARED": [os.getpid(), os.getppid()]}
        entry_point, tests, solution = attack.exercise.entry_point, attack.exercise.tests, attack.exercise.honest
    else:
        given = ground.names
        entry_point, tests, solution = "attack", "def check(candidate):\n    assert candidate(0) == 'nothing'\n", ""
    code = "".join(f"{name} = {value!r}\n" for name, value in given.items()) + attack.code
    problem = Problem(PublicProblem("HumanEval/attack", "", entry_point, ""), TestSet(tests), solution)
    return Program(attack.name, problem, code, right=False, attack=True)


if __name__ == "__main__":
    main()

"""Tries a cheat on a judge, or its twin on a grader that defends nothing."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from koderz_core.errors import SandboxError
from koderz_core.protocols import Judge
from koderz_core.records import Problem, PublicProblem, TestSet
from koderz_core.sandbox.judge import BoxedJudge

from . import plain
from .cheats_frames import FRAME_CHEATS
from .cheats_interpreter import INTERPRETER_CHEATS
from .cheats_legacy import LEGACY_CHEATS
from .cheats_poison import POISON_CHEATS
from .cheats_values import VALUE_CHEATS
from .records import Cheat, Exercise

CHEATS = VALUE_CHEATS + INTERPRETER_CHEATS + FRAME_CHEATS + POISON_CHEATS + LEGACY_CHEATS


def twin_succeeds(cheat: Cheat) -> bool:
    """Whether the cheat gets what it aims at where nothing defends."""
    verdicts = plain.grade(cheat.plain, _programs(cheat), cheat.exercise)
    if cheat.aim == "pass":
        return verdicts[:1] == [True]
    if cheat.aim == "legacy":
        return verdicts[1:2] == [True]
    return verdicts[1:] != [True, False]


def succeeds(cheat: Cheat, judge: Judge) -> bool:
    """Whether the cheat gets what it aims at; SandboxError if the judge lost its worker to it."""
    programs = _programs(cheat)
    verdicts = [passes(judge, cheat.exercise, program) for program in programs]
    if cheat.aim == "poison":
        return verdicts != [False, True, False]
    return any(verdicts[: 2 if cheat.aim == "legacy" else 1])


def serves(judge: Judge, exercise: Exercise) -> bool:
    """Whether the judge still passes an honest program and fails a wrong one."""
    return passes(judge, exercise, exercise.honest) and not passes(judge, exercise, exercise.wrong)


def passes(judge: Judge, exercise: Exercise, code: str) -> bool:
    tests = TestSet(exercise.tests)
    problem = Problem(PublicProblem("small/1", "", exercise.entry_point, ""), tests, exercise.honest)
    return judge.check(problem, code, tests).passed


def survives(cheat: Cheat, judge: BoxedJudge) -> bool:
    """Whether the judge is proof against the cheat and goes on judging; a lost worker is no success of the cheat."""
    try:
        beaten = succeeds(cheat, judge)
    except SandboxError:
        beaten = False
    worn_out = judge.isolation == "limited" and not reaches_out(cheat)  # the next program has another worker
    return not beaten and (worn_out or serves(judge, cheat.exercise))


def reaches_out(cheat: Cheat) -> bool:
    """Whether the cheat goes beyond its own process: it leaves something behind, or what it does is the system's."""
    return cheat.aim != "pass" or cheat.holds_from != "limited"


def _programs(cheat: Cheat) -> list[str]:
    given = f"LEFT, SPARED = {secrets.token_hex(3)!r}, {_ancestors()}\n"
    if cheat.aim == "pass":
        return [given + cheat.code]
    if cheat.aim == "legacy":
        return [given + cheat.code, given + cheat.then]
    return [given + cheat.code, cheat.exercise.honest, cheat.exercise.wrong]


def _ancestors() -> list[int]:
    """This process and those that started it, whom no cheat may attack: all it may have is the grader's processes."""
    found = [os.getpid()]
    while found[-1] > 1:
        found.append(int(Path(f"/proc/{found[-1]}/stat").read_text().rpartition(")")[2].split()[1]))
    return found

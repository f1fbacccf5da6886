"""Grades programs where nothing defends, for the twins of cheats."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .records import Exercise, Plain

SECONDS = 6.0
PYTHON: str = getattr(sys, "_base_executable", sys.executable)  # outside a venv: people's own site folders count
_HERE = Path(__file__).parent


def grade(plain: Plain, programs: Sequence[str], exercise: Exercise) -> list[bool]:
    """The verdicts on programs one after the other; fewer of them if the grader was lost on the way."""
    with tempfile.TemporaryDirectory(prefix="plain-", ignore_cleanup_errors=True) as folder:
        if plain == "script":
            return [_exits_with_0(program, exercise, folder) for program in programs]
        order = {"programs": programs, "tests": exercise.tests, "entry_point": exercise.entry_point}
        said = run([str(_HERE / f"{plain}.py")], folder, json.dumps(order))[1]
        return _verdicts(said)


def run(arguments: Sequence[str], folder: str, given: str = "") -> tuple[int, str]:
    """Exit code and output of a plain interpreter in a session of its own, so that signals to groups end there."""
    environment = {"PATH": os.defpath, "HOME": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(
        [PYTHON, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(given, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            said = ""
        finally:
            _end_session(process.pid)
        return process.wait(), said


def _end_session(leader: int) -> None:
    """End what the interpreter started and left, as long as it is still in its session."""
    for entry in Path("/proc").glob("[0-9]*"):
        pid = int(entry.name)
        try:
            if os.getsid(pid) == leader:
                os.kill(pid, 9)
        except OSError:
            continue


def _exits_with_0(program: str, exercise: Exercise, folder: str) -> bool:
    script = f"{program}\n{exercise.tests}\ncheck({exercise.entry_point})\n"
    file = Path(folder, "program.py")
    file.write_text(script)
    return run([str(file)], folder)[0] == 0


def _verdicts(said: str) -> list[bool]:
    try:
        verdicts = json.loads(said)
    except ValueError:
        return []
    return verdicts if isinstance(verdicts, list) else []

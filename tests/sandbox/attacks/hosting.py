"""Tries a host attack on a judge, or its twin in a plain interpreter, and looks from outside at what it did."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from koderz_core.errors import SandboxError
from koderz_core.protocols import Judge
from koderz_core.records import Problem, PublicProblem, TestSet

from . import plain
from .ground import Ground, planted
from .host_files import FILE_ATTACKS
from .host_kernel import KERNEL_ATTACKS
from .host_limits import LIMIT_ATTACKS
from .host_network import NETWORK_ATTACKS
from .host_processes import PROCESS_ATTACKS
from .records import Host

HOST_ATTACKS = FILE_ATTACKS + KERNEL_ATTACKS + LIMIT_ATTACKS + NETWORK_ATTACKS + PROCESS_ATTACKS
_TESTS = TestSet("def check(candidate):\n    assert candidate(0) == 'nothing'\n")
_PROBLEM = Problem(PublicProblem("small/1", "", "attack", ""), _TESTS, "")


def twin_gets(attack: Host) -> list[str]:
    """What the attack gets or changes as a plain script; nothing if it is no attack."""
    with planted() as ground, tempfile.TemporaryDirectory(prefix="plain-", ignore_cleanup_errors=True) as folder:
        file = Path(folder, "program.py")
        file.write_text(_program(attack, ground) + "\nprint(repr(attack(0)), flush=True)\n")
        _, said = plain.run([str(file)], folder)
        return _got(attack, ground, said)


def gets(attack: Host, judge: Judge) -> list[str]:
    """What the attack gets or changes when a judge runs it."""
    with planted() as ground:
        try:
            verdict = judge.check(_PROBLEM, _program(attack, ground), _TESTS)
        except SandboxError as error:
            return [*_got(attack, ground, ""), f"the worker: {error}"]
        said = " ".join([verdict.message, *(failure.actual or "" for failure in verdict.failures)])
        return _got(attack, ground, said)


def _program(attack: Host, ground: Ground) -> str:
    given = "".join(f"{name} = {value!r}\n" for name, value in ground.names.items())
    return given + attack.code


def _got(attack: Host, ground: Ground, said: str) -> list[str]:
    time.sleep(attack.settle_seconds)
    returned = [name for name, sign in (("the secret", ground.token), ("what it wanted", "REACHED")) if sign in said]
    return returned + ground.traces()

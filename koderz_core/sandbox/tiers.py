"""Finds the sandbox tiers that hold on this machine by attacks from inside, and reads facts from the source of tests.

These facts are the number of tests and the names of a program that they use.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from koderz_core.python_parser import parse
from koderz_core.records import Isolation, Problem, TestSet
from koderz_core.sandbox import box
from koderz_core.sandbox.folders import sweep
from koderz_core.sandbox.inside.instrument import tests_in
from koderz_core.sandbox.selftest_programs import planted

TIERS: tuple[Isolation, ...] = ("hardened", "strong", "limited")  # best first
_SCRIPT = box.INSIDE / "probe.py"
_MAX_SECONDS = 10.0
_TAKES_MEMORY = "takes more memory than allowed"


@dataclass(frozen=True, slots=True)
class TierStatus:
    """Whether a tier holds here. ``reason`` says in one line why not and what to do; it is empty if the tier holds."""

    isolation: Isolation
    reason: str = ""

    @property
    def holds(self) -> bool:
        return not self.reason


def probe(bwrap: str | None, tiers: Sequence[Isolation] = TIERS) -> tuple[TierStatus, ...]:
    """The status of ``tiers``, in well under a second. ``bwrap``: the path of bubblewrap, None if not installed."""
    sweep()
    with planted() as ground, ThreadPoolExecutor(len(tiers)) as threads:
        target = (str(ground.folder / "secret"), str(ground.folder), ground.server.getsockname()[1], os.getpid())
        reasons = threads.map(lambda isolation: _reason(isolation, bwrap, target), tiers)
        return tuple(map(TierStatus, tiers, reasons))


_Target = tuple[str, str, int, int]  # inside/probe.py's Target


@dataclass(frozen=True, slots=True)
class _Output:
    """The output of the script."""

    refused: str = ""
    open: tuple[str, ...] = ()
    broken: str = ""


def _reason(isolation: Isolation, bwrap: str | None, target: _Target) -> str:
    if isolation != "limited" and sys.platform != "linux":
        return "this tier needs Linux"
    if isolation == "hardened" and bwrap is None:
        return "bubblewrap is not installed; install it with your package manager, for example: apt install bubblewrap"
    setup = {"boxed": isolation != "limited", "readable": box.readable(), "target": target}
    order = msgspec.json.encode(setup).decode()
    try:
        return _fault(isolation, _run([*box.command(isolation, bwrap), str(_SCRIPT), order]))
    except subprocess.TimeoutExpired:
        return f"the test of this tier gave no result within {_MAX_SECONDS:g} s"
    except OSError as error:
        return f"no process can be started in this sandbox: {error}"


def _run(arguments: list[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        arguments, capture_output=True, env=box.ENVIRONMENT, cwd="/", timeout=_MAX_SECONDS, check=False
    )


def _fault(isolation: Isolation, done: subprocess.CompletedProcess[bytes]) -> str:
    try:
        output = msgspec.json.decode(done.stdout, type=_Output)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _not_started(done.stderr.decode(errors="replace").strip())
    if output.refused:
        cure = "use Linux 5.13 or later with Landlock and seccomp enabled"
        return f"the kernel refuses this sandbox ({output.refused}): {cure}"
    if output.broken:
        return f"correct programs fail in this sandbox: {output.broken}"
    attacks = list(output.open)
    if isolation == "limited":  # it promises to limit memory only, and on macOS not even that
        attacks = [_TAKES_MEMORY] if _TAKES_MEMORY in attacks and sys.platform != "darwin" else []
    return f"a program in this sandbox still {', '.join(attacks)}" if attacks else ""


def _not_started(stderr: str) -> str:
    line = " ".join(stderr.splitlines()[-1:])[:300]
    if line.startswith("bwrap:"):
        return (
            f"user namespaces are not allowed on this machine ({line}); many containers, and AppArmor on Ubuntu 23.10 "
            "and later, forbid user namespaces; allow them for bwrap"
        )
    return f"the test of this tier ended without a result ({line})"


def count_tests(source: str) -> int:
    """The number of tests in the source of a test set: its asserts that use a name.

    Raises SyntaxError (ValueError for a null byte) if it is not Python.
    """
    return tests_in(parse(source))


def number_of(tests: TestSet) -> int:
    """The number of tests in a test set. Raises as ``count_tests``."""
    if tests.ids:
        return len(tests.ids)
    return len(tests.cases) if tests.cases else count_tests(tests.source)


def names_used(problem: Problem, tests: str) -> list[str]:
    """The names besides the function that tests use of a program: names that the canonical solution defines.

    A module must define all of its names.
    """
    public = problem.public
    names = _used(tests) & _defined(problem.canonical_solution)
    names -= _defined(public.preamble) | _defined(tests)
    return sorted((names | set(public.names)) - {public.entry_point})


@lru_cache(1024)
def _used(source: str) -> frozenset[str]:
    """Names that tests read and do not set themselves."""
    nodes = list(ast.walk(_parsed(source)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own = {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    return frozenset(node.id for node in names) - own


@lru_cache(1024)
def _defined(source: str) -> frozenset[str]:
    """Functions, classes and constants at the top of a module."""
    names: set[str] = set()
    for top in _parsed(source).body:
        if isinstance(top, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(top.name)
        elif isinstance(top, ast.Assign):
            names |= {node.id for target in top.targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    return frozenset(names)


def _parsed(source: str) -> ast.Module:
    try:
        return parse(source)
    except (SyntaxError, ValueError):
        return ast.Module([], [])  # the worker reports the error

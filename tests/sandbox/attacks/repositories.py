"""Attacks on the judge of repositories: patches that solve nothing. What they are, and the grader that defends nothing.

Each attack makes a patch for any task. A plain run of pytest, as most harnesses judge, must count the patch as solved:
by its exit code or by the lines that say which tests passed.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from koderz_core.patches import apply_patch, make_patch, read_patch
from koderz_core.records import Problem, Repository

GIT = shutil.which("git")
PLAIN_SECONDS = 120
MOST_PASSING = 40
"""Tests that pass before and after are run with the failing ones up to this number, in a plain run."""


@dataclass(frozen=True, slots=True)
class RepositoryAttack:
    """``needs``: what the task must have so that a plain run can be fooled; ``twins``: whether it knows of twins.

    ``limit``: it contains the published tests with their expected values, which no judge can tell from a solution.
    """

    name: str
    make: Callable[[Problem], str]
    twins: bool = False
    limit: bool = False


def attack(name: str, code: str, *, twins: bool = False, at_start: bool = False) -> RepositoryAttack:
    """An attack by code in the package, in a namespace of its own with the names of ``facts``."""
    return RepositoryAttack(name, lambda problem: in_package(problem, code, at_start=at_start), twins)


def in_package(problem: Problem, code: str, *, at_start: bool = False, path: str = "") -> str:
    """The patch that adds the code to a file of the package that every test imports."""
    files = problem.public.files
    path = path or entry(problem)
    line = (
        f"exec({code!r}, {{'__name__': 'added', 'module': __import__('sys').modules[__name__], **{facts(problem)!r}}})"
    )
    lines = files[path].split("\n")
    at = _after_future(files[path]) if at_start else len(lines)
    changed = "\n".join([*lines[:at], line, *lines[at:]])
    return make_patch(files, {**files, path: changed})


def facts(problem: Problem) -> dict[str, object]:
    """What an attacker knows of a task: names and published texts of its tests."""
    repository = tests_of(problem)
    return {"FAILING": list(repository.failing), "PASSING": list(repository.passing)}


def entry(problem: Problem) -> str:
    """The ``__init__.py`` nearest to the root that may change, else the file of the fault."""
    packages = [path for path in problem.public.editable if PurePosixPath(path).name == "__init__.py"]
    return min(packages, key=lambda path: (path.count("/"), path), default="") or faulty(problem)


def faulty(problem: Problem) -> str:
    """The file that the correct patch changes."""
    corrected = apply_patch(problem.canonical_solution, problem.public.files)
    return next(path for path, text in corrected.items() if text != problem.public.files.get(path))


def changed_part(diff: str) -> tuple[str, set[int]]:
    """The first file that a diff changes, and the numbers of the lines of its hunks."""
    change = read_patch(diff)[0]
    return change.path, {hunk.start + at for hunk in change.hunks for at in range(len(hunk.before))}


def tests_of(problem: Problem) -> Repository:
    """The repository of the task, which every problem of this kind has."""
    assert problem.repository is not None
    return problem.repository


def published(problem: Problem) -> dict[str, str]:
    """The texts of the published files with tests, by path."""
    repository = tests_of(problem)
    paths = sorted({name.partition("::")[0] for name in (*repository.failing, *repository.passing)})
    return {path: repository.tree.files[path].decode() for path in paths}


def with_files(problem: Problem, texts: Mapping[str, str]) -> str:
    """The patch that writes these files, whether or not it may."""
    before = {path: data.decode() for path, data in tests_of(problem).tree.files.items() if path in texts}
    return make_patch({**problem.public.files, **before}, {**problem.public.files, **before, **texts})


def with_link(path: str, target: str) -> str:
    """The patch, as git writes it, that makes ``path`` a symbolic link."""
    new = f"diff --git a/{path} b/{path}\nnew file mode 120000\nindex 0000000..1111111\n--- /dev/null\n+++ b/{path}\n"
    return f"{new}@@ -0,0 +1 @@\n+{target}\n\\ No newline at end of file\n"


def _after_future(text: str) -> int:
    """The number of lines up to the end of the docstring and of the imports from ``__future__``."""
    last = 0
    for node in ast.parse(text).body:
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        last = node.end_lineno or 0
    return last


@dataclass(frozen=True, slots=True)
class Plain:
    """A run of pytest that defends nothing: its exit code, and the tests of which its output says that they passed."""

    code: int
    passed: frozenset[str]

    def solves(self, problem: Problem) -> str:
        """By what the run would count as solved; empty if it would not."""
        if self.passed.issuperset(tests_of(problem).failing):
            return "exit code and lines" if self.code == 0 else "lines"
        return "exit code" if self.code == 0 else ""


def plain(problem: Problem, patch: str, ids: Sequence[str] | None = None) -> Plain:
    """Run pytest on the broken tree with the patch, applied by git. ``ids``: all failing and some passing tests."""
    repository = tests_of(problem)
    chosen = [*repository.failing, *repository.passing[:MOST_PASSING]] if ids is None else ids
    with tempfile.TemporaryDirectory(prefix="plain-", ignore_cleanup_errors=True) as folder:
        root = Path(folder, "tree")
        for part in (repository.fault, patch):
            _written(root, repository) if part is repository.fault else None
            if part:
                command = [GIT or "git", "apply", "--whitespace=nowarn", "-"]
                subprocess.run(
                    command, cwd=root, input=part.encode(), check=True, capture_output=True, env=_alone(root)
                )
        paths = os.pathsep.join(str(root / name) for name in repository.roots)
        command = [sys.executable, "-B", "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "--tb=no", *chosen]
        environment = {**_alone(root), "PYTHONPATH": paths, "PATH": os.environ["PATH"], "TMPDIR": folder}
        try:
            done = subprocess.run(
                command, cwd=root, env=environment, capture_output=True, check=False, timeout=PLAIN_SECONDS
            )
        except subprocess.TimeoutExpired:
            return Plain(-1, frozenset())
    lines = done.stdout.decode(errors="replace").splitlines()
    return Plain(done.returncode, frozenset(line[7:].strip() for line in lines if line.startswith("PASSED ")))


def _alone(root: Path) -> dict[str, str]:
    """An environment in which git finds no repository around the tree."""
    return {"GIT_CEILING_DIRECTORIES": str(root.parent), "HOME": str(root.parent), "LC_ALL": "C.UTF-8"}


def _written(root: Path, repository: Repository) -> None:
    for path, data in repository.tree.files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)

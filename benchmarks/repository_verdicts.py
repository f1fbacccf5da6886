"""The cost of a verdict on a repository, next to plain pytest on the same tree, with the same interpreter and tests.

Run it with folders of unpacked source distributions: python benchmarks/repository_verdicts.py TREE... [--rounds N]

Each round runs pytest as a user does (``python -m pytest -q``, with the plugins that are installed), pytest without
these plugins, and a verdict of the correct patch. The verdict includes the rewriting of the tests, their twins, the
copy of the tree, and the decision. The survey of the tree makes the profile of the correct program before, once per set
of tests.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from koderz_core.patches import make_patch
from koderz_core.records import Problem, PublicProblem, Repository, SourceTree, TestSet
from koderz_core.sandbox.repository.judge import RepositoryJudge
from koderz_core.sandbox.tiers import probe

FAILING = 5  # tests that the task repairs: each of them runs as twins
BAR = 1.3
_LEFT_OUT = {"__pycache__", ".pytest_cache", ".git"}


@dataclass(frozen=True)
class Row:
    """Medians in seconds."""

    name: str
    tests: int
    protected: int
    plain: float
    bare: float
    verdict: float
    survey: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    bwrap = shutil.which("bwrap")
    tier = next(status.isolation for status in probe(bwrap) if status.holds)
    judge = RepositoryJudge(tier, bwrap)
    print(f"tier {tier}, Python {sys.version.split()[0]}, medians of {given.rounds} rounds, times in seconds\n")
    print("| tree | tests | protected | pytest | pytest, no plugins | verdict | ratio | ratio, no plugins | survey |")
    print("|---|---|---|---|---|---|---|---|---|")
    for folder in given.trees:
        row = _measured(judge, folder, given.rounds)
        ratios = row.verdict / row.plain, row.verdict / row.bare
        print(
            f"| {row.name} | {row.tests} | {row.protected} | {row.plain:.2f} | {row.bare:.2f} | {row.verdict:.2f} | "
            f"{ratios[0]:.2f} | {ratios[1]:.2f} | {row.survey:.1f} |",
            flush=True,
        )
    judge.close()
    print(f"\nBar: {BAR} times pytest.")


def _measured(judge: RepositoryJudge, folder: Path, rounds: int) -> Row:
    began = time.perf_counter()
    problem, protected, left_out = _task(judge, folder)
    survey = time.perf_counter() - began
    _verdict(judge, problem)
    with tempfile.TemporaryDirectory() as copy:
        tree = Path(copy, folder.name)
        shutil.copytree(folder, tree, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        plain, bare, verdict = list[float](), list[float](), list[float]()
        _plain(tree, problem, left_out, plugins=True)  # writes bytecode
        for _ in range(rounds):
            plain.append(_seconds(lambda: _plain(tree, problem, left_out, plugins=True)))
            verdict.append(_seconds(lambda: _verdict(judge, problem)))
            bare.append(_seconds(lambda: _plain(tree, problem, left_out, plugins=False)))
    medians = map(statistics.median, (plain, bare, verdict))
    return Row(folder.name, len(problem.tests.ids), protected, *medians, survey)


def _task(judge: RepositoryJudge, folder: Path) -> tuple[Problem, int, list[str]]:
    """A task whose fault changes nothing but a comment, its protected tests, and the tests that do not pass."""
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not _LEFT_OUT & set(path.parts)
    }
    digest = sha256(b"".join(path.encode() + content for path, content in files.items())).hexdigest()
    roots = ("src",) if (folder / "src").is_dir() else ("",)
    tree = SourceTree(digest, folder.name, "", files)
    whole = Repository(tree, "", (), (), (), roots)
    survey = judge.survey(whole)
    passed = survey.passed()
    able = [result.id for result in survey.results if result.protected]
    failing = tuple(random.Random(1).sample(able, FAILING))
    modules = [path for path in files if path.startswith(roots[0]) and path.endswith(".py") and "test" not in path]
    path = min(modules, key=lambda path: (not path.endswith("__init__.py"), path == "setup.py", path))
    before, after = {path: files[path].decode()}, {path: files[path].decode() + "# fault\n"}
    fault, canonical = make_patch(before, after), make_patch(after, before)
    passing = tuple(test for test in passed if test not in failing)
    repository = replace(whole, fault=fault, editable=(path,), failing=failing, passing=passing, seconds=survey.seconds)
    public = PublicProblem(folder.name, "", "", kind="repo", editable=(path,))
    problem = Problem(public, TestSet(ids=(*failing, *passing)), canonical, repository=repository)
    return problem, len(able), [result.id for result in survey.results if result.outcome != "passed"]


def _verdict(judge: RepositoryJudge, problem: Problem) -> None:
    found = judge.check(problem, problem.canonical_solution, problem.tests)
    assert found.passed, found.message


def _plain(tree: Path, problem: Problem, left_out: list[str], *, plugins: bool) -> None:
    assert problem.repository
    root = tree / problem.repository.roots[0]
    environment = {
        **os.environ,
        "PYTHONPATH": str(root),
        **({} if plugins else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}),
    }
    paths = sorted({test.partition("::")[0] for test in problem.tests.ids})
    deselected = [f"--deselect={test}" for test in left_out]
    command = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", *deselected, *paths]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def _seconds(work: object) -> float:
    assert callable(work)
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()

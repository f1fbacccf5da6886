"""Whether the tests notice when koderz breaks a promise: many small patches, each of which named tests must catch.

    python benchmarks/promises.py [--only TEXT] [--jobs N]

For each patch, promises.toml names the promise that it breaks, the text that it replaces and the tests that must fail.
Patches are applied to copies of the working tree, one at a time. The named tests also run once without any patch: a
test that fails or is skipped there cannot show anything. Exits with 1 if a patch is not caught or cannot be judged.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[1]
PROMISES = Path(__file__).with_suffix(".toml")
MOST_SECONDS = 300.0
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0")
PASSED, SOME_FAILED = 0, 1  # exit codes of pytest


class ListError(Exception):
    """The list of patches does not fit the tree."""


@dataclass(frozen=True, slots=True)
class Patch:
    """A mistake that breaks one promise: in ``file``, ``old`` becomes ``new``; ``tests`` are the ids that must fail."""

    promise: str
    area: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def applied(self, text: str) -> str:
        """The file's text with the mistake. Raises ListError if ``old`` does not occur exactly once."""
        if (times := text.count(self.old)) != 1:
            raise ListError(
                f"The patch {self.promise!r} does not apply: its old text occurs {times} times in {self.file}, not "
                f"once. Adapt `old` and `new` in {PROMISES.name} to the code of today:\n{self.old}"
            )
        return text.replace(self.old, self.new)


@dataclass(frozen=True, slots=True)
class Outcome:
    """``result``: caught, NOT CAUGHT or could not run; ``detail``: the first failing test, or the reason."""

    patch: Patch
    result: str
    seconds: float
    detail: str

    @property
    def row(self) -> str:
        return f"{self.result:13}  {self.seconds:6.1f}  {self.patch.area:10}  {self.patch.promise:75}  {self.detail}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="the patches whose promise or area holds this text")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="patches at once, each in its own copy")
    asked = parser.parse_args()
    try:
        sys.exit(judge(chosen(read(), asked.only), max(1, asked.jobs)))
    except ListError as error:
        sys.exit(str(error))


def read() -> list[Patch]:
    """The patches of promises.toml, each of which applies to the working tree. Raises ListError."""
    tables = tomllib.loads(PROMISES.read_text())["patch"]
    patches = [Patch(**{**table, "tests": tuple(table["tests"])}) for table in tables]
    for patch in patches:
        text = (ROOT / patch.file).read_text()
        if patch.applied(text) == text or not patch.tests:
            raise ListError(f"The patch {patch.promise!r} changes nothing, or names no test that must fail with it.")
    return patches


def chosen(patches: Sequence[Patch], text: str) -> list[Patch]:
    """The patches whose area or promise holds this text. Raises ListError if there are none."""
    found = [patch for patch in patches if text.lower() in f"{patch.area} {patch.promise}".lower()]
    if not found:
        areas = ", ".join(dict.fromkeys(patch.area for patch in patches))
        raise ListError(f"No promise or area holds {text!r}. The areas are {areas}.")
    return found


def judge(patches: Sequence[Patch], jobs: int) -> int:
    """Try every patch and print its result; 0 if all are caught."""
    began = time.monotonic()
    named = list(dict.fromkeys(test for patch in patches for test in patch.tests))
    with copies(jobs) as free:
        unfit = named_tests_unpatched(free, named, jobs)
        print(f"{len(named)} named tests without a patch: {time.monotonic() - began:.0f} s\n")
        print(f"{'result':13}  {'s':>6}  {'area':10}  {'promise':75}  first failing test")

        def work(patch: Patch) -> Outcome:
            copy = free.get()
            try:
                return tried(patch, copy, unfit)
            finally:
                free.put(copy)

        outcomes = []
        with ThreadPoolExecutor(jobs) as pool:
            for outcome in pool.map(work, patches):
                outcomes.append(outcome)
                print(outcome.row, flush=True)
    caught = sum(outcome.result == "caught" for outcome in outcomes)
    print(f"\n{caught} of {len(patches)} patches are caught ({time.monotonic() - began:.0f} s).")
    return int(caught < len(patches))


@contextmanager
def copies(number: int) -> Iterator[SimpleQueue[Path]]:
    """Copies of what git knows of the working tree, with uncommitted changes, each for one patch at a time."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    files = [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]
    free: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="koderz-promises-", ignore_cleanup_errors=True) as folder:
        for place in range(number):
            copy = Path(folder, str(place), "koderz")
            for file in files:
                (copy / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / file, copy / file)
            # Bytecode that is checked by the hash of its source: a patch of the same size and second is seen.
            python(copy, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "koderz_core", "pages")
            free.put(copy)
        yield free


def named_tests_unpatched(free: SimpleQueue[Path], named: Sequence[str], jobs: int) -> dict[str, str]:
    """Which of the named tests cannot show anything, and why."""
    copy = free.get()
    spread = ("-n", str(jobs)) if jobs > 1 else ()
    said = python(copy, *PYTEST, *spread, "-rA", *named)
    free.put(copy)
    if said.returncode not in (PASSED, SOME_FAILED):
        raise ListError(f"The named tests cannot be run without a patch:\n{said.stdout[-3000:]}{said.stderr[-2000:]}")
    passed, failed = summary(said.stdout, "PASSED"), summary(said.stdout, "FAILED", "ERROR")
    unfit = {}
    for test in named:
        if any(is_of(ran, test) for ran in failed):
            unfit[test] = "fails without the patch"
        elif not any(is_of(ran, test) for ran in passed):
            unfit[test] = "is skipped or not selected"
    return unfit


def tried(patch: Patch, copy: Path, unfit: dict[str, str]) -> Outcome:
    """The result of the named tests in a copy with the patch, which is undone afterwards."""
    began = time.monotonic()
    for test in patch.tests:
        if test in unfit:
            return Outcome(patch, "could not run", 0.0, f"{test} {unfit[test]}")
    file = copy / patch.file
    before = file.read_text()
    file.write_text(patch.applied(before))
    try:
        said = python(copy, *PYTEST, "-x", "-rfE", *patch.tests, most_seconds=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        return Outcome(patch, "could not run", MOST_SECONDS, f"took longer than {MOST_SECONDS:.0f} s")
    finally:
        file.write_text(before)
    seconds = time.monotonic() - began
    failed = summary(said.stdout, "FAILED")
    if said.returncode == SOME_FAILED and failed:
        return Outcome(patch, "caught", seconds, failed[0])
    if said.returncode == PASSED:
        return Outcome(patch, "NOT CAUGHT", seconds, "all named tests pass")
    return Outcome(patch, "could not run", seconds, " / ".join((said.stdout or said.stderr).splitlines()[-3:]))


def python(copy: Path, *arguments: str, most_seconds: float | None = None) -> subprocess.CompletedProcess[str]:
    """Python in a copy, whose koderz is the one that is imported; it writes no bytecode."""
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTEST_DEBUG_TEMPROOT"] = str(copy.parent)
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=most_seconds,
    )


def summary(output: str, *kinds: str) -> list[str]:
    """The ids of the tests that pytest's summary lists as one of these."""
    return re.findall(rf"^(?:{'|'.join(kinds)}) (\S.*?)(?: - .*)?$", output, re.MULTILINE)


def is_of(test: str, named: str) -> bool:
    """Whether a test is the named one, or one of its parameters."""
    return test == named or test.startswith(f"{named}[")


if __name__ == "__main__":
    main()

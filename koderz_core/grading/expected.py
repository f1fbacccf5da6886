"""What is expected of plus tests: computed once per problem from its canonical solution, kept in the cache."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from koderz_core.errors import DataError
from koderz_core.records import Problem
from koderz_core.sandbox.reference import Answers

VERSION = "1"
"""Of how answers are computed and written down; another one leaves what was kept unused."""

Reference = Callable[[Problem, Sequence[str]], Answers]


class Expectations:
    """The answers of canonical solutions; ``folder`` may be removed at any time. Safe to use from several threads."""

    def __init__(self, folder: Path, reference: Reference) -> None:
        self._folder = folder
        self._reference = reference

    def of(self, problem: Problem, calls: Sequence[str]) -> Answers:
        """Raises DataError if the canonical solution fails or the cache cannot be written, and SandboxError."""
        path = self._folder / f"{_key(problem, calls)}.json"
        return _kept(path, len(calls)) or self._made(path, problem, calls)

    def _made(self, path: Path, problem: Problem, calls: Sequence[str]) -> Answers:
        answers = self._reference(problem, calls)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, msgspec.json.encode(answers))
        except OSError as error:
            raise DataError(f"{path} cannot be written ({error.strerror}). Choose another --data-dir.") from error
        return answers


def _key(problem: Problem, calls: Sequence[str]) -> str:
    parts = [VERSION, problem.canonical_solution, problem.public.entry_point, *calls]
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def _kept(path: Path, calls: int) -> Answers | None:
    """None if there is none yet, or it was spoiled."""
    try:
        answers = msgspec.json.decode(path.read_bytes(), type=Answers)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return answers if len(answers.outputs) == calls else None


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all, also when two processes write the same."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)  # there is none left once it has replaced the other

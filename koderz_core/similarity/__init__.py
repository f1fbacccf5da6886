"""How alike programs are, by CodeBLEU.

CodeBLEU (Ren et al., arXiv 2009.10297) is the share that two programs have in common of four things: runs of words,
runs of words with keywords counting more, subtrees of the syntax tree, and data flow. It is computed by the
``codebleu`` package, an extra, in a process of its own: the package merges data flow through sets of strings, so its
figures change with Python's hash seed (measured: in 132 of 1,560 pairs of HumanEval's solutions), and what is recorded
must come out the same when an experiment is taken up again.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from importlib.util import find_spec
from pathlib import Path

import msgspec

from koderz_core.errors import InfrastructureError, PlanError
from koderz_core.python_parser import parse

CURE = "pip install 'koderz[codebleu]' (Python 3.11 or 3.12)"
MOST_CHARS = 6000
"""Of a program, 1,500 tokens or so. Each subtree is compared with each other one: half a second for two at worst."""
DEEPEST = 100
"""Levels of a syntax tree. Each subtree is written out whole, so a deep program costs memory by the square."""
PATIENCE_SECONDS, PATIENCE_SECONDS_PER_PAIR = 60.0, 5.0
_NEEDED = ("codebleu", "tree_sitter_python")
_SAME = 1.0
_NUMBER = re.compile(r"\d{1,6}(?:\.\d{0,6})?|\.\d{1,6}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of CodeBLEU counts; they make 1 together."""

    ngram: float
    weighted_ngram: float
    syntax: float
    dataflow: float

    @classmethod
    def read(cls, text: str) -> Weights:
        """From four numbers with commas between them, in any proportion. Raises PlanError."""
        words = [word.strip() for word in text.split(",")]
        numbers = [float(word) for word in words if _NUMBER.fullmatch(word)]
        if not len(numbers) == len(words) == len(fields(cls)) or not sum(numbers):
            raise PlanError(
                f"{text!r} are no weights: write four numbers from 0, not all 0, for runs of words, those with "
                "keywords, syntax and data flow, as in 0.25,0.25,0.25,0.25."
            )
        return cls(*(number / sum(numbers) for number in numbers))

    @property
    def shares(self) -> tuple[float, ...]:
        """In the order of the paper."""
        return astuple(self)

    def __str__(self) -> str:
        return ",".join(f"{share:.6f}".rstrip("0").rstrip(".") for share in self.shares)


def require_package() -> None:
    """Raise PlanError if CodeBLEU cannot be computed here."""
    if lacking := [name for name in _NEEDED if find_spec(name) is None]:
        raise PlanError(f"CodeBLEU needs {' and '.join(lacking)}, which is not installed: {CURE}.")


def normalised(program: str) -> str | None:
    """The program in one layout, without comments and docstrings; None if it cannot be compared.

    That is one that does not parse, is longer than ``MOST_CHARS`` or nested deeper than ``DEEPEST``.
    """
    if len(program) > MOST_CHARS:
        return None
    try:
        tree = parse(program, "<candidate>")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if _depth(tree) > DEEPEST:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            _undocument(node)
    text = ast.unparse(tree)
    return text if text.strip() and len(text) <= MOST_CHARS else None


def similarities(programs: Sequence[str], weights: Weights) -> tuple[tuple[float, ...], ...]:
    """For each program, how alike it is to each one: CodeBLEU with either as the reference, and of these the mean.

    Where a reference has no data flow, or none that the other shares, the package counts that part as full.
    Raises PlanError without the package, InfrastructureError if it fails.
    """
    different = list(dict.fromkeys(programs))
    found = _scores(different, weights) if len(different) > 1 else ((_SAME,),)
    places = [different.index(program) for program in programs]
    return tuple(tuple(_mean(found, place, other) for other in places) for place in places)


def _mean(scores: Sequence[Sequence[float]], one: int, other: int) -> float:
    return _SAME if one == other else round((scores[one][other] + scores[other][one]) / 2, 6)


def _scores(programs: Sequence[str], weights: Weights) -> Sequence[Sequence[float]]:
    """Row by row: CodeBLEU of a program with each one as the reference; with itself it is not asked for."""
    require_package()
    asked = msgspec.json.encode({"programs": programs, "weights": weights.shares})
    # Only what it needs to start: it is handed programs of strangers, so it shall know no keys.
    environment = {"PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    patience = PATIENCE_SECONDS + PATIENCE_SECONDS_PER_PAIR * len(programs) ** 2
    command = [sys.executable, "-s", "-P", str(Path(__file__).with_name("worker.py"))]
    try:
        ended = subprocess.run(
            command, input=asked, capture_output=True, env=environment, timeout=patience, check=False
        )
        return msgspec.json.decode(ended.stdout, type=tuple[tuple[float, ...], ...])
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InfrastructureError(f"CodeBLEU could not be computed: {error}. Try again with --retry-errors.") from error
    except msgspec.DecodeError as error:
        said = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise InfrastructureError(
            f"CodeBLEU failed (exit {ended.returncode}: {said[:300]}). Reinstall: {CURE}."
        ) from error


def _depth(tree: ast.AST) -> int:
    depth, level = 0, [tree]
    while level:
        depth, level = depth + 1, [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def _undocument(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    if ast.get_docstring(node, clean=False) is not None:
        node.body = node.body[1:] or [ast.Pass()]

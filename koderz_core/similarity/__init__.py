"""The similarity of programs, measured by CodeBLEU.

CodeBLEU (Ren et al., arXiv 2009.10297) combines four scores: n-gram match, n-gram match weighted for keywords, match of
the syntax trees, and match of data flow. The ``codebleu`` package, an extra, computes it in a separate process with a
fixed hash seed. The package merges data flow in sets of strings, so its scores depend on Python's hash seed (measured:
in 132 of 1,560 pairs of HumanEval's solutions), and a resumed experiment must get the recorded scores again.
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
"""Length limit of a program, about 1,500 tokens. CodeBLEU compares all subtrees: at worst half a second per pair."""
DEEPEST = 100
"""Limit for the levels of a syntax tree. CodeBLEU writes out each subtree, so memory grows with the square of it."""
TIMEOUT_SECONDS, TIMEOUT_SECONDS_PER_PAIR = 60.0, 5.0
_NEEDED = ("codebleu", "tree_sitter_python")
_SAME = 1.0
_NUMBER = re.compile(r"\d{1,6}(?:\.\d{0,6})?|\.\d{1,6}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of CodeBLEU's four scores. Their sum is 1."""

    ngram: float
    weighted_ngram: float
    syntax: float
    dataflow: float

    @classmethod
    def read(cls, text: str) -> Weights:
        """Read four comma-separated numbers and scale their sum to 1. Raises PlanError."""
        words = [word.strip() for word in text.split(",")]
        numbers = [float(word) for word in words if _NUMBER.fullmatch(word)]
        if not len(numbers) == len(words) == len(fields(cls)) or not sum(numbers):
            raise PlanError(
                f"{text!r} is not a list of weights. Write four numbers for n-grams, weighted n-grams, syntax and data "
                "flow, such as 0.25,0.25,0.25,0.25. No number may be negative, and at least one must be positive."
            )
        return cls(*(number / sum(numbers) for number in numbers))

    @property
    def shares(self) -> tuple[float, ...]:
        """The four weights in the order of the paper."""
        return astuple(self)

    def __str__(self) -> str:
        return ",".join(f"{share:.6f}".rstrip("0").rstrip(".") for share in self.shares)


def require_package() -> None:
    """Raise PlanError if the packages for CodeBLEU are not installed."""
    if lacking := [name for name in _NEEDED if find_spec(name) is None]:
        raise PlanError(f"CodeBLEU needs packages that are not installed ({', '.join(lacking)}). Install them: {CURE}.")


def normalised(program: str) -> str | None:
    """The program in a standard layout, without comments and docstrings.

    None if it does not parse, if Python cannot write out its tree, or if it is longer than ``MOST_CHARS`` or nested
    deeper than ``DEEPEST``.
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
            documented = ast.get_docstring(node, clean=False) is not None
            node.body = (node.body[1:] or [ast.Pass()]) if documented else node.body
    try:
        text = ast.unparse(tree)
    except ValueError:  # a character in an f-string that Python 3.11 cannot write, or too many digits
        return None
    return text if text.strip() and len(text) <= MOST_CHARS else None


def similarities(programs: Sequence[str], weights: Weights) -> tuple[tuple[float, ...], ...]:
    """The similarity of each program to every program: the mean of CodeBLEU with either one as the reference.

    If a reference has no data flow, or shares none with the other program, the package scores the data flow as 1.
    Raises PlanError without the package, InfrastructureError if it fails.
    """
    different = list(dict.fromkeys(programs))
    scores = _scores(different, weights) if len(different) > 1 else ((_SAME,),)
    places = [different.index(program) for program in programs]
    return tuple(tuple(_mean(scores, place, other) for other in places) for place in places)


def _mean(scores: Sequence[Sequence[float]], first: int, second: int) -> float:
    return _SAME if first == second else round((scores[first][second] + scores[second][first]) / 2, 6)


def _scores(programs: Sequence[str], weights: Weights) -> Sequence[Sequence[float]]:
    """One row per program: its CodeBLEU with each program as the reference."""
    require_package()
    order = msgspec.json.encode({"programs": programs, "weights": weights.shares})
    # The process reads untrusted programs, so its environment has no keys.
    environment = {"PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    timeout = TIMEOUT_SECONDS + TIMEOUT_SECONDS_PER_PAIR * len(programs) ** 2
    command = [sys.executable, "-s", "-P", str(Path(__file__).with_name("worker.py"))]
    try:
        process = subprocess.run(
            command, input=order, capture_output=True, env=environment, timeout=timeout, check=False
        )
        return msgspec.json.decode(process.stdout, type=tuple[tuple[float, ...], ...])
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InfrastructureError(f"CodeBLEU could not be computed: {error}. Try again with --retry-errors.") from error
    except msgspec.DecodeError as error:
        line = process.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise InfrastructureError(
            f"CodeBLEU failed (exit code {process.returncode}: {line[:300]}). Reinstall it: {CURE}."
        ) from error


def _depth(tree: ast.AST) -> int:
    depth, level = 0, [tree]
    while level:
        depth, level = depth + 1, [child for node in level for child in ast.iter_child_nodes(node)]
    return depth

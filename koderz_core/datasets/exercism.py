"""Exercism's practice exercises in Python (exercism.org, MIT), and the 34 of them in Aider's polyglot benchmark.

The prompt has the texts of aider's benchmark in its order (introduction, instructions, what Python adds to them), then
the stub. ``benchmark/benchmark.py`` of Aider-AI/aider: ``run_test``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import msgspec

from koderz_core.config import Settings
from koderz_core.datasets.archives import Files, text_of
from koderz_core.datasets.methods import module_tests
from koderz_core.datasets.sources import load_archive
from koderz_core.errors import DataError
from koderz_core.records import Dataset, Facts, Problem, TestSet

OMITTED = frozenset({"error-handling"})
"""Exercises that a model cannot solve by their text: that of this deprecated one refers to its tests."""
STUB_PASSES = "stub passes"
"""Tag of the exercises whose stub is a complete program to be rewritten, so that it passes all tests."""
COMPLETE_STUBS = frozenset({"ledger", "markdown"})
POLYGLOT = frozenset(
    (
        *("affine-cipher", "beer-song", "book-store", "bottle-song", "bowling"),
        *("connect", "dominoes", "dot-dsl", "food-chain", "forth"),
        *("go-counting", "grade-school", "grep", "hangman", "list-ops"),
        *("paasio", "phone-number", "pig-latin", "poker", "pov"),
        *("proverb", "react", "rest-api", "robot-name", "scale-generator"),
        *("sgf-parsing", "simple-linked-list", "transpose", "tree-building", "two-bucket"),
        *("variable-length-quantity", "wordy", "zebra-puzzle", "zipper"),
    )
)
"""The Python exercises of Aider-AI/polyglot-benchmark at 7e0611e."""
SECONDS = 60.0
"""Wall time for all tests of an exercise. Source: ``run_unit_tests`` in aider's benchmark."""
_FOLDER = "exercises/practice"
_HELPERS = "test_utils"
_TEXTS = ("introduction.md", "instructions.md", "instructions.append.md")


def load_exercism_polyglot(name: str, settings: Settings) -> Dataset:
    """The 34 exercises of Aider's polyglot benchmark. Raises DataError naming the archive and the file in it."""
    whole = load_archive(name, settings, problems_of)
    return replace(whole, problems=tuple(item for item in whole.problems if item.id.partition("/")[2] in POLYGLOT))


class _Exercise(msgspec.Struct, frozen=True):
    slug: str
    difficulty: int = 0
    practices: tuple[str, ...] = ()
    topics: tuple[str, ...] | None = ()


class _Exercises(msgspec.Struct, frozen=True):
    practice: list[_Exercise]


class _Config(msgspec.Struct, frozen=True):
    exercises: _Exercises


def problems_of(files: Files) -> Iterator[Problem]:
    """139 exercises, in the order of their names. Raises DataError naming the file in the archive."""
    facts = _facts(files)
    for slug in sorted({path.split("/")[2] for path in files if path.startswith(f"{_FOLDER}/")} - OMITTED):
        yield _problem(slug, files, facts.get(slug, Facts()))


def _facts(files: Files) -> Mapping[str, Facts]:
    """Difficulty (1 to 9), first practised concept, all practised concepts and topics, by exercise."""
    if "config.json" not in files:
        return {}
    try:
        config = msgspec.json.decode(files["config.json"], type=_Config)
    except msgspec.DecodeError as error:
        raise DataError(f"file config.json does not have Exercism's format: {error}") from error
    return {
        item.slug: Facts(
            difficulty=str(item.difficulty or ""),
            topic=item.practices[0] if item.practices else "",
            tags=(*dict.fromkeys((*item.practices, *(item.topics or ()))), *_stub_tag(item.slug)),
        )
        for item in config.exercises.practice
    }


def _stub_tag(slug: str) -> tuple[str, ...]:
    return (STUB_PASSES,) if slug in COMPLETE_STUBS else ()


def _problem(slug: str, files: Files, facts: Facts) -> Problem:
    folder, module = f"{_FOLDER}/{slug}", slug.replace("-", "_")
    stub = text_of(files, f"{folder}/{module}.py")
    solution = text_of(files, f"{folder}/.meta/example.py")
    test = f"{folder}/{module}_test.py"
    helper = f"{folder}/{_HELPERS}.py"
    helpers = ((_HELPERS, text_of(files, helper)),) if helper in files else ()
    tests = module_tests(text_of(files, test), module, test, helpers=helpers)
    texts = [text_of(files, path).strip() for name in _TEXTS if (path := f"{folder}/.docs/{name}") in files]
    file = f"{module}.py"
    public = tests.problem(f"exercism/{slug}", task("\n\n".join(texts), file, stub), file, stub)
    return Problem(public, TestSet(tests.source, SECONDS), solution, facts=facts)


def task(text: str, file: str, stub: str) -> str:
    """The task, the file to complete and what to answer. The fence is longer than any in the stub."""
    fence = "```" if "```" not in stub else "````"
    return (
        f"{text}\n\nComplete the file {file}. Do not change the names of its functions and classes, because tests use "
        f"them. Use only Python's standard library. Return the whole file.\n\n{file}\n{fence}python\n"
        f"{stub.rstrip() or '# (empty)'}\n{fence}\n"
    )

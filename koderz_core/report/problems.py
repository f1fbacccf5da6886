"""Texts about a problem: what its kind asks for, its facts, its text in parts, and its failed tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from koderz_core.python_parser import parse
from koderz_core.records import ErrorClass, Kind, Problem, TestFailure
from koderz_core.records.trees import Repository
from koderz_core.report.formats import count, one_line

KINDS: Mapping[Kind, str] = {
    "function": "one function from its signature and description",
    "repair": "a corrected version of a faulty program",
    "module": "a whole file with functions or classes",
    "program": "a program that reads standard input and writes standard output",
    "repo": "changes to the files of a repository",
    "question": "an answer in words",
}
"""What the model writes for a problem of each kind."""

MEANINGS: Mapping[ErrorClass, str] = {
    "faked": (
        "faked: the program passed a test that koderz had changed so that every correct program fails it, or its "
        "process reported results that no test produced. koderz counts the program as wrong. See docs/sandbox.md."
    )
}
"""Meanings of error classes that do not explain themselves."""

LINE_END = "↵"
_FENCE = "```"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a problem's text: prose or a block of code. Hostile text."""

    text: str
    is_code: bool
    is_python: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """A test of a program: its input, and the expected and the actual output. Every line end is visible."""

    given: str
    expected: str
    actual: str


def problem_facts(problem: Problem) -> str:
    """The kind of a problem and what its publisher says about it, on one line. Hostile text."""
    public, facts = problem.public, problem.facts
    known = {
        "kind": f"{public.kind} ({KINDS[public.kind]})",
        "file": public.file,
        **(_repository_facts(problem.repository) if problem.repository else {}),
        "difficulty": facts.difficulty,
        "topic": facts.topic,
        "date": facts.date,
        "tags": ", ".join(facts.tags),
    }
    return one_line(" · ".join(f"{name}: {value}" for name, value in known.items() if value))


def _repository_facts(of: Repository) -> dict[str, str]:
    tests = f"{count(len(of.failing))} must start to pass, {count(len(of.passing))} must still pass"
    return {
        "package": of.tree.name,
        "licence": of.tree.licence,
        "SHA-256 of the tree": of.tree.sha256[:12],
        "tests": tests,
        "needs": ", ".join(("pytest", *of.needs)),
        "editable files": count(len(of.editable)),
    }


def parts_of(problem: Problem) -> tuple[Part, ...]:
    """The text of a problem: Python of functions and repairs, else instructions with fenced code."""
    prompt = problem.public.prompt
    if problem.public.kind not in ("module", "program", "repo"):
        return (Part(prompt, is_code=True, is_python=True),)
    return tuple(part for part in _parts(prompt) if part.text.strip())


def _parts(text: str) -> Iterator[Part]:
    """The prose and the fenced blocks; a block that is not closed ends with the text."""
    lines: list[str] = []
    language: str | None = None  # None: prose
    for line in text.splitlines():
        if not line.startswith(_FENCE) or (language is not None and line.strip() != _FENCE):
            lines.append(line)
            continue
        yield _part(lines, language)
        lines = []
        language = line.removeprefix(_FENCE).strip().lower() if language is None else None
    yield _part(lines, language)


def _part(lines: list[str], language: str | None) -> Part:
    is_code = language is not None
    return Part("\n".join(lines) if is_code else "\n".join(lines).strip("\n"), is_code, language in ("python", "py"))


def name_of(failure: TestFailure) -> str:
    """The name of a test method, else the first line of a test. Hostile text."""
    head, more, _ = failure.source.partition("\n")
    return head.removesuffix(":") if not more or head.endswith(":") else f"{head} …"


def case_of(failure: TestFailure) -> Case | None:
    """The input and outputs of a failed test of a program; None for another test, or one that was cut off."""
    source = failure.source
    given = _text(source[4:-1]) if source.startswith("run(") and source.endswith(")") else None
    expected, actual = _text(failure.expected or ""), _text(failure.actual or "")
    if given is None or expected is None:
        return None
    return Case(given, expected, failure.actual or failure.message if actual is None else actual)


def _text(literal: str) -> str | None:
    try:
        body = parse(literal).body
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    match body:
        case [ast.Expr(ast.Constant(str(value)))]:
            return value.replace("\n", f"{LINE_END}\n")
    return None

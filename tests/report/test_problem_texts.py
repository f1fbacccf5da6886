"""Texts about a problem: its facts, its prose and code, and its failed tests in full."""

from __future__ import annotations

import pytest

from koderz_core.records import Facts, Kind, Problem, PublicProblem, TestFailure, TestSet
from koderz_core.report.problems import Case, Part, case_of, name_of, parts_of, problem_facts


def problem(prompt: str, kind: Kind = "module") -> Problem:
    public = PublicProblem("mine/1", prompt, "f", kind=kind, file="f.py" if kind == "module" else "")
    facts = Facts(difficulty="hard", date="2024-05-31", tags=("graphs", "a\nb"))
    return Problem(public, TestSet(), "", facts=facts)


def test_the_facts_of_a_problem_are_one_line_without_what_is_unknown() -> None:
    assert problem_facts(problem("")) == (
        "kind: module (a whole file with functions or classes) · file: f.py · difficulty: hard · date: 2024-05-31 · "
        "tags: graphs, a b"
    )


def test_the_text_of_a_module_is_prose_and_code() -> None:
    prompt = "# Do it\n\nf.py\n```python\ndef f():\n    pass\n```\n\nOutput:\n```\n1\n```\n"
    assert parts_of(problem(prompt)) == (
        Part("# Do it\n\nf.py", is_code=False),
        Part("def f():\n    pass", is_code=True, is_python=True),
        Part("Output:", is_code=False),
        Part("1", is_code=True),
    )


def test_a_block_that_is_not_closed_ends_with_the_text_and_holds_other_fences() -> None:
    assert parts_of(problem("```text\n```python\nx")) == (Part("```python\nx", is_code=True),)


@pytest.mark.parametrize("kind", ["function", "repair"])
def test_the_text_of_a_function_is_python_as_a_whole(kind: Kind) -> None:
    prompt = 'def f():\n    """\n```\nx\n```\n"""\n'
    assert parts_of(problem(prompt, kind)) == (Part(prompt, is_code=True, is_python=True),)


def test_a_case_of_a_program_shows_where_lines_end() -> None:
    failure = TestFailure(0, r"run('1 2\n3\n')", r"'a\n'", r"'a\n\nb'")
    assert case_of(failure) == Case("1 2↵\n3↵\n", "a↵\n", "a↵\n↵\nb")


def test_a_program_without_output_shows_its_error_instead() -> None:
    failure = TestFailure(0, "run('')", "'a'", None, "ZeroDivisionError: division by zero")
    assert case_of(failure) == Case("", "a", "ZeroDivisionError: division by zero")


@pytest.mark.parametrize("source", ["run('1… (9 more characters)", "run(1)", "assert f('a') == 'b'", "run('a' 1)"])
def test_a_test_that_is_not_a_whole_case_is_none(source: str) -> None:
    assert case_of(TestFailure(0, source, "'b'", "'c'")) is None


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("StackTest.test_x:\ndef test_x(self):\n    pass", "StackTest.test_x"),
        ("assert f(1) == 2", "assert f(1) == 2"),
        ("assert f([\n1]) == 2", "assert f([ …"),
    ],
)
def test_a_test_has_a_name_of_one_line(source: str, name: str) -> None:
    assert name_of(TestFailure(0, source)) == name

"""What a person types becomes a problem that a model can be asked and a program be tested on."""

from __future__ import annotations

import ast
import time

import pytest

from koderz_core.errors import DataError
from koderz_core.grading.own_tests import problem_of, typed_row

ASSERT = "assert add(1, 2) == 3"
CHECK = "def check(candidate):\n    assert candidate(1, 2) == 3\n"
SIGNATURE = 'def add(a, b):\n    """Add."""\n'


def test_a_signature_with_its_docstring_is_the_prompt_as_it_was_typed() -> None:
    row = typed_row(SIGNATURE, ASSERT)
    assert (row.prompt, row.entry_point, row.canonical_solution) == (SIGNATURE, "add", "")


@pytest.mark.parametrize("tests", [ASSERT, CHECK])
def test_tests_become_a_check_of_a_candidate(tests: str) -> None:
    scope: dict[str, object] = {"add": int.__add__}
    exec(typed_row(SIGNATURE, tests).test, scope)
    scope["check"](int.__add__)  # type: ignore[operator]
    scope["add"] = int.__sub__
    with pytest.raises(AssertionError):
        scope["check"](int.__sub__)  # type: ignore[operator]


def test_the_last_function_of_the_prompt_is_the_one_to_write() -> None:
    row = typed_row("def twice(x):\n    return 2 * x\n\ndef four(x):\n", "assert four(1) == twice(2)")
    assert row.entry_point == "four"


def test_free_text_becomes_a_comment_over_the_function_that_the_asserts_call() -> None:
    row = typed_row('Add two\r\n"""numbers"""\\', "from math import isclose\nassert isclose(add(1, by=2), 3)")
    assert row.prompt == '# Add two\n# """numbers"""\\\ndef add(arg1, by):\n    ...\n'
    assert row.entry_point == "add"


@pytest.mark.parametrize(
    "tests", ["assert f(1)\nassert f(1, 2)", "assert f(*[1])", "assert f(**{})", "assert f(1, arg1=2)"]
)
def test_calls_of_several_shapes_promise_no_parameters(tests: str) -> None:
    assert "def f(*args, **kwargs):" in typed_row("Anything.", tests).prompt


def test_of_code_below_prose_only_the_prose_becomes_a_comment() -> None:
    row = typed_row("Add them.\n\nimport math\n\ndef add(a, b):", ASSERT)
    assert row.prompt == "# Add them.\nimport math\n\ndef add(a, b):\n    ...\n"


def test_a_long_prompt_with_a_fault_at_its_end_is_refused_at_once() -> None:
    function = f"def f(x):\n    return x  # {'x' * 280}\n\n"
    started = time.process_time()
    with pytest.raises(DataError, match="Line 451 of the prompt"):
        typed_row(function * 150 + "def last(x\n", "assert last(1)")
    assert time.process_time() - started < 1


def test_prose_before_a_signature_becomes_a_comment() -> None:
    assert typed_row("Add them.\n\ndef add(a, b):", ASSERT).prompt == "# Add them.\ndef add(a, b):\n    ...\n"


@pytest.mark.parametrize(
    ("prompt", "solution"),
    [
        (SIGNATURE, "def add(a, b):\n    return a + b"),
        (SIGNATURE, "    return a + b"),
        (SIGNATURE.rstrip(), "return a + b"),
        ("def add(a, b): ...", "return a + b"),
        ("import functools\n\n@functools.cache\ndef add(a: 'ü',\n        b): 'Add.'\n", "c = a + b\nreturn c"),
        ('def add(a, b):\n  """Add."""', "    c = a + b\n    return c"),
        ("Add two numbers.", "import operator\n\ndef add(a, b):\n    return operator.add(a, b)"),
    ],
)
def test_a_solution_is_a_whole_program_or_the_functions_body(prompt: str, solution: str) -> None:
    row = typed_row(prompt, ASSERT, solution)
    scope: dict[str, object] = {}
    exec(row.prompt + row.canonical_solution + row.test + "\ncheck(add)", scope)


@pytest.mark.parametrize(
    ("prompt", "tests", "solution", "said"),
    [
        (" \n", ASSERT, "", "prompt is empty.*def add"),
        (SIGNATURE, "", "", "tests contain no assert.*Write asserts"),
        (SIGNATURE, "assert (", "", "tests are not valid Python"),
        (SIGNATURE, "assert plus(1, 2) == 3", "", "tests never call add"),
        (SIGNATURE, "def check(candidate):\n    assert 1 == 1", "", "tests never call add"),
        (SIGNATURE, "def add(a, b): ...\ndef check(candidate):\n    assert add(1, 2) == 3", "", "never call add"),
        (SIGNATURE, f"add = None\n{ASSERT}", "", "define or import the function `add`"),
        (SIGNATURE, f"from solution import add\n{ASSERT}", "", "define or import the function `add`"),
        (SIGNATURE, "def check(candidate):\n    candidate(1, 2)\n    assert True", "", "no assert that can fail"),
        (SIGNATURE, "def check():\n    assert add(1, 2) == 3", "", "check in the tests has no parameter"),
        ("async def add(a, b):\n", ASSERT, "", "add is async"),
        ("def add(a, a):\n", ASSERT, "", "prompt cannot be compiled as Python.*duplicate argument 'a'"),
        ("import math\ndef twice(x)\n    return 2 * x\n\ndef add(a, b):\n", ASSERT, "", "Line 2 of the prompt"),
        ("# Add.\nLIMIT = 3 +\ndef add(a, b):\n", ASSERT, "", "Line 2 of the prompt"),
        ("Add.\n\nimport math\n\ndef add(a, b)\n    return", ASSERT, "", "Line 5 of the prompt"),
        ("import math", ASSERT, "", "prompt contains code, but no function.*signature"),
        ("def check(x):\n", "assert check(1) == 1", "", "Rename the function"),
        ("Add two numbers.", CHECK, "", "prompt defines no function.*signature"),
        (SIGNATURE, ASSERT, "return a +", "solution is not valid Python"),
        (SIGNATURE, ASSERT, "def plus(a, b:", "solution is not valid Python"),
        ("Add two numbers.", ASSERT, "return a + b", "solution is not.*whole function"),
        ("a\0b", ASSERT, "", "characters in the prompt are not valid text"),
        (SIGNATURE, ASSERT, "\udcff", "characters in the solution are not valid text"),
    ],
)
def test_what_is_wrong_is_told_with_its_field_and_what_to_write(
    prompt: str, tests: str, solution: str, said: str
) -> None:
    with pytest.raises(DataError, match=said):
        typed_row(prompt, tests, solution)


def test_text_of_several_lines_in_tests_stays_as_it_is() -> None:
    tests = 'assert f("""a\nb""") == 1'
    assert "'a\\nb'" in ast.unparse(ast.parse(problem_of(tests).tests.source))

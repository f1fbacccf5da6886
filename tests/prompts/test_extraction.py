"""The rules by which a program is found in a reply, and what a hostile reply can do."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koderz_core.prompts.extraction import extract
from koderz_core.prompts.programs import MAX_PROGRAM_CHARS, Reader
from koderz_core.records import PublicProblem

ADD = PublicProblem("own/1", 'def add(a, b):\n    """Add.\n\n    >>> add(1, 2)\n    3\n    """\n', "add")
KINDS = {
    "function": ADD,
    "repair": PublicProblem("own/2", "", "add", kind="repair", given="def add(a, b):\n    return a - b\n"),
    "module": PublicProblem("own/3", "", "add", kind="module", names=("A",), file="x.py"),
    "program": PublicProblem("own/4", "", "run", kind="program"),
}


def tree(code: str | None) -> str:
    return ast.dump(ast.parse(code or ""))


@pytest.mark.parametrize(
    ("reply", "how", "code"),
    [
        ("```py\ndef add(a, b): return a + b\n```", "fence", "def add(a, b): return a + b"),
        ("```py\nx = 1\n```\n```\nadd = lambda a, b: a + b\n```", "fence-last", "add = lambda a, b: a + b"),
        ("```def add(a, b): return a + b```", "fence", "def add(a, b): return a + b"),
        ("```python def add(a, b): return a + b```", "fence", "def add(a, b): return a + b"),
        (
            "```\ndef add(a, b):\n    return a + b\n\nSo it is.\n```",
            "fence-trimmed",
            "def add(a, b):\n    return a + b\n",
        ),
        ("Use\n\tdef add(a, b):\n\t\treturn a + b\n", "prose", "def add(a, b):\n\treturn a + b"),
        ("def add(a, b):\n    return a + b\n\n  1. so it is\n", "prose", "def add(a, b):\n    return a + b\n"),
        ("```\ndef add(a, b):\n    c = a\n\treturn c + b\n```", "fence", "def add(a, b):\n    c = a\n    return c + b"),
        ("```\nimport a\n    def add(a, b): return a\n```", "fence", "import a\ndef add(a, b): return a"),
        ("```py\nx = 1\n``` So it is\n```\nadd = max\n```", "fence-last", "add = max"),
        ("```plaintext\nadd = max\n```", "prose", "add = max"),
        ("```py\nx = (\n```\n```text\nadd = max\n```", "raw", "x = ("),
        ("return a + b", "body", ADD.prompt + "    return a + b\n"),
        ("```\ndef plus(a, b): return a\n```", "no-entry-point", "def plus(a, b): return a"),
        ("Use:\ndef plus(a, b): return a\nOK then", "no-entry-point", "def plus(a, b): return a"),
        ("```python\nprint(3)\n```", "no-entry-point", "print(3)"),
        ("```python\ndef add(a, b):\n    return (a\n```", "raw", "def add(a, b):\n    return (a"),
        (
            "```python\nx = 1\ndef add(a, b):\n    c = a\n    d = (b +",
            "raw",
            "x = 1\ndef add(a, b):\n    c = a\n    d = (b +",
        ),
        ("```\ndef add(a, b):\n    c = a\n  return c\n```", "raw", "def add(a, b):\n    c = a\n  return c"),
        ("```py\ndef add(a, b):\n    c = a\n\n    return (c", "raw", "def add(a, b):\n    c = a\n\n    return (c"),
        ("Use:\ndef add(a, b):\n    return (a\n", "raw", "def add(a, b):\n    return (a"),
        ("```\n[1, 2]\n```", "none", None),
        ("```js\nfunction add(a, b) { return a + b }\n```", "none", None),
        ("```python\n```", "none", None),
        ("<think>\n```python\ndef add(a, b): return a + b\n```", "none", None),
        ("I cannot help with that.", "none", None),
        ("", "none", None),
    ],
)
def test_the_rule_that_found_a_program_is_named(reply: str, how: str, code: str | None) -> None:
    found = extract(reply, ADD)
    assert (found.how, found.code and found.code.strip()) == (how, code and code.strip())


@pytest.mark.parametrize(
    ("kept", "line"),
    [
        ("assignments", "TABLE = {1: 2}"),
        ("declarations", "LIMIT: int = 3"),
        ("functions", "def more(x):\n    print(x)\n    assert x"),
        ("loops", "for n in range(3):\n    TABLE[n] = n"),
        ("lines shared with an assignment", "X = 1; print(X)"),
    ],
)
def test_what_a_program_may_need_is_kept_behind_the_entry_point(kept: str, line: str) -> None:
    code = f"def add(a, b):\n    return a + b\n\n{line}"
    assert tree(extract(f"```python\n{code}\nprint(add(1, 2))\n```", ADD).code) == tree(code)


def test_calls_before_the_entry_point_are_kept() -> None:
    code = "import sys\nsys.setrecursionlimit(9999)\n\ndef add(a, b):\n    return a + b"
    assert tree(extract(f"```python\n{code}\n```", ADD).code) == tree(code)


PARTS = "def half(x):\n    return x / TWO", "def double(x):\n    return x * TWO\n\nprint(double(1))", "TWO = 2"
USER = "def add(a, b):\n    try:\n        return half(double(a + b))\n    except OSError as error:\n        raise error"


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (2, 0, 1, 3), (3, 0, 1, 2), (1, 3, 2, 0)])
def test_helpers_are_joined_from_other_blocks_with_what_they_need(order: tuple[int, ...]) -> None:
    blocks = [(*PARTS, USER)[place] for place in order]
    found = extract("\n\nand\n\n".join(f"```python\n{block}\n```" for block in blocks), ADD)
    scope: dict[str, object] = {"print": None}  # a trial that stayed would fail
    exec(found.code or "", scope)
    assert (found.how, scope["add"](1, 2)) == ("joined", 3.0)  # type: ignore[operator]


def test_blocks_that_are_not_needed_are_not_joined() -> None:
    reply = "```python\nTWO = 1 / 0\n```\n```python\ndef add(a, b):\n    return a + b\n```"
    assert extract(reply, ADD).code == "def add(a, b):\n    return a + b"


@pytest.mark.parametrize("pattern", ["n", "[int(), *n]", "{'a': 1, **n}", "int() as n"])
def test_names_that_a_pattern_binds_are_not_taken_from_another_block(pattern: str) -> None:
    code = f"def add(a, b):\n    match a:\n        case {pattern}:\n            return n"
    found = extract(f"```python\n{code}\n```\nTry it:\n```python\nn = add(1, 2)\nprint(n)\n```", ADD)
    assert (found.how, found.code) == ("fence-last", code)


def test_names_within_functions_are_not_offered_to_others() -> None:
    reply = "```python\ndef other():\n    half = 2\n```\n```python\ndef add(a, b):\n    return half(a + b)\n```"
    assert extract(reply, ADD).how == "fence-last"


def test_what_a_prompt_returns_does_not_make_a_body_of_other_lines() -> None:
    problem = PublicProblem("own/3", "def add(a, b):\n    if not a:\n        return b\n", "add")
    assert extract("print(3)", problem).how == "none"


def test_what_the_preamble_gives_is_not_joined() -> None:
    problem = PublicProblem("own/2", "", "add", preamble="from operator import add as plus\n")
    reply = "```python\nplus = None\n```\n```python\ndef add(a, b):\n    return plus(a, b)\n```"
    assert extract(reply, problem).how == "fence-last"


@pytest.mark.parametrize(
    ("fence", "line"),
    [("```", "    ```python\n    ```"), ("````", "```python\n```"), ("~~~", "```"), ("```", "or ```x```")],
)
def test_a_fence_within_a_docstring_does_not_end_the_block(fence: str, line: str) -> None:
    code = f'def add(a, b):\n    """Add.\n\n{line}\n    """\n    return a + b'
    assert extract(f"{fence}python\n{code}\n{fence}", ADD).code == code
    assert extract(code, ADD).code == code


def test_thoughts_within_a_program_are_its_text() -> None:
    code = "def add(a, b):\n    return a.replace('<think>', b).replace('</think>', b)"
    assert extract(f"```python\n{code}\n```", ADD).code == code


def test_lines_left_of_an_indented_function_stay() -> None:
    code = '    def add(a, b):\n        text = """\nleft\n        """\n        return text'
    assert (
        extract(f"```python\n{code}\n```", ADD).code == 'def add(a, b):\n    text = """\nleft\n    """\n    return text'
    )


def test_text_in_strings_of_several_lines_stays_where_it_was() -> None:
    body_text = 'text = """\nleft\n    four\n"""\nreturn text'
    code = extract(f"```python\n{body_text}\n```", ADD).code or ""
    scope: dict[str, object] = {}
    exec(code, scope)
    assert scope["add"](1, 2) == "\nleft\n    four\n"  # type: ignore[operator]


def test_odd_escapes_in_a_program_warn_nobody() -> None:
    code = 'def add(a, b):\n    return "\\d"'
    assert extract(f"```python\n{code}\n```", ADD).how == "fence"  # warnings are errors here


def test_a_reader_stops_at_its_budget() -> None:
    assert Reader(budget=1000).parse("x = 1") is not None
    assert [Reader(budget=20).parse("x = 1"), Reader(budget=20).repair("x = 1")] == [None, None]


def test_a_program_too_long_is_not_read() -> None:
    assert Reader(budget=10**9).parse("x = 1\n" * (MAX_PROGRAM_CHARS // 6 + 1)) is None


SIZE = 40_000
HOSTILE = {
    "backticks": "`" * SIZE,
    "fences": "```\n" * (SIZE // 4),
    "tagged fences": "```python\n" * (SIZE // 10),
    "blocks": "```\nx = 1\n```\n" * (SIZE // 14),
    "definitions": "def add(a, b):\n" * (SIZE // 15),
    "imports": "import a\n" * (SIZE // 9),
    "bodies": "```\n    return x\n\n```\n" * (SIZE // 20),
    "brackets": "def add(a, b):\n    return " + "(" * SIZE,
    "operators": "def add(a, b):\n    return " + "1 + " * SIZE + "1",
    "attributes": "def add(a, b):\n    return a" + ".b" * SIZE,
    "levels": "def add(a, b):\n" + "".join(" " * depth + "if a:\n" for depth in range(1, 400)),
    "thoughts": "<think>" * (SIZE // 7),
    "end tokens": "<|a|>" * (SIZE // 5),
    "spaces": " " * SIZE,
    "null": "def add(a, b):\0",
    "half a surrogate": "```python\ndef add(a, b):\n    return '\ud800'\n```",
    "trials": "```python\ndef add(a, b): return a\n" + "print(1)\n" * (SIZE // 9) + "```",
    "too long": "```python\ndef add(a, b): return a\n" + "x = 1\n" * 40_000 + "```",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_replies_are_answered(text: str, kind: str) -> None:
    found = extract(HOSTILE[text], KINDS[kind])
    assert (found.code is None) == (found.how == "none")
    (found.code or "").encode()  # fit for a journal


FRAGMENTS = (
    *("```", "```python\n", "\n```\n", "~~~", "\n", "\r", "    ", "\t", "\u00a0", "\u200b", "\0", "\ud800", "\\"),
    *("def add(a, b):\n", "    return a\n", "import x\n", "from a import b\n", "class A:\n", "@d\n", "lambda", "yield"),
    *("<think>", "</think>", "<|x|>", ">>> ", "... ", '"""', "'", "(", ")", "[", "]", "{", "}", ":", ",", "=", "x"),
    *('if __name__ == "__main__":\n', "print(1)\n", "assert 1;", "input()", "async ", 'f"{', "`", "1. "),
)


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join), st.sampled_from([*KINDS.values()]))
def test_no_reply_raises(reply: str, problem: PublicProblem) -> None:
    found = extract(reply, problem)
    assert (found.code is None) == (found.how == "none")

"""Programs are found in replies as models really write them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koderz_core.config import Settings
from koderz_core.datasets import load
from koderz_core.prompts.extraction import extract
from koderz_core.records import Problem

PROBLEMS = load("humaneval", Settings(humaneval_path=None)).problems
Shape = Callable[[Problem], str]


def whole(problem: Problem) -> str:
    return problem.canonical_solution


def function(problem: Problem) -> str:
    return problem.canonical_solution.removeprefix(problem.public.preamble)


def body(problem: Problem) -> str:
    return problem.canonical_solution.removeprefix(problem.public.prompt)


def moved(text: str, prefix: str) -> str:
    return "\n".join(prefix + line if line else line for line in text.split("\n"))


def typed(text: str) -> str:
    """As in an interactive session."""
    first, *others = text.strip("\n").split("\n")
    return "\n".join([">>> " + first, *("... " + line for line in others)])


def wrong(problem: Problem) -> str:
    return f"def {problem.public.entry_point}(*values):\n    return 'an older version'\n"


def call(problem: Problem) -> str:
    return f"{problem.public.entry_point}(1, 2)"


def with_hard_spaces(text: str) -> str:
    return "\n".join("\u00a0" * (len(line) - len(line.lstrip(" "))) + line.lstrip(" ") for line in text.split("\n"))


WHOLE: dict[str, Shape] = {
    "fenced": lambda p: f"Here it is.\n\n```python\n{whole(p)}```\n\nIt's done.",
    "untagged": lambda p: f"```\n{whole(p)}\n```",
    "other tag": lambda p: f"``` Python3 title=x.py\n{whole(p)}\n```",
    "tildes": lambda p: f"~~~python\n{whole(p)}\n~~~\nBye",
    "long fence": lambda p: f"````py\n{whole(p)}\n````",
    "carriage returns": lambda p: f"Look:\n```python\n{whole(p)}\n```\n".replace("\n", "\r\n"),
    "in a list": lambda p: f"1. First:\n\n   ```python\n{moved(whole(p), '   ')}\n   ```\n2. Next",
    "deep in a list": lambda p: f"- a\n    - b\n\n        ```python\n{moved(whole(p), ' ' * 8)}\n        ```",
    "never closed": lambda p: f"Here:\n```python\n{whole(p)}",
    "fence behind prose": lambda p: f"Here it is: ```python\n{whole(p)}\n```",
    "closed behind code": lambda p: f"```python\n{whole(p).rstrip()}```\nBye",
    "older version first": lambda p: f"It was:\n```python\n{wrong(p)}```\nNow:\n```python\n{whole(p)}```",
    "first fence not closed": lambda p: f"It was:\n```python\n{wrong(p)}\nNow:\n```python\n{whole(p)}```",
    "trial in a later block": lambda p: f"```python\n{whole(p)}```\nTry:\n```python\nprint({call(p)})\n```",
    "import in a later block": lambda p: (
        f"```python\n{whole(p)}```\n```python\nfrom x import {p.public.entry_point}\nassert {call(p)}\n```"
    ),
    "stub in a later block": lambda p: (
        f"```python\n{whole(p)}```\n```python\ndef {p.public.entry_point}(x):\n    '''Do.'''\n    ...\n```"
    ),
    "output in a later block": lambda p: f"```python\n{whole(p)}```\nOutput:\n```\n[1, 2]\nTrue\n```",
    "broken later block": lambda p: f"```python\n{whole(p)}```\nThen\n```python\nfor ... in (\n```",
    "shell first": lambda p: f"```bash\npip install x\n```\n```python\n{whole(p)}```",
    "another language last": lambda p: f"```python\n{whole(p)}```\n```js\nfunction f() {{ return 1 }}\n```",
    "quoted text last": lambda p: f"```python\n{whole(p)}```\n```text\n{wrong(p)}```",
    "thought": lambda p: f"<think>\nMaybe\n```python\n{wrong(p)}```\n</think>\n\n```python\n{whole(p)}```",
    "thought after": lambda p: f"```python\n{whole(p)}```\n<think>\nor\n```python\n{wrong(p)}```",
    "thought begun in the prompt": lambda p: f"Try\n```python\n{wrong(p)}```</think>\n```python\n{whole(p)}```",
    "no fence": whole,
    "prose around": lambda p: f"Sure! Don't use import here.\n\n{whole(p)}\n\nThis loops (it's slow):\n- a\n- b\n",
    "end tokens": lambda p: f"{whole(p).rstrip()}<|im_end|>\n</s>",
    "quoted in a longer fence": lambda p: f"````markdown\nSo:\n```python\n{whole(p)}```\n````",
    "fence alone in a list": lambda p: f"1. So:\n\n    ```python\n{whole(p)}\n    ```",
    "unwritten in a later block": lambda p: (
        f"```python\n{whole(p)}```\n```python\ndef {p.public.entry_point}(x):\n    raise NotImplementedError('x')\n```"
    ),
    "words that parse": lambda p: f"{whole(p)}\n\nDone\nNote: this\n",
    "thought, then no fence": lambda p: f"<think>{wrong(p)}</think>{whole(p)}",
    "indented in prose": lambda p: f"The code:\n\n{moved(whole(p).strip(), '    ')}\n\nThat's it.",
    "indented in a fence": lambda p: f"```python\n{moved(whole(p), '    ')}\n```",
    "interactive": lambda p: f"```pycon\n{typed(whole(p))}\n```",
    "interactive, no fence": lambda p: f"In the shell:\n{typed(whole(p))}\n",
    "hard spaces": lambda p: f"```python\n{with_hard_spaces(whole(p))}\n```",
    "hard spaces, no fence": lambda p: f"Voil\u00e0:\n{with_hard_spaces(whole(p))}\n",
    "marks without width": lambda p: f"```python\n\ufeff{whole(p)}\u200b\n```",
    "prose in the fence": lambda p: f"```python\n{whole(p)}\nThis function isn't slow.\n```",
    "cut within the trials": lambda p: f"```python\n{whole(p)}\ndef test_it():\n    assert {call(p)} == (1,",
    "trials": lambda p: (
        f"```python\n{whole(p)}\n# Example\nprint({call(p)})\nassert {call(p)} == 3, (\n    'no'\n)\n```"
    ),
    "main part": lambda p: (
        f"```python\n{whole(p)}\nif __name__ == '__main__':\n    x = int(input())\n    print(x)\n```"
    ),
    "input": lambda p: f"```python\n{whole(p)}\nn = int(input('n: '))\nfor _ in range(n):\n    input()\n```",
    "body": lambda p: f"```python\n{body(p)}```",
    "body, no fence": body,
    "body, stripped": lambda p: body(p).strip(),
    "body, moved left": lambda p: f"```python\n{moved_left(body(p))}```",
    "body in prose": lambda p: f"The body is:\n\n{body(p)}\nThat's all.",
    "body, then a trial": lambda p: f"```python\n{body(p)}\nprint({call(p)})\n```",
}


def moved_left(text: str) -> str:
    return "\n".join(line.removeprefix("    ") for line in text.split("\n"))


def same(code: str | None, program: str) -> bool:
    """Equal source, or else equal trees."""
    return code is not None and (code.strip() == program.strip() or tree(code) == tree(program))


@cache
def tree(code: str) -> str:
    return ast.dump(ast.parse(code))


@pytest.mark.parametrize("shape", WHOLE)
def test_every_canonical_solution_is_found_in_every_shape_of_reply(shape: str) -> None:
    def found(problem: Problem) -> bool:
        return same(extract(WHOLE[shape](problem), problem.public).code, whole(problem))

    assert [problem.id for problem in PROBLEMS if not found(problem)] == []


SENTENCES = (
    "It's a trick: don't import it.",
    "from the list we take `x`, then `y`.",
    "def is a keyword (really",
    "1. Look at [it]:",
    "- import math first",
    "    - for each",
    "**Note**: see {above",
    "class of problems",
    '"""',
    "@nobody said so!",
    "",
)
PROSE = st.lists(st.sampled_from(SENTENCES), max_size=6).map(lambda sentences: "\n".join([*sentences, "", ""]))
FENCED = ("fenced", "tildes", "older version first", "thought", "in a list", "output in a later block", "shell first")


@given(st.sampled_from(PROBLEMS), st.sampled_from(FENCED), PROSE, PROSE)
def test_prose_around_fences_changes_nothing(problem: Problem, shape: str, before: str, after: str) -> None:
    reply = f"{before}\n{WHOLE[shape](problem)}\n\n{after}"
    assert same(extract(reply, problem.public).code, whole(problem))


@given(st.sampled_from(PROBLEMS), PROSE)
def test_a_program_may_leave_the_preamble_to_the_problem(problem: Problem, before: str) -> None:
    reply = f"{before}\n```python\n{function(problem)}\n```"
    assert same(extract(reply, problem.public).code, function(problem))

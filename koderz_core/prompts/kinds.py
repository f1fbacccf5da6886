"""The words of prompts that depend on the kind of a problem, all in one place; and how a problem is shown.

The names and signatures of a module and its file are named as in aider's benchmark (Aider-AI/aider 5dc9490,
benchmark/prompts.py), whose tests use them too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from koderz_core.prompts.markdown import fenced, inline_code, one_line
from koderz_core.prompts.programs import Reader
from koderz_core.prompts.repository import SHOWN_TOKENS, repository_text
from koderz_core.records import Kind, PublicProblem

VERSIONS: Mapping[str, str] = {"repair": "1", "module": "1", "program": "1", "repo": "1", "question": "1"}
"""The versions of these words and of the rules of extraction, by kind; those of functions belong to each prompt."""
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Words:
    """What prompts say of one kind; ``{file}`` is the file of a module.

    ``task``, ``form``: what the coder is given and writes, and what its answer must contain. ``write``: the request for
    a first program, ``whole``: what a complete answer is, ``corrected``: what follows on a failure. ``below``: what the
    problem is to other roles, who ``implements`` it; ``does``: what a specification says of its behaviour. ``tests``:
    what a tester writes; ``{number}`` tests with the ``{name}``. ``call``, ``meaning``: a call in shown tests that
    needs an explanation. ``final``, ``only``: where the answer stands, and what is asked for without reasoning.
    ``block``: how a repeated request names the form. ``answer``: what an answer is called, ``language``: of its block.
    ``repeated``: what is asked for after the same answer again.
    """

    task: str
    form: str
    write: str
    whole: str
    corrected: str
    below: str
    implements: str
    does: str
    tests: str
    call: str = "candidate("
    meaning: str = "`candidate` stands for the function"
    final: str = "Give the final code in one ```python block: "
    only: str = "Give only the code block: no reasoning, no explanation."
    block: str = ", in one ```python block"
    answer: str = "program"
    language: str = "python"
    repeated: str = "write one that computes the answer in another way"


_NO_TRIALS = "No example calls, no tests."
_VALUES = (
    "Plain cases first, then edge cases, as far as the text says what they must give. Be sure of every value: a wrong "
    "test is worse than none. No loops, no imports, no functions of your own."
)
_FUNCTION_TESTS = (
    "Go by its text alone: others implement it, and you do not see how.\n"
    "Give {number} asserts in one ```python block, each on a line of its own that compares one call with the value "
    f"that it must give, such as `assert {{name}}(...) == ...`, with literal values only. {_VALUES}"
)

_BLOCKS = """SEARCH/REPLACE blocks. Each has the path of the file in the line above, as in this example:

example/area.py
```python
<<<<<<< SEARCH
    area = width + height
=======
    area = width * height
>>>>>>> REPLACE
```

SEARCH repeats lines of the file exactly, with all spaces: as few as possible, but enough to be found only once. \
REPLACE has the new lines in their place. Change only files marked with *, and only what the task needs. \
Add no tests."""

_WORDS: Mapping[Kind, Words] = {
    "function": Words(
        task="You are given a function signature with its docstring and write the whole function.",
        form="the function with its signature, plus any imports and helper functions it needs. " + _NO_TRIALS,
        write="Write the function.",
        whole="the whole function",
        corrected="a corrected version",
        below="the function below",
        implements="implement it",
        does="what the function takes, does and returns",
        tests=f"Write tests for the function below. {_FUNCTION_TESTS}",
    ),
    "repair": Words(
        task="You are given a function whose program is wrong, find the fault and write the whole corrected function.",
        form="the whole corrected function with its signature, not only the changed lines, plus any imports and "
        "helper functions it needs. " + _NO_TRIALS,
        write="The given program is wrong. Write the corrected function.",
        whole="the whole corrected function",
        corrected="a corrected version of the whole function",
        below="the function below (its given program is wrong)",
        implements="correct it",
        does="what the correct function takes, does and returns",
        tests="Write tests for the function below. The given program is wrong, so do not take any value from it. "
        + _FUNCTION_TESTS,
    ),
    "module": Words(
        task="You are given instructions and the beginning of a Python file, and write the whole file.",
        form="the content of the whole {file}, with all its imports, functions and classes. Keep the given names and "
        "signatures, because tests use them. Use only the standard library. " + _NO_TRIALS,
        write="Write the whole {file}.",
        whole="the whole {file}",
        corrected="a corrected version of the whole {file}",
        below="the Python file that the text below describes",
        implements="write it",
        does="what each function, class and method takes, does and returns",
        tests="Write tests for the Python file that the text below describes. Go by this text alone: others write the "
        "file, and you do not see how.\nGive {number} asserts in one ```python block, each on a line of its own that "
        "compares the result of one expression with the value that it must have, such as `assert {name}(...) == ...` "
        "or, for a class with methods, `assert Name(...).method(...) == ...`, with literal values only. The names of "
        f"the file are already imported. {_VALUES}",
        meaning="`candidate` stands for the function or class that the tests use first",
    ),
    "program": Words(
        task="You are given a problem and write a whole Python program that solves it. The program reads its input "
        "from standard input and writes its answer to standard output.",
        form="the whole program, which reads all its input and prints the answer in exactly the format that the text "
        "demands, and nothing else. Use only the standard library. No prompts for input, no tests.",
        write="Write the whole program.",
        whole="the whole program",
        corrected="a corrected version of the whole program",
        below="the program that the text below describes",
        implements="write it",
        does="what the program reads from standard input and what it prints, with the exact format of both",
        tests="Write tests for the program that the text below describes. It reads standard input and writes standard "
        "output. Go by this text alone: others write it, and you do not see how.\nGive {number} asserts in one "
        "```python block, each on a line of its own that compares the output for one input with the whole output that "
        'it must give, such as `assert {name}("3\\n1 2 3\\n") == "6\\n"`, where {name}(text) runs the program with '
        f"that standard input and returns its standard output. Literal values only. {_VALUES}",
        call="run(",
        meaning="`run(text)` runs the program with that standard input and gives its standard output",
    ),
    "repo": Words(
        task="You are given a task in a Python repository and parts of its files, and change the files as the task "
        "says.",
        form=_BLOCKS,
        write="Write the SEARCH/REPLACE blocks that do the task.",
        whole="the whole change as SEARCH/REPLACE blocks",
        corrected="a corrected version of the whole change as SEARCH/REPLACE blocks, which must apply to the files as "
        "given above, without your previous change",
        below="the task in a repository below",
        implements="do it",
        does="what the changed functions must take, do and return",
        tests="Write tests for the task in a repository below.",
        final="Give the change as ",
        only="Give only the blocks: no reasoning, no explanation.",
        block="",
        answer="change",
        language="diff",
        repeated="change something else, or in another way",
    ),
    "question": Words(
        task="A programmer asks you the question below, and you answer it.",
        form="the whole answer, first the result and then the reasons. Put code into ```python blocks. Say what you "
        "do not know.",
        write="Answer the question.",
        whole="the whole answer",
        corrected="a better answer",
        below="the question below",
        implements="answer it",
        does="what the answer must contain",
        tests="Write what a good answer to the question below must contain.",
        final="Give ",
        only="Give only the answer: no reasoning.",
    ),
}


def words(problem: PublicProblem) -> Words:
    """The words for the kind of a problem."""
    return _WORDS[problem.kind]


def named(text: str, problem: PublicProblem) -> str:
    """A text of ``Words`` with the name of the problem's file."""
    file = one_line(problem.file, _LONGEST_NAME)
    return text.replace("{file}", f"file {inline_code(file)}" if file else "file")


def quoted(code: str, problem: PublicProblem, limit: int | None = None) -> str:
    """An answer to a problem in a block, at most ``limit`` characters."""
    return fenced(code, limit, words(problem).language)


def statement(problem: PublicProblem, hints: str = "", tokens: int = SHOWN_TOKENS) -> str:
    """The text of a problem in a block that no fence in it can end; prose with code is not tagged as Python.

    Of a repository with its files, as ``repository_text`` shows them.
    """
    text = problem.prompt.rstrip()
    if problem.kind == "repo":
        return f"{fenced(text, language='markdown')}\n\n{repository_text(problem, hints, tokens)}"
    code = problem.kind == "function" or (problem.kind == "repair" and Reader().parse(text) is not None)
    return fenced(text, language="python" if code else "markdown")

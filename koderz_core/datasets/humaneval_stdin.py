"""HumanEval's problems as programs: the arguments of a call are read from standard input, the answer is written.

Made of the installed problems, so it needs no other file. Only tests with literal arguments and a literal answer that
JSON can write become cases. A problem with fewer than two of them is left out.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator
from typing import Any

import msgspec

from koderz_core.config import Settings
from koderz_core.datasets.asserts import statements
from koderz_core.datasets.humaneval import load_humaneval
from koderz_core.datasets.programs import LINES, Pair, output_tests, program_problem
from koderz_core.records import Dataset, DatasetOrigin, Facts, LeftOut, Problem, to_hash

NAME = "humaneval-stdin"
LEAST = 2
"""Cases of a problem: the text shows the first one."""

# Short, because words that all problems have in common make them alike to the guard against leaks.
_TASK = """Read this function's arguments from standard input, one JSON value per line, and print its result as JSON.

```python
{prompt}
```

Input:
```
{given}
```

Output:
```
{expected}
```
"""
_PROGRAM = """{solution}

if __name__ == "__main__":
    import json
    import sys

    print(json.dumps({function}(*map(json.loads, sys.stdin))))
"""


def load_humaneval_stdin(name: str, settings: Settings) -> Dataset:
    """The problems that have enough cases. Raises DataError, as ``load_humaneval``."""
    made = [_wrapped(problem) for problem in load_humaneval(settings).problems]
    problems = tuple(problem for problem in made if isinstance(problem, Problem))
    left_out = tuple(problem for problem in made if isinstance(problem, LeftOut))
    sha256 = hashlib.sha256(msgspec.json.encode(to_hash(problems))).hexdigest()
    return Dataset(DatasetOrigin(name, sha256, "MIT"), problems, left_out)


def _wrapped(problem: Problem) -> Problem | LeftOut:
    name = problem.id.replace("HumanEval/", f"{NAME}/")
    pairs = list(dict.fromkeys(_cases(problem.tests.source)))
    if len(pairs) < LEAST:
        return LeftOut(
            name,
            f"fewer than {LEAST} of its tests have arguments and an expected value that JSON can represent",
        )
    given, expected = pairs[0]
    task = _TASK.format(prompt=problem.public.prompt.rstrip(), given=given.rstrip(), expected=expected.rstrip())
    program = _PROGRAM.format(solution=problem.canonical_solution.rstrip(), function=problem.public.entry_point)
    tests, samples = (output_tests(part, LINES) for part in (pairs, pairs[:1]))
    return program_problem(name, task, tests, samples, Facts(), program if problem.canonical_solution else "")


def _cases(source: str) -> Iterator[Pair]:
    """Each call of literals in an assert of its own that is compared with a literal."""
    for node in ast.walk(ast.Module(statements(source, "test"), [])):
        match node:
            case ast.Assert(test=ast.Compare(left=ast.Call() as call, ops=[ast.Eq() | ast.Is()], comparators=[answer])):
                yield from _case(call, answer)
            case ast.Assert(test=ast.Call() as call):
                yield from _case(call, ast.Constant(value=True))
            case ast.Assert(test=ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call)):
                yield from _case(call, ast.Constant(value=False))


def _case(call: ast.Call, answer: ast.expr) -> Iterator[Pair]:
    """At most one case: nothing for a call of another function, or for values that JSON would change."""
    if not (isinstance(call.func, ast.Name) and call.func.id == "candidate" and not call.keywords):
        return
    try:
        *arguments, expected = (ast.literal_eval(part) for part in (*call.args, answer))
    except (ValueError, TypeError):
        return
    if all(map(_is_json, (*arguments, expected))):
        yield "".join(f"{json.dumps(argument)}\n" for argument in arguments), f"{json.dumps(expected)}\n"


def _is_json(value: Any) -> bool:  # Any: a literal
    """Whether JSON can write a value and read it back unchanged."""
    if isinstance(value, list):
        return all(map(_is_json, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(item) for key, item in value.items())
    return value is None or isinstance(value, str | int | float)

"""Problems that somebody typed: tests alone, to grade a program by, or whole ones that are kept as a dataset."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from koderz_core.datasets.humaneval import Row
from koderz_core.errors import DataError
from koderz_core.grading.testsets import check_tests
from koderz_core.prompts.programs import Program, Reader, indented, unindented
from koderz_core.records import Problem, PublicProblem, TestSet

EXAMPLE = "Write asserts such as `assert add(1, 2) == 3`."
SIGNATURE = "Write its signature into the prompt, such as `def add(a, b):`."


def problem_of(tests: str, name: str = "typed/0") -> Problem:
    """A problem whose tests are plain asserts, or source that defines ``check(candidate)``.

    Plain asserts call the program's function by its name: the first function they call that is neither Python's nor
    their own. Raises DataError if there is no test in them.
    """
    parsed = _parsed(tests)
    check = _check(parsed.tree)
    entry_point = "candidate" if check else _first_called(parsed.tree)
    return Problem(PublicProblem(name, "", entry_point), TestSet(_check_source(parsed)), "")


def typed_row(prompt: str, tests: str, solution: str = "") -> Row:
    """A whole problem in HumanEval's form, with no ``task_id`` yet.

    ``prompt``: code whose last function is the one to write, or free text; then the function is the first that the
    asserts call. ``tests``: as for ``problem_of``. ``solution``: a whole program, the function's body, or nothing.
    Raises DataError, which names the field and what to write there.
    """
    prompt, tests, solution = (
        _clean(*field) for field in (("prompt", prompt), ("tests", tests), ("solution", solution))
    )
    if not prompt.strip():
        raise DataError(f"The prompt is empty. Say what the function does. {SIGNATURE}")
    parsed = _parsed(tests)
    written = _written(prompt)
    asked = written or _described(prompt, parsed.tree)
    entry_point = _functions(asked.tree)[-1]
    _check_calls(parsed.tree, entry_point)
    source = _check_source(parsed)
    check_tests(Problem(PublicProblem("this problem", asked.source, entry_point), TestSet(source), ""))
    completion = _completion(asked, entry_point, solution, body_fits=written is not None)
    return Row("", asked.source, entry_point, completion, source)


def _clean(field: str, text: str) -> str:
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise DataError(f"The {field} holds characters that are no text. Paste it anew as plain text.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


# Tests


def _parsed(tests: str) -> Program:
    try:
        tree = ast.parse(tests)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"The tests are not Python: {error}. {EXAMPLE}") from error
    if not any(isinstance(node, ast.Assert) for node in ast.walk(tree)):
        raise DataError(f"The tests hold no assert. {EXAMPLE}")
    return Program(tests, tree)


def _check(tree: ast.Module) -> ast.FunctionDef | None:
    return next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"), None)


def _check_source(tests: Program) -> str:
    return tests.source if _check(tests.tree) else f"def check(candidate):\n{indented(tests, 4)}\n"


def _first_called(tree: ast.Module) -> str:
    known = set(dir(builtins)) | _bound(tree)
    for name, _ in _calls(tree):
        if name not in known:
            return name
    raise DataError(f"No assert calls a function by its name. {EXAMPLE}")


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """The calls by name within asserts."""
    for statement in tree.body:
        for node in ast.walk(statement) if isinstance(statement, ast.Assert) else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield node.func.id, node


def _bound(tree: ast.Module) -> set[str]:
    """The names that tests define, import or assign themselves."""
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
    return bound


def _check_calls(tree: ast.Module, entry_point: str) -> None:
    """Raise DataError if the tests have nothing to do with the function: no program could pass them."""
    if entry_point == "check":
        raise DataError("The prompt's function is called check, as the tests are. Give it another name in the prompt.")
    check = _check(tree)
    if check and not check.args.args:
        raise DataError("The tests define check without a parameter. Write `def check(candidate):`.")
    meant = {entry_point, check.args.args[0].arg} if check else {entry_point}
    if not any(isinstance(node, ast.Name) and node.id in meant for node in ast.walk(tree)):
        raise DataError(f"The tests never call {entry_point}, the prompt's last function. {EXAMPLE}")


# Prompt and solution


def _functions(tree: ast.Module) -> list[str]:
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _written(prompt: str) -> Program | None:
    """A prompt that is code, also with prose before it; a signature without a body gets one. None: it is not."""
    begins = [found.start() for found in re.finditer(r"^(async +)?def +\w+ *\(", prompt, re.MULTILINE)]
    for start in (0, *begins):
        before = _as_comment(prompt[:start])
        for code in (prompt[start:], f"{prompt[start:].rstrip()}\n    ...\n"):
            found = Reader().parse(f"{before}{code}")
            if found and _functions(found.tree):
                return found
    return None


def _described(prompt: str, tests: ast.Module) -> Program:
    """Free text as a comment over the function that the asserts call: a model must be told its name."""
    if _check(tests):
        raise DataError(f"The prompt defines no function, and check(candidate) does not name it. {SIGNATURE}")
    name = _first_called(tests)
    shapes = {_parameters(call) for called, call in _calls(tests) if called == name}
    parameters = shapes.pop() if len(shapes) == 1 else "*args, **kwargs"
    found = Reader().parse(f"{_as_comment(prompt)}def {name}({parameters}):\n    ...\n")
    if found is None:
        raise DataError(f"The prompt cannot be read. {SIGNATURE}")
    return found


def _as_comment(text: str) -> str:
    return "".join(f"# {line}".rstrip() + "\n" for line in text.strip().splitlines())


def _parameters(call: ast.Call) -> str:
    if any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords):
        return "*args, **kwargs"
    return ", ".join(
        [*(f"arg{number}" for number, _ in enumerate(call.args, 1)), *(str(one.arg) for one in call.keywords)]
    )


def _completion(asked: Program, entry_point: str, solution: str, *, body_fits: bool) -> str:
    """What follows the prompt to make a whole program; a body fits only parameters whose names somebody chose."""
    if not solution.strip():
        return ""
    reader, gap = Reader(), "" if asked.source.endswith("\n") else "\n"
    whole = reader.parse(solution)
    if whole and entry_point in _functions(whole.tree):
        return f"{gap}\n\n{solution.strip()}\n"
    body = reader.parse(unindented(solution))
    completion = f"{gap}{(indented(body, _margin(asked)) if body else solution).rstrip()}\n"
    if not body_fits or reader.parse(asked.source + completion) is None:
        raise DataError(
            f"The solution is not Python, or not of {entry_point}. Write the whole function, or leave it out."
        )
    return completion


def _margin(asked: Program) -> int:
    """How far the last function's body stands to the right."""
    functions = [node for node in asked.tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return functions[-1].body[0].col_offset

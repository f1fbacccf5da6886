"""Reads problems and tests that a user enters as free text, and rejects tests that no program could pass or fail.

``datasets.own_problems`` keeps entered problems. Files of problems have a format instead, which
``datasets.own_checks`` checks field by field.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType

from koderz_core.datasets.humaneval import Row
from koderz_core.datasets.own_problems import entered_dataset
from koderz_core.errors import DataError
from koderz_core.grading.testsets import check_tests
from koderz_core.prompts.names import defined_names, lacking_names
from koderz_core.prompts.programs import Program, Reader, indented, unindented
from koderz_core.python_parser import parse
from koderz_core.records import Problem, PublicProblem, TestSet, Verdict
from koderz_core.sandbox.inside.instrument import instrument

_SIGNATURE = "Write the signature of the function into the prompt, such as `def add(a, b):`."
_FIX = "Fix the code, and put # before lines that are not code."
_EXAMPLE = "Write asserts such as `assert add(1, 2) == 3`."
_CHECK = "Write `def check(candidate):`."

_DEF = r"(?:async +)?def +\w+ *\("
_CODE = rf"{_DEF}|class +\w+ *[(:]|import +[\w.]+(?: +as +\w+)? *(?:[,;#]|$)|from +[\w.]+ +import\b|@\w"
_CODE_LINE = re.compile(rf"^(?:{_CODE})", re.MULTILINE)
_DEF_LINE = re.compile(rf"^{_DEF}", re.MULTILINE)
_CODE_FIRST = re.compile(rf"\s*(?:#.*\n\s*)*(?:{_CODE}|\w+ *=[^=])", re.MULTILINE)


def problem_of(tests: str, name: str = "typed/0") -> Problem:
    """A problem whose tests are plain asserts, or source that defines ``check(candidate)``.

    Plain asserts call the program's function by its name. It is the first function they call that is neither Python's
    nor their own. After ``check``, a last line ``check(add)`` names the function, as in HumanEval's own programs.
    Raises DataError if there is no assert, or one that nothing runs.
    """
    program, named = _without_last_call(_read_tests(tests))
    entry_point = (named or "candidate") if _check_of(program) else _first_called(program)
    public = PublicProblem(name, "", entry_point, names=_further_names(program, entry_point))
    return Problem(public, TestSet(_check_source(program)), "")


def typed_row(prompt: str, tests: str, solution: str = "") -> Row:
    """A whole problem in HumanEval's format, without a ``task_id``.

    ``prompt``: code whose last function is the one to write, or free text, for which the function is the first that the
    asserts call. ``tests``: as for ``problem_of``. ``solution``: a whole program, the function's body, or nothing.
    Raises DataError naming the field and how to fix it.
    """
    prompt, tests, solution = (
        _clean(*field) for field in (("prompt", prompt), ("tests", tests), ("solution", solution))
    )
    if not prompt.strip():
        raise DataError(f"The prompt is empty. Describe what the function does. {_SIGNATURE}")
    test_program = _read_tests(tests)
    code = _prompt_code(prompt)
    task = code or _prompt_of_text(prompt, test_program)
    entry_point = _entry_point(task)
    _require_use(test_program, entry_point)
    source = _check_source(test_program)
    check_tests(Problem(PublicProblem("this problem", task.source, entry_point), TestSet(source), ""))
    completion = _completion(task, entry_point, solution, body_fits=code is not None)
    return Row("", task.source, entry_point, completion, source)


def require_solved(row: Row, grade: Callable[[str, Problem], Verdict]) -> Row:
    """The row, if it has no solution or the solution passes its tests. Raises DataError otherwise."""
    for problem in entered_dataset(row).problems if row.canonical_solution else ():
        verdict = grade(problem.canonical_solution, problem)
        if not verdict.passed:
            raise DataError(f"The solution fails the tests: {verdict.message}. Fix the solution or the tests.")
    return row


def _clean(field: str, text: str) -> str:
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise DataError(f"Some characters in the {field} are not valid text. Paste the {field} again as plain text.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


# Prompt and solution


def _functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _entry_point(task: Program) -> str:
    """The name of the last function. Raises DataError for a function that tests cannot call."""
    last = _functions(task.tree)[-1]
    if isinstance(last, ast.AsyncFunctionDef):
        raise DataError(
            f"The prompt's function {last.name} is async, but koderz does not await it. Write def instead of async def."
        )
    if last.name == "check":
        raise DataError(
            "The function in the prompt is named check, a name that koderz uses for tests. Rename the function."
        )
    try:
        compile(task.tree, "<prompt>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"The prompt cannot be compiled as Python: {error}. {_FIX}") from error
    return last.name


def _prompt_code(prompt: str) -> Program | None:
    """A prompt with code, its prose as a comment. A signature without a body gets one. None if there is no code.

    Raises DataError if the code cannot be read: koderz does not turn code into a comment.
    """
    begin = None if _CODE_FIRST.match(prompt) else _CODE_LINE.search(prompt)
    start = begin.start() if begin else 0
    reader = Reader()
    for code_from in sorted({0, start}):
        before, code = _as_comment(prompt[:code_from]), prompt[code_from:]
        for whole in (code, f"{code.rstrip()}\n    ...\n"):
            program = reader.parse(f"{before}{whole}")
            if program and _functions(program.tree):
                return program
    if _DEF_LINE.search(prompt) or _CODE_FIRST.match(prompt):
        raise _fault(prompt, start)
    return None


def _fault(prompt: str, start: int) -> DataError:
    """The reason why the code from ``start`` on cannot be a prompt."""
    try:
        parse(prompt[start:])
    except SyntaxError as error:
        line = prompt.count("\n", 0, start) + (error.lineno or 0)
        return DataError(f"Line {line} of the prompt is not valid Python: {error.msg}. {_FIX}")
    except (ValueError, RecursionError, MemoryError) as error:
        return DataError(f"The prompt is not valid Python: {error}. {_FIX}")
    return DataError(f"The prompt contains code, but no function definition that koderz can parse. {_SIGNATURE}")


def _prompt_of_text(prompt: str, tests: Program) -> Program:
    """Free text as a comment above a stub of the function that the asserts call, so that the model sees its name."""
    if _check_of(tests):
        raise DataError(
            "koderz cannot find the name of the function: the prompt defines no function, and in the tests "
            f"the function is named candidate. {_SIGNATURE}"
        )
    name = _first_called(tests)
    shapes = {_parameters(call) for called, call in _calls(tests.tree) if called == name}
    parameters = shapes.pop() if len(shapes) == 1 else "*args, **kwargs"
    program = Reader().parse(f"{_as_comment(prompt)}def {name}({parameters}):\n    ...\n")
    if program is None:
        raise DataError(f"The prompt cannot be parsed. {_SIGNATURE}")
    return program


def _as_comment(text: str) -> str:
    return "".join(f"# {line}".rstrip() + "\n" for line in text.strip().splitlines())


def _parameters(call: ast.Call) -> str:
    names = [
        *(f"arg{number}" for number, _ in enumerate(call.args, 1)),
        *(str(keyword.arg) for keyword in call.keywords),
    ]
    unpacked = any(isinstance(arg, ast.Starred) for arg in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )
    return "*args, **kwargs" if unpacked or len(set(names)) < len(names) else ", ".join(names)


def _completion(task: Program, entry_point: str, solution: str, *, body_fits: bool) -> str:
    """The text that makes the prompt a whole program. ``body_fits``: the user named the parameters of the function."""
    if not solution.strip():
        return ""
    reader, gap = Reader(), "" if task.source.endswith("\n") else "\n"
    whole = reader.parse(solution)
    if whole and any(function.name == entry_point for function in _functions(whole.tree)):
        return f"{gap}\n\n{solution.strip()}\n"
    body = reader.parse(unindented(solution))
    lead, margin = _opening(task)
    completion = f"{gap}{lead}{(indented(body, margin) if body else solution).rstrip()}\n"
    if not body_fits or reader.parse(task.source + completion) is None:
        raise DataError(
            f"The solution is not valid Python, or does not define the function {entry_point}. Write the whole "
            "function, or omit the solution."
        )
    return completion


def _opening(task: Program) -> tuple[str, int]:
    """The text before a body that is added to the prompt, and the indentation of the body in columns.

    A stub of one line, such as ``def add(a, b): ...``, cannot be continued, so the text repeats its signature.
    """
    last = _functions(task.tree)[-1]
    lines, first = task.source.split("\n"), last.body[0]
    before = lines[first.lineno - 1].encode()[: first.col_offset].decode()
    if not before.strip():
        return "", first.col_offset
    start = min([last.lineno, *(decorator.lineno for decorator in last.decorator_list)])
    signature = [*lines[start - 1 : first.lineno - 1], before.rstrip()]
    return "\n\n" + "\n".join(signature) + "\n", last.col_offset + 4


# Tests


def _read_tests(tests: str) -> Program:
    """Tests whose asserts are all run. ``test_...`` functions without parameters are called, as pytest does.

    Raises DataError if there is no assert, or one that nothing runs.
    """
    program = _parsed(tests)
    for node in ast.walk(program.tree):
        if isinstance(node, ast.AsyncFunctionDef):
            raise DataError(
                f"The tests define the async function {node.name}, but koderz does not await it. {_EXAMPLE}"
            )
    if _check_of(program) is None:
        program = _with_calls(program)
    reached = _reach(program.tree).asserts
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Assert) and node not in reached:
            raise DataError(
                f"The assert in line {node.lineno} of the tests never runs: the function around it is never called, or "
                f"a condition on __name__ excludes it. {_EXAMPLE}"
            )
    return program


def _without_last_call(tests: Program) -> tuple[Program, str]:
    """The tests without a last line ``check(name)``, and that name; "" if there is no such line."""
    if not _check_of(tests):
        return tests, ""
    match tests.tree.body[-2:]:
        case [
            before,
            ast.Expr(value=ast.Call(func=ast.Name(id="check"), args=[ast.Name(id=name)], keywords=[])) as last,
        ]:
            if (before.end_lineno or last.lineno) < last.lineno:
                return _parsed("\n".join(tests.source.split("\n")[: last.lineno - 1]) + "\n"), name
    return tests, ""


def _check_of(tests: Program) -> ast.FunctionDef | None:
    """The tests' own ``check(candidate)``; None if they are plain asserts."""
    return next((node for node in tests.tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"), None)


def _check_source(tests: Program) -> str:
    """Source that defines ``check(candidate)``. Raises DataError naming a line that cannot run in it."""
    code = _compiled(tests.source, lines_before=0)
    check = _check_of(tests)
    if check is None:
        source = f"def check(candidate):\n{indented(tests, 4)}\n"
        _compiled(source, lines_before=1)
        return source
    if not check.args.args:
        raise DataError(f"The function check in the tests has no parameter. {_CHECK}")
    functions = [part for part in code.co_consts if isinstance(part, CodeType) and part.co_name == "check"]
    if any(function.co_flags & inspect.CO_GENERATOR for function in functions):
        raise DataError(f"check(candidate) contains yield, so its asserts would never run. {_EXAMPLE}")
    return tests.source


def _first_called(tests: Program) -> str:
    """The function that plain asserts test: the first that is neither Python's nor their own. Raises DataError."""
    lacking = lacking_names(tests)
    named = (node.id for node in ast.walk(tests.tree) if isinstance(node, ast.Name))
    for name in (*(name for name, _ in _calls(tests.tree)), *named):
        if name in lacking:
            return name
    raise DataError(
        "The tests do not call the function that the program must define. They call only built-in functions, and "
        f"functions that are defined or imported in the tests. {_EXAMPLE}"
    )


def _further_names(tests: Program, entry_point: str) -> tuple[str, ...]:
    """What tests need of a program besides the function; empty if ``import *`` may define any name."""
    if any(isinstance(node, ast.alias) and node.name == "*" for node in ast.walk(tests.tree)):
        return ()
    annotations = (node.annotation for node in ast.walk(tests.tree) if isinstance(node, ast.AnnAssign))
    never_read = {id(part) for annotation in annotations for part in ast.walk(annotation)}  # inside of functions
    read = {node.id for node in ast.walk(tests.tree) if isinstance(node, ast.Name) and id(node) not in never_read}
    lacking = (lacking_names(tests) & read) - {entry_point}
    return tuple(sorted(name for name in lacking if not name.startswith("__")))  # those are the tests' own


def _require_use(tests: Program, entry_point: str) -> None:
    """Raise DataError if the tests do not use the function, so that no program could pass or fail them."""
    check, own = _check_of(tests), defined_names(tests)
    if check is None and entry_point in own:
        raise DataError(
            f"The tests themselves define or import the function `{entry_point}`. Remove that definition or import, "
            f"because the program must define {entry_point}."
        )
    names = {entry_point} - own | {parameter.arg for parameter in check.args.args[:1]} if check else {entry_point}
    if not any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(tests.tree)):
        raise DataError(f"The tests never call {entry_point}, the last function in the prompt. {_EXAMPLE}")


def _parsed(tests: str) -> Program:
    try:
        tree = parse(tests)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"The tests are not valid Python: {error}. {_EXAMPLE}") from error
    if not any(isinstance(node, ast.Assert) for node in ast.walk(tree)):
        raise DataError(f"The tests contain no assert. {_EXAMPLE}")
    return Program(tests, tree)


def _compiled(source: str, lines_before: int) -> CodeType:
    """The code as the sandbox compiles it. Some statements parse but cannot run within a function."""
    try:
        return compile(instrument(source, parse).tree, "<tests>", "exec", dont_inherit=True)
    except SyntaxError as error:
        line = (error.lineno or 0) - lines_before
        raise DataError(
            f"Line {line} of the tests cannot run inside a function: {error.msg}. koderz puts plain asserts into the "
            "function check(candidate). Rewrite or omit that line."
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"The tests cannot be compiled: {error}. {_EXAMPLE}") from error


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """The calls of functions by name: first those within asserts, then all."""
    asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    for part in (*asserts, tree):
        for node in ast.walk(part):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield node.func.id, node


# Reachable code


@dataclass(slots=True)
class _Reach:
    """The code of tests that runs, judged by names: a function runs if running code names it."""

    named: set[str] = field(default_factory=set)
    asserts: set[ast.Assert] = field(default_factory=set)
    waiting: dict[str, list[ast.AST]] = field(default_factory=dict)

    def visit(self, node: ast.AST) -> list[ast.AST]:
        """The nodes that run because this one does."""
        match node:
            case ast.FunctionDef(name=name) if name not in self.named and not name.startswith("__"):
                self.waiting.setdefault(name, []).append(node)
                return [*node.decorator_list, node.args]
            case ast.If(test=ast.Compare(left=left, comparators=[right])) if any(
                isinstance(side, ast.Name) and side.id == "__name__" for side in (left, right)
            ):
                return list(node.orelse)
            case ast.Assert():
                self.asserts.add(node)
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
                self.named.add(name)
                return [*self.waiting.pop(name, ()), *ast.iter_child_nodes(node)]
        return list(ast.iter_child_nodes(node))


def _reach(tree: ast.Module) -> _Reach:
    reach = _Reach({"check"})
    nodes: list[ast.AST] = [tree]
    while nodes:
        nodes.extend(reach.visit(nodes.pop()))
    return reach


def _with_calls(tests: Program) -> Program:
    waiting = _reach(tests.tree).waiting
    calls = [
        f"{node.name}()\n"
        for node in tests.tree.body
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        and node.name in waiting
        and not ast.unparse(node.args)
    ]
    return _parsed("".join([tests.source.rstrip(), "\n", *dict.fromkeys(calls)])) if calls else tests

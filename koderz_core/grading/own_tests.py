"""Typed problems and tests: tests alone, to grade a program by, or whole problems that are kept as a dataset.

Tests that no program could pass are refused.
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

SIGNATURE = "Write its signature into the prompt, such as `def add(a, b):`."
MEND = "Mend it, and put # before what is no code."

_DEF = r"(?:async +)?def +\w+ *\("
_CODE = rf"{_DEF}|class +\w+ *[(:]|import +[\w.]+(?: +as +\w+)? *(?:[,;#]|$)|from +[\w.]+ +import\b|@\w"
_CODE_LINE = re.compile(rf"^(?:{_CODE})", re.MULTILINE)
_DEF_LINE = re.compile(rf"^{_DEF}", re.MULTILINE)
_CODE_FIRST = re.compile(rf"\s*(?:#.*\n\s*)*(?:{_CODE}|\w+ *=[^=])", re.MULTILINE)
EXAMPLE = "Write asserts such as `assert add(1, 2) == 3`."
CHECK = "Write `def check(candidate):`."


def problem_of(tests: str, name: str = "typed/0") -> Problem:
    """A problem whose tests are plain asserts, or source that defines ``check(candidate)``.

    Plain asserts call the program's function by its name: the first function they call that is neither Python's nor
    their own. Raises DataError if there is no test in them, or one that no program could reach.
    """
    read = read_tests(tests)
    entry_point = "candidate" if check_of(read) else first_called(read)
    return Problem(PublicProblem(name, "", entry_point), TestSet(check_source(read)), "")


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
    read = read_tests(tests)
    written = _written(prompt)
    asked = written or _described(prompt, read)
    entry_point = _entry_point(asked)
    require_use(read, entry_point)
    source = check_source(read)
    check_tests(Problem(PublicProblem("this problem", asked.source, entry_point), TestSet(source), ""))
    completion = _completion(asked, entry_point, solution, body_fits=written is not None)
    return Row("", asked.source, entry_point, completion, source)


def require_solved(row: Row, grade: Callable[[str, Problem], Verdict]) -> Row:
    """The row, whose solution passes its tests if it has one. Raises DataError if not: one of the two is wrong."""
    for problem in entered_dataset(row).problems if row.canonical_solution else ():
        verdict = grade(problem.canonical_solution, problem)
        if not verdict.passed:
            raise DataError(f"The solution fails the tests: {verdict.message}. Mend the one or the other.")
    return row


def _clean(field: str, text: str) -> str:
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise DataError(f"The {field} holds characters that are no text. Paste it anew as plain text.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


# Prompt and solution


def _functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _entry_point(asked: Program) -> str:
    """The name of the last function. Raises DataError if none of that kind could be tested."""
    last = _functions(asked.tree)[-1]
    if isinstance(last, ast.AsyncFunctionDef):
        raise DataError(f"The prompt's function {last.name} is async, and nothing would await it. Write a plain def.")
    if last.name == "check":
        raise DataError("The prompt's function is called check, as the tests are. Give it another name in the prompt.")
    try:
        compile(asked.tree, "<prompt>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"The prompt is not Python that can be run: {error}. {MEND}") from error
    return last.name


def _written(prompt: str) -> Program | None:
    """A prompt that is code, also below prose; a signature without a body gets one. None: there is no code in it.

    Raises DataError if there is: what somebody wrote as code is not made a comment.
    """
    begin = None if _CODE_FIRST.match(prompt) else _CODE_LINE.search(prompt)
    start = begin.start() if begin else 0
    reader = Reader()
    for code_from in sorted({0, start}):
        before, code = _as_comment(prompt[:code_from]), prompt[code_from:]
        for whole in (code, f"{code.rstrip()}\n    ...\n"):
            found = reader.parse(f"{before}{whole}")
            if found and _functions(found.tree):
                return found
    if _DEF_LINE.search(prompt) or _CODE_FIRST.match(prompt):
        raise _fault(prompt, start)
    return None


def _fault(prompt: str, start: int) -> DataError:
    """Why the code from ``start`` on cannot be a prompt."""
    try:
        parse(prompt[start:])
    except SyntaxError as error:
        line = prompt.count("\n", 0, start) + (error.lineno or 0)
        return DataError(f"Line {line} of the prompt is not Python: {error.msg}. {MEND}")
    except (ValueError, RecursionError, MemoryError) as error:
        return DataError(f"The prompt is not Python: {error}. {MEND}")
    return DataError(f"The prompt holds code, but no function that can be read. {SIGNATURE}")


def _described(prompt: str, tests: Program) -> Program:
    """Free text as a comment over the function that the asserts call: a model must be told its name."""
    if check_of(tests):
        raise DataError(f"The prompt defines no function, and check(candidate) does not name it. {SIGNATURE}")
    name = first_called(tests)
    shapes = {_parameters(call) for called, call in _calls(tests.tree) if called == name}
    parameters = shapes.pop() if len(shapes) == 1 else "*args, **kwargs"
    found = Reader().parse(f"{_as_comment(prompt)}def {name}({parameters}):\n    ...\n")
    if found is None:
        raise DataError(f"The prompt cannot be read. {SIGNATURE}")
    return found


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


def _completion(asked: Program, entry_point: str, solution: str, *, body_fits: bool) -> str:
    """What follows the prompt to make a whole program; a body fits only parameters whose names somebody chose."""
    if not solution.strip():
        return ""
    reader, gap = Reader(), "" if asked.source.endswith("\n") else "\n"
    whole = reader.parse(solution)
    if whole and any(function.name == entry_point for function in _functions(whole.tree)):
        return f"{gap}\n\n{solution.strip()}\n"
    body = reader.parse(unindented(solution))
    lead, margin = _opening(asked)
    completion = f"{gap}{lead}{(indented(body, margin) if body else solution).rstrip()}\n"
    if not body_fits or reader.parse(asked.source + completion) is None:
        raise DataError(
            f"The solution is not Python, or not of {entry_point}. Write the whole function, or leave it out."
        )
    return completion


def _opening(asked: Program) -> tuple[str, int]:
    """What stands before a body that is added to the prompt, and how far to the right the body goes.

    A stub of one line, as ``def add(a, b): ...``, can have nothing added: its signature is written once more.
    """
    last = _functions(asked.tree)[-1]
    lines, first = asked.source.split("\n"), last.body[0]
    before = lines[first.lineno - 1].encode()[: first.col_offset].decode()
    if not before.strip():
        return "", first.col_offset
    start = min([last.lineno, *(decorator.lineno for decorator in last.decorator_list)])
    signature = [*lines[start - 1 : first.lineno - 1], before.rstrip()]
    return "\n\n" + "\n".join(signature) + "\n", last.col_offset + 4


def read_tests(tests: str) -> Program:
    """Tests each assert of which is run. ``test_...`` functions without parameters are called, as pytest does.

    Raises DataError for what holds no assert, or one that nothing runs.
    """
    program = _parsed(tests)
    for node in ast.walk(program.tree):
        if isinstance(node, ast.AsyncFunctionDef):
            raise DataError(f"The tests define async def {node.name}, which nothing would await. {EXAMPLE}")
    if check_of(program) is None:
        program = _with_calls(program)
    reached = _reach(program.tree).asserts
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Assert) and node not in reached:
            raise DataError(
                f"Nothing runs the assert in line {node.lineno} of the tests: its function is never called, or it "
                f"waits for __name__. {EXAMPLE}"
            )
    return program


def check_of(tests: Program) -> ast.FunctionDef | None:
    """Their own ``check(candidate)``; None if they are plain asserts."""
    return next((node for node in tests.tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"), None)


def check_source(tests: Program) -> str:
    """Source that defines ``check(candidate)``. Raises DataError naming the line that cannot run in there."""
    code = _compiled(tests.source, lines_before=0)
    check = check_of(tests)
    if check is None:
        source = f"def check(candidate):\n{indented(tests, 4)}\n"
        _compiled(source, lines_before=1)
        return source
    if not check.args.args:
        raise DataError(f"The tests define check without a parameter. {CHECK}")
    if any(_is_generator(part) for part in code.co_consts if isinstance(part, CodeType) and part.co_name == "check"):
        raise DataError(f"The tests' check yields, so none of it would run. {EXAMPLE}")
    return tests.source


def first_called(tests: Program) -> str:
    """The function that plain asserts are about: it is neither Python's nor their own. Raises DataError."""
    lacking = lacking_names(tests)
    named = (node.id for node in ast.walk(tests.tree) if isinstance(node, ast.Name))
    for name in (*(name for name, _ in _calls(tests.tree)), *named):
        if name in lacking:
            return name
    raise DataError(f"The tests call no function but Python's and those that they define or import. {EXAMPLE}")


def require_use(tests: Program, entry_point: str) -> None:
    """Raise DataError if the tests have nothing to do with the function: no program could pass or fail them."""
    check, own = check_of(tests), defined_names(tests)
    if check is None and entry_point in own:
        raise DataError(f"The tests define or import {entry_point} themselves. Leave that out: it is the program's.")
    meant = {entry_point} - own | {parameter.arg for parameter in check.args.args[:1]} if check else {entry_point}
    if not any(isinstance(node, ast.Name) and node.id in meant for node in ast.walk(tests.tree)):
        raise DataError(f"The tests never call {entry_point}, the prompt's last function. {EXAMPLE}")


def _parsed(tests: str) -> Program:
    try:
        tree = parse(tests)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"The tests are not Python: {error}. {EXAMPLE}") from error
    if not any(isinstance(node, ast.Assert) for node in ast.walk(tree)):
        raise DataError(f"The tests hold no assert. {EXAMPLE}")
    return Program(tests, tree)


def _compiled(source: str, lines_before: int) -> CodeType:
    """As the sandbox will compile it: much that parses cannot run within a function."""
    try:
        return compile(instrument(source).tree, "<tests>", "exec", dont_inherit=True)
    except SyntaxError as error:
        line = (error.lineno or 0) - lines_before
        raise DataError(
            f"Line {line} of the tests cannot run in check(candidate), where plain asserts stand: {error.msg}. "
            "Write it another way, or leave it out."
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"The tests cannot be compiled: {error}. {EXAMPLE}") from error


def _is_generator(code: CodeType) -> bool:
    return bool(code.co_flags & inspect.CO_GENERATOR)


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """The calls by name: first those within asserts, then all."""
    asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    for part in (*asserts, tree):
        for node in ast.walk(part):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                yield node.func.id, node


# What runs


@dataclass(slots=True)
class _Reach:
    """What runs of some tests, as far as names tell: a function does if code that runs names it."""

    named: set[str] = field(default_factory=set)
    asserts: set[ast.Assert] = field(default_factory=set)
    waiting: dict[str, list[ast.AST]] = field(default_factory=dict)

    def visit(self, node: ast.AST) -> list[ast.AST]:
        """What runs because this does."""
        match node:
            case ast.FunctionDef(name=name) if name not in self.named and not name.startswith("__"):
                self.waiting.setdefault(name, []).append(node)
                return [*node.decorator_list, node.args]
            case ast.If(test=ast.Compare(left=left, comparators=[right])) if _is_name_of_module(left, right):
                return list(node.orelse)
            case ast.Assert():
                self.asserts.add(node)
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
                self.named.add(name)
                return [*self.waiting.pop(name, ()), *ast.iter_child_nodes(node)]
        return list(ast.iter_child_nodes(node))


def _is_name_of_module(*sides: ast.expr) -> bool:
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)


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

"""Tests that somebody typed: read, refused if no program could pass them, and made a check of a candidate."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType

from koderz_core.errors import DataError
from koderz_core.parsing import parse
from koderz_core.prompts.names import defined_names, lacking_names
from koderz_core.prompts.programs import Program, indented
from koderz_core.sandbox.inside.instrument import instrument

EXAMPLE = "Write asserts such as `assert add(1, 2) == 3`."
CHECK = "Write `def check(candidate):`."


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


def calls_of(tests: Program, name: str) -> list[ast.Call]:
    """How the tests call a function."""
    return [call for called, call in _calls(tests.tree) if called == name]


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

"""The names that a program defines and lacks, and its example code, which only calls or checks it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Container, Iterable, Iterator

from koderz_core.prompts.programs import Program, shape

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef

_BUILTINS = frozenset(dir(builtins))


def defines(program: Program, name: str) -> bool:
    """Whether ``name`` is defined at top level by more than a stub."""
    return any(_binds(statement, name) for statement in program.tree.body)


def has_definition(program: Program) -> bool:
    """Whether the program defines a function or class at top level."""
    return any(isinstance(statement, Definition) for statement in program.tree.body)


def more_than_stubs(program: Program, names: Container[str] = ()) -> bool:
    """Whether some function or class at top level is more than a stub, or one of ``names`` has a value."""
    return any(
        not _is_stub(statement)
        if isinstance(statement, Definition)
        else isinstance(statement, ast.Assign | ast.AnnAssign)
        and not _lacks_value(statement)
        and any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(statement))
        for statement in program.tree.body
    )


def signature(program: Program, name: str) -> str:
    """The source up to the first statement of the function ``name`` after its docstring; empty without such a place."""
    for top in program.tree.body:
        if isinstance(top, Function) and top.name == name:
            body = top.body[ast.get_docstring(top, clean=False) is not None :]
            first = min(
                (part.lineno for node in body[:1] for part in ast.walk(node) if hasattr(part, "lineno")), default=0
            )
            opened = top.body[0].lineno if body != top.body else top.lineno
            return "\n".join(program.source.split("\n")[: first - 1]) if first > opened else ""
    return ""


def source_of(program: Program, name: str) -> str:
    """The source of the function ``name`` at top level; empty without one."""
    lines = program.source.split("\n")
    tops = [top for top in program.tree.body if isinstance(top, Function) and top.name == name]
    return "\n".join(lines[tops[-1].lineno - 1 : tops[-1].end_lineno]) if tops else ""


def defined_names(program: Program, *, imports: bool = True) -> set[str]:
    """Names that the program binds outside of functions and classes. ``imports``: also by importing them."""
    names: set[str] = set()
    nodes: list[ast.AST] = [program.tree]
    while nodes:
        node = nodes.pop()
        names |= _bound_by(node) if imports or not isinstance(node, ast.alias) else set()
        if not isinstance(node, Definition):
            nodes.extend(ast.iter_child_nodes(node))
    return names


def lacking_names(program: Program) -> set[str]:
    """Names that the program reads but binds nowhere, except builtins."""
    read: set[str] = set()
    bound: set[str] = set()
    for node in ast.walk(program.tree):
        bound |= _bound_by(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            read.add(node.id)
    return read - bound - _BUILTINS


def returns_after(program: Program, name: str, line: int) -> bool:
    """Whether the function ``name`` itself, not one within it, returns or yields below ``line`` (from 1)."""
    nodes: list[ast.AST] = []
    for statement in program.tree.body:
        if isinstance(statement, Function) and statement.name == name:
            nodes.extend(statement.body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) and node.lineno > line:
            return True
        if not isinstance(node, Definition | ast.Lambda):
            nodes.extend(ast.iter_child_nodes(node))
    return False


def after(program: Program, name: str) -> int:
    """The number of statements up to the definition of ``name``; all if it is not defined."""
    body = program.tree.body
    return next((n for n, statement in enumerate(body, 1) if _binds(statement, name)), len(body))


def after_definitions(program: Program) -> int:
    """The number of statements up to the last function or class."""
    places = [n for n, statement in enumerate(program.tree.body, 1) if isinstance(statement, Definition)]
    return max(places, default=0)


def without_examples(program: Program, start: int = 0, given: Program | None = None) -> Program:
    """The program without top-level calls, asserts, input and ``__main__`` parts after ``start`` statements.

    Such lines only try a program out, and could make it fail. Lines that the ``given`` program has too are part of the
    program and stay, and so does a ``__main__`` part if the given program has one.
    """
    examples = [statement for statement in program.tree.body[start:] if _is_example(statement)]
    lines = [it for it in given.tree.body if _is_example(it) and not _is_empty(it)] if given else []
    if given and (own := set(_texts(given, lines))):
        texts = zip(examples, _texts(program, examples), strict=True)
        examples = [statement for statement, text in texts if text not in own]
    return without(program, set(examples))


def is_main(statement: ast.stmt) -> bool:
    """Whether it is a ``__main__`` part."""
    return isinstance(statement, ast.If) and any(
        isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(statement.test)
    )


def _texts(program: Program, statements: Iterable[ast.stmt]) -> Iterator[str]:
    """A text for each statement; equal for ``__main__`` parts, and for statements that differ only in their layout."""
    lines = program.source.split("\n")
    for statement in statements:
        yield "__main__" if is_main(statement) else shape("\n".join(lines[statement.lineno - 1 : statement.end_lineno]))


def without(program: Program, statements: Collection[ast.stmt]) -> Program:
    """The program without some of its top-level statements, except on lines that they share with others."""
    kept = [statement for statement in program.tree.body if statement not in statements]
    shared = {line for statement in kept for line in (statement.lineno, statement.end_lineno)}
    dropped: set[int] = set()
    for statement in statements:
        lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        if shared.isdisjoint((lines[0], lines[-1])):
            dropped.update(lines)
    if not dropped:
        return program
    lines_kept = [line for number, line in enumerate(program.source.split("\n"), 1) if number not in dropped]
    return Program("\n".join(lines_kept).rstrip() + "\n", ast.Module(kept, []))


def _binds(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, Definition):
        return statement.name == name and not _is_stub(statement)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _is_stub(definition: Definition) -> bool:
    """Whether a function has only empty parts, and a class only these, stubs and names without a value."""
    if isinstance(definition, ast.ClassDef):
        return all(
            _is_stub(part) if isinstance(part, Definition) else _is_empty(part) or _lacks_value(part)
            for part in definition.body
        )
    return all(_is_empty(part) for part in definition.body)


def _lacks_value(part: ast.stmt) -> bool:
    """Whether it assigns None or ``...``, as stubs of constants do, or declares a name."""
    if not isinstance(part, ast.Assign | ast.AnnAssign):
        return False
    return part.value is None or (isinstance(part.value, ast.Constant) and part.value.value in (None, ...))


def _is_empty(part: ast.stmt) -> bool:
    """Whether it is ``pass``, ``...``, a docstring or ``raise NotImplementedError``."""
    if isinstance(part, ast.Raise):
        return any(isinstance(node, ast.Name) and node.id == "NotImplementedError" for node in ast.walk(part))
    return isinstance(part, ast.Pass) or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))


def _is_example(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr | ast.Assert):
        return True
    if isinstance(statement, ast.AnnAssign) and statement.value is None:  # ``Note: words``, not a declaration
        return True
    if isinstance(statement, Definition):
        return False
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    # Wider than ``is_main``: also a ``__main__`` part within another ``if`` would only try the program out.
    return "input" in names or (isinstance(statement, ast.If) and "__name__" in names)


def _bound_by(node: ast.AST) -> set[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return {name}
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.alias(name=module, asname=name):
            return {name or module.split(".")[0]}
        case ast.ExceptHandler(name=str(name)):
            return {name}
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return {name}
    return set()

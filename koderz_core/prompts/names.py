"""The names that a program defines and lacks, and its example code, which only calls or checks it."""

from __future__ import annotations

import ast
import builtins

from koderz_core.prompts.programs import Program

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef

_BUILTINS = frozenset(dir(builtins))


def defines(program: Program, name: str) -> bool:
    """Whether ``name`` is defined at top level by more than a stub."""
    return any(_binds(statement, name) for statement in program.tree.body)


def has_definition(program: Program) -> bool:
    """Whether the program defines a function or class at top level."""
    return any(isinstance(statement, Definition) for statement in program.tree.body)


def defined_names(program: Program) -> set[str]:
    """Names that the program binds outside of functions and classes."""
    names: set[str] = set()
    nodes: list[ast.AST] = [program.tree]
    while nodes:
        node = nodes.pop()
        names |= _bound_by(node)
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


def without_examples(program: Program, name: str | None = None) -> Program:
    """The program without top-level calls, asserts, input and ``__main__`` parts after the definition of ``name``.

    ``name`` None: also before it. Such lines only try a program out, and could make it fail.
    """
    body = program.tree.body
    start = (
        0 if name is None else next((n for n, statement in enumerate(body, 1) if _binds(statement, name)), len(body))
    )
    examples = {statement for statement in body[start:] if _is_example(statement)}
    kept = [statement for statement in body if statement not in examples]
    shared = {line for statement in kept for line in (statement.lineno, statement.end_lineno)}
    dropped: set[int] = set()
    for statement in examples:
        lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        if shared.isdisjoint((lines[0], lines[-1])):
            dropped.update(lines)
    if not dropped:
        return program
    lines_kept = [line for number, line in enumerate(program.source.split("\n"), 1) if number not in dropped]
    return Program("\n".join(lines_kept).rstrip() + "\n", ast.Module(kept, []))


def _binds(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, Definition):
        return statement.name == name and not all(_is_stub(part) for part in statement.body)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _is_stub(part: ast.stmt) -> bool:
    """Whether it is ``pass``, ``...``, a docstring or ``raise NotImplementedError``; a stub has only such parts."""
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
    return set()

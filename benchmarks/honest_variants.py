"""Mechanical rewrites of correct patches that keep the behaviour: five for each function that a patch changes."""

from __future__ import annotations

import ast
import itertools
import textwrap
from collections.abc import Callable, Iterator

from koderz_core.patches import apply_patch, make_patch
from koderz_core.records import Problem

Function = ast.FunctionDef | ast.AsyncFunctionDef
Rewrite = Callable[[Function], list[ast.stmt] | None]
"""The statements in the place of a function; None if the rewrite does not apply to it."""
_SIMPLE = (
    ast.Name,
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.expr_context,
    ast.Compare,
    ast.cmpop,
    ast.UnaryOp,
    ast.unaryop,
)
_INNER = (ast.Global, ast.Nonlocal, ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.comprehension,
          ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping)  # fmt: skip


def variants(problem: Problem) -> Iterator[tuple[str, str]]:
    """Names and patches of the rewrites that apply to a task."""
    files = problem.public.files
    corrected = apply_patch(problem.canonical_solution, files)
    for name, rewrite in REWRITES.items():
        changed = dict(corrected)
        for path, text in corrected.items():
            if text != files.get(path):
                lines = changed_lines(files.get(path, ""), text)
                changed[path] = rewritten(text, lines, rewrite)
                if changed[path] == text and rewrite in _OTHERWISE:
                    changed[path] = _OTHERWISE[rewrite](text, lines)
        if changed != corrected:
            yield name, make_patch(files, changed)


def changed_lines(before: str, after: str) -> set[int]:
    """The numbers of the lines of ``after`` between the first and the last that differ."""
    old, new = before.split("\n"), after.split("\n")
    first = next((at for at, (item, other) in enumerate(zip(old, new, strict=False)) if item != other), 0)
    backwards = zip(reversed(old), reversed(new), strict=False)
    last = next((at for at, (backward, other) in enumerate(backwards) if backward != other), 0)
    return set(range(first + 1, max(first + 2, len(new) - last + 1)))


def rewritten(text: str, lines: set[int], rewrite: Rewrite) -> str:
    """The text with the innermost functions around these lines rewritten; unchanged if that cannot be."""
    parts = text.split("\n")
    for node in sorted(_touched(ast.parse(text), lines), key=lambda node: -node.lineno):
        made = rewrite(node)
        if made is None:
            continue
        start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
        code = "\n".join(ast.unparse(ast.fix_missing_locations(statement)) for statement in made)
        parts[start : node.end_lineno] = textwrap.indent(code, " " * node.col_offset).split("\n")
    result = "\n".join(parts)
    try:
        ast.parse(result)
    except SyntaxError:
        return text
    return result


def _touched(tree: ast.Module, lines: set[int]) -> list[Function]:
    """Functions of modules and classes, not of functions, that have one of these lines."""
    found: list[Function] = []
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if lines & set(range(node.lineno, (node.end_lineno or node.lineno) + 1)):
                found.append(node)
        else:
            todo += ast.iter_child_nodes(node)
    return found


def renamed(function: Function) -> list[ast.stmt] | None:
    """Local variables have other names, except those that an inner scope binds as well."""
    nodes = [node for statement in function.body for node in ast.walk(statement)]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    if {node.id for node in names} & {"locals", "vars", "eval", "exec"}:
        return None
    inner = [part for node in nodes if isinstance(node, _INNER) for part in ast.walk(node)]
    bound = {part.id for part in inner if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    bound |= {name for node in inner for name in _bound(node)}
    bound |= {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)} - bound
    for node in names:
        node.id = f"other_{node.id}" if node.id in own else node.id
    return [function] if own else None


def _bound(node: ast.AST) -> list[str]:
    """The names that a node binds, except by an ``ast.Name``."""
    given = getattr(node, "names", [])
    texts = [getattr(node, field, None) for field in ("arg", "name", "rest")]
    return [text for text in (*texts, *(given if isinstance(given, list) else [])) if isinstance(text, str)]


def reordered(function: Function) -> list[ast.stmt] | None:
    """Two assignments that do not depend on each other change places."""
    for node in [function, *ast.walk(function)]:
        body = getattr(node, "body", None)
        for at in range(len(body) - 1 if isinstance(body, list) else 0):
            if _independent(body[at], body[at + 1]):
                body[at], body[at + 1] = body[at + 1], body[at]
                return [function]
    return None


def exchanged(text: str, lines: set[int]) -> str:
    """The text after a touched function and its neighbour change places, if neither has decorators or defaults."""
    parts = text.split("\n")
    for parent in ast.walk(ast.parse(text)):
        body = [node for node in getattr(parent, "body", []) if isinstance(node, ast.stmt)] if _is_scope(parent) else []
        for first, second in itertools.pairwise(body):
            touched = any(lines & set(range(node.lineno, (node.end_lineno or 0) + 1)) for node in (first, second))
            if touched and _may_change_places(first) and _may_change_places(second):
                one, other = (slice(node.lineno - 1, node.end_lineno) for node in (first, second))
                between = parts[one.stop : other.start]
                parts[one.start : other.stop] = [*parts[other], *between, *parts[one]]
                return "\n".join(parts)
    return text


def spaced(text: str, lines: set[int]) -> str:
    """The text with a comment and an empty line in each touched function."""
    parts = text.split("\n")
    for node in sorted(_touched(ast.parse(text), lines), key=lambda node: -node.lineno):
        at = node.body[0].lineno - 1
        if at > node.lineno - 1:
            parts[at:at] = [f"{' ' * node.body[0].col_offset}# The layout differs.", ""]
    return "\n".join(parts)


def _is_scope(node: ast.AST) -> bool:
    return isinstance(node, ast.Module | ast.ClassDef)


def _may_change_places(node: ast.stmt) -> bool:
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return False
    return not any(isinstance(part, ast.Name) for default in node.args.defaults for part in ast.walk(default))


def _independent(first: ast.stmt, second: ast.stmt) -> bool:
    if not (isinstance(first, ast.Assign) and isinstance(second, ast.Assign)):
        return False
    if not all(isinstance(node, _SIMPLE) for part in (first, second) for node in ast.walk(part) if node is not part):
        return False
    stored, read = zip(*(_stored_and_read(part) for part in (first, second)), strict=True)
    return not (stored[0] & (stored[1] | read[1]) or stored[1] & read[0])


def _stored_and_read(node: ast.AST) -> tuple[set[str], set[str]]:
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    return tuple({part.id for part in names if isinstance(part.ctx, kind)} for kind in (ast.Store, ast.Load))  # type: ignore[return-value]  # two


def extracted(function: Function) -> list[ast.stmt] | None:
    """The body is in a function of its own, which the function calls with its arguments."""
    if isinstance(function, ast.AsyncFunctionDef) or not _may_move(function):
        return None
    arguments = function.args
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    is_method = positional[:1] == ["self"]
    name = f"_extracted_{function.name.strip('_')}"
    inner = ast.FunctionDef(name, _without_defaults(arguments), function.body, [], None, None, lineno=0)
    target: ast.expr = ast.Name(name, ast.Load())
    if is_method:
        target = ast.Attribute(ast.Name("self", ast.Load()), name, ast.Load())
    passed: list[ast.expr] = [ast.Name(argument, ast.Load()) for argument in positional[is_method:]]
    if arguments.vararg:
        passed.append(ast.Starred(ast.Name(arguments.vararg.arg, ast.Load()), ast.Load()))
    words = [ast.keyword(argument.arg, ast.Name(argument.arg, ast.Load())) for argument in arguments.kwonlyargs]
    if arguments.kwarg:
        words.append(ast.keyword(None, ast.Name(arguments.kwarg.arg, ast.Load())))
    documented = [function.body[0]] if ast.get_docstring(function) else []
    call = ast.Return(ast.Call(target, passed, words))
    outer = ast.FunctionDef(function.name, arguments, [*documented, call], function.decorator_list, function.returns,
                            None, lineno=0)  # fmt: skip
    return [inner, outer] if not is_method else [outer, inner]


def _may_move(function: Function) -> bool:
    """Whether the body may be in another function: of the same module, or a method of the same class."""
    kinds = {ast.unparse(decorator).rpartition(".")[2] for decorator in function.decorator_list}
    first = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)][:1]
    in_class = function.col_offset > 0
    if kinds & {"staticmethod", "classmethod", "overload"} or (in_class and first != ["self"]):
        return False
    return not any(
        isinstance(node, ast.Call) and ast.unparse(node.func).endswith("_getframe") for node in ast.walk(function)
    )


def _without_defaults(arguments: ast.arguments) -> ast.arguments:
    return ast.arguments(arguments.posonlyargs, arguments.args, arguments.vararg, arguments.kwonlyargs,
                         [None] * len(arguments.kwonlyargs), arguments.kwarg, [])  # fmt: skip


def annotated(function: Function) -> list[ast.stmt] | None:
    """Arguments and the result without type hints get some."""
    for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        if argument.arg not in ("self", "cls"):
            argument.annotation = argument.annotation or ast.Name("object", ast.Load())
    function.returns = function.returns or ast.Constant("object")
    return [function]


def formatted(function: Function) -> list[ast.stmt] | None:
    """Python's own formatting, without comments."""
    return [function]


REWRITES: dict[str, Rewrite] = {
    "renamed locals": renamed,
    "reordered statements": reordered,
    "extracted function": extracted,
    "added type hints": annotated,
    "formatting": formatted,
}
_OTHERWISE: dict[Rewrite, Callable[[str, set[int]], str]] = {reordered: exchanged, formatted: spaced}
"""What is done with the text if the rewrite leaves it as it is."""

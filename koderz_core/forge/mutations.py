"""Faults in the functions of a module: small changes, removed bodies, dropped branches, and combinations of them.

The small changes are those of ``grading.mutants``. Removed bodies and combinations are as in SWE-smith (Yang et al.,
arXiv 2504.21798). Each fault changes only the lines that it needs (``text_edits``).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from random import Random

from koderz_core.forge.text_edits import EditedModule
from koderz_core.grading.mutants import Change, changes_in
from koderz_core.sandbox.repository.names import Function
from koderz_core.sandbox.repository.rewriting import Edit

SHORT_FUNCTION = 40
"""Lines of a function in which faults are preferred."""
COMBINED = "combined"
REMOVED_BODY = "removed body"
_LEAST_BODY = 2  # statements of a body whose removal is a task
_BODIES = ("raise NotImplementedError", "return None")
_MOST_COMBINED = 3  # combinations in one function
_NAMES: Mapping[type[ast.AST], str] = {
    ast.Compare: "comparison",
    ast.BinOp: "arithmetic",
    ast.AugAssign: "arithmetic",
    ast.BoolOp: "boolean operator",
    ast.UnaryOp: "negation",
    ast.Constant: "constant",
    ast.IfExp: "condition",
    ast.If: "condition",
    ast.comprehension: "filter",
    ast.Slice: "slice",
    ast.Call: "call",
    ast.Return: "return value",
    ast.Break: "jump",
    ast.Continue: "jump",
}


@dataclass(frozen=True, slots=True)
class Place:
    """A function: the path of its module, its name with those of its classes, its first line and its length."""

    path: str
    name: str
    line: int
    lines: int


@dataclass(frozen=True, slots=True)
class Mutation:
    """A module with a fault. ``text`` is the whole module, which may be hostile; ``operator``: the kind of fault."""

    place: Place
    operator: str
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A possible fault, whose edits are computed only when it is tried; none if it cannot be made."""

    place: Place
    function: Function
    operator: str
    edits: Callable[[], tuple[Edit, ...]]


class Mutator:
    """The possible faults of the modules of a tree, in an order that depends only on texts and seed."""

    def __init__(self, texts: Mapping[str, str], seed: str) -> None:
        """``texts``: the modules that may get a fault, by path. A module that cannot be parsed is omitted."""
        self._modules: dict[str, EditedModule] = {}
        self._random = Random(seed)  # noqa: S311 (a sample)
        self._seen: set[tuple[Place, object]] = set()
        for path, text in sorted(texts.items()):
            try:
                self._modules[path] = EditedModule(text)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue

    def rounds(self) -> Iterator[tuple[Mutation, ...]]:
        """Groups of at most one fault per function, the functions of up to ``SHORT_FUNCTION`` lines first.

        The kinds of faults are spread evenly. No two faults compile to the same instructions.
        """
        sites: dict[Place, list[Site]] = {}
        for path, module in self._modules.items():
            for site in _sites(path, module, self._random):
                sites.setdefault(site.place, []).append(site)
        for long in (False, True):
            chosen = {place: found for place, found in sites.items() if (place.lines > SHORT_FUNCTION) is long}
            used: Counter[str] = Counter()
            while any(chosen.values()):
                places = [place for place, left in chosen.items() if left]
                self._random.shuffle(places)
                yield tuple(filter(None, (self._next(chosen[place], used) for place in places)))

    def _next(self, left: list[Site], used: Counter[str]) -> Mutation | None:
        """The next fault of a function, of the least used kind; None if none of the rest can be made."""
        while left:
            least = min(used[site.operator] for site in left)
            site = next(site for site in left if used[site.operator] == least)
            left.remove(site)
            if mutation := self._made(site):
                used[site.operator] += 1
                return mutation
        return None

    def _made(self, site: Site) -> Mutation | None:
        module = self._modules[site.place.path]
        edits = site.edits()
        if not edits:
            return None
        print_ = module.print_of(site.function, edits)
        key = (site.place, print_)
        if print_ is None or print_ == module.print_of(site.function) or key in self._seen:
            return None
        self._seen.add(key)
        return Mutation(site.place, site.operator, module.applied(edits))


def _sites(path: str, module: EditedModule, random: Random) -> Iterator[Site]:
    """The possible faults of a module in a random order within each function."""
    functions = _functions(module.tree, path)
    small: dict[Place, list[Site]] = {}
    for change in changes_in(module.tree):
        if found := _place_of(change, functions):
            function, place = found
            edits = partial(_single, partial(module.edit_of, change, function))
            small.setdefault(place, []).append(Site(place, function, _operator(change), edits))
    for function, place in functions:
        faults = small.get(place, [])
        random.shuffle(faults)
        others = [*_bodies(module, function, place), *_branches(module, function, place)]
        others += _combined(faults, random)
        random.shuffle(others)
        yield from others
        yield from faults


def _functions(tree: ast.Module, path: str) -> list[tuple[Function, Place]]:
    """The functions and methods of a module, without those inside other functions."""
    found: list[tuple[Function, Place]] = []

    def visit(body: Sequence[ast.stmt], outer: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{outer}{node.name}.")
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                found.append((node, Place(path, f"{outer}{node.name}", node.lineno, lines)))
            elif isinstance(node, ast.If | ast.Try):
                visit([*node.body, *node.orelse], outer)

    visit(tree.body, "")
    return found


def _place_of(change: Change, functions: Sequence[tuple[Function, Place]]) -> tuple[Function, Place] | None:
    """The function whose body contains a change."""
    line = change.line or int(getattr(change.parent, "lineno", 0))
    for function, place in functions:
        if function.body[0].lineno <= line < place.line + place.lines:
            return function, place
    return None


def _operator(change: Change) -> str:
    if isinstance(change.new, ast.Pass):
        return "dropped branch" if isinstance(change.old, ast.If) else "removed statement"
    return _NAMES.get(type(change.old), "other")


def _single(find: Callable[[], Edit | None]) -> tuple[Edit, ...]:
    edit = find()
    return (edit,) if edit else ()


def _bodies(module: EditedModule, function: Function, place: Place) -> Iterator[Site]:
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    if len(body) < _LEAST_BODY or (indentation := module.indentation(body[0])) is None:
        return
    for text in _BODIES:
        yield Site(place, function, REMOVED_BODY, partial(_body, module, body, f"{indentation}{text}\n"))


def _body(module: EditedModule, body: Sequence[ast.stmt], text: str) -> tuple[Edit, ...]:
    whole = module.without_lines(body[0].lineno, body[-1].end_lineno or body[-1].lineno)
    return (Edit(whole.start, whole.end, text),)


def _branches(module: EditedModule, function: Function, place: Place) -> Iterator[Site]:
    """Conditions without their else, and blocks that are left out."""
    for node in ast.walk(function):
        if isinstance(node, ast.If) and node.orelse:
            yield Site(place, function, "dropped branch", partial(_without_else, module, node))
        elif isinstance(node, ast.For | ast.While | ast.With):
            yield Site(place, function, "removed block", partial(_single, partial(module.removal, node)))


def _without_else(module: EditedModule, node: ast.If) -> tuple[Edit, ...]:
    last = node.body[-1].end_lineno or node.lineno
    edit = module.without_lines(last + 1, node.end_lineno or last)
    return (edit,) if edit.end > edit.start else ()


def _combined(small: Sequence[Site], random: Random) -> Iterator[Site]:
    """Two or three small faults in one function."""
    if len(small) < _MOST_COMBINED:
        return
    pairs = list(combinations(small[:12], 2))
    for number, pair in enumerate(random.sample(pairs, min(_MOST_COMBINED, len(pairs)))):
        third = [random.choice(small)] if number % 2 else []
        yield Site(small[0].place, small[0].function, COMBINED, partial(_joined, [*pair, *third]))


def _joined(sites: Sequence[Site]) -> tuple[Edit, ...]:
    """The edits of all sites; none if two of them overlap or one cannot be made."""
    edits: list[Edit] = []
    for site in dict.fromkeys(sites):
        edits += site.edits()
    edits.sort()
    apart = all(before.end <= after.start for before, after in pairwise(edits))
    return tuple(edits) if len(edits) == len(dict.fromkeys(sites)) and apart else ()

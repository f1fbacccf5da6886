"""Controls: observations of known values, strewn into tests, that no program takes part in.

They look like the other observations of a test. If the report of one is not what it must be, something in the process
changes reports, whatever the program computes.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from koderz_core.python_parser import literal
from koderz_core.sandbox.inside.faults import excerpt
from koderz_core.sandbox.inside.instrument import last_name
from koderz_core.sandbox.repository.literal_values import NotLiteralError, value_of
from koderz_core.sandbox.repository.sites import CONTROL, END, Site

_SIMPLE: tuple[Any, ...] = (0, 1, 2, "a", "value", [1, 2], [], {"a": 1}, None, True, (1, "b"))
_MOST = 200  # characters of the source of a value
_ERRORS = (("''.index('x')", "ValueError"), ("{}['a']", "KeyError"), ("[][0]", "IndexError"))
_EVEN = 0.5
Add = Callable[[Site], str]
Call = Callable[..., str]


def sources_of(values: Sequence[Any]) -> list[tuple[str, Any]]:
    """The values that have a short source, with their sources; with a few simple ones."""
    found: dict[str, Any] = {}
    for value in [*_SIMPLE, *values]:
        source = excerpt(repr(value), _MOST + 1)
        if len(source) <= _MOST and has_source(value, source):
            found[source] = value
    return list(found.items())


def arguments_in(nodes: Iterable[ast.AST], shadowed: frozenset[str]) -> Iterator[Any]:
    """The values of literals that calls in tests have as arguments. Literals that tests expect are not among them."""
    for node in nodes:
        is_assertion = isinstance(node, ast.Call) and last_name(node.func).startswith("assert")
        if isinstance(node, ast.expr) and _literal(node, shadowed):
            continue
        if isinstance(node, ast.Call) and not is_assertion:
            yield from (value for argument in node.args for value in _literal(argument, shadowed))
        yield from arguments_in(ast.iter_child_nodes(node), shadowed)


def _literal(node: ast.expr, shadowed: frozenset[str]) -> list[Any]:
    """The value of a literal in a list; an empty list for anything else."""
    try:
        return [value_of(node, shadowed)]
    except NotLiteralError:
        return []


def has_source(value: object, source: str) -> bool:
    """Whether the source is a literal of exactly this value."""
    try:
        again = literal(source)
        return type(again) is type(value) and bool(again == value)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return False


def other_source(value: object, pool: Sequence[tuple[str, Any]], lot: random.Random) -> str:
    """The source of a value of the same type, if there is one, that differs."""
    alike = [source for source, other in pool if type(other) is type(value) and other != value]
    return lot.choice(alike or [source for source, other in pool if other != value])


def end(owner: str, pool: Sequence[tuple[str, Any]], lot: random.Random, add: Add) -> str:
    """The argument of the report that a test has reached its end: one of two sites, of which only one is real.

    Which one is known only after a comparison has been made, so that a process cannot copy it from the source.
    """
    (first, own), (second, other) = lot.choice(pool), lot.choice(pool)
    real = repr(add(Site(f"{owner}:end", owner, END, "", END)))
    decoy = repr(add(Site(f"{owner}:end", owner, END, "", CONTROL)))
    answers = (real, decoy) if own == other else (decoy, real)
    return f"{answers[0]} if {first} == {second} else {answers[1]}"


def control(form: str, owner: str, pool: Sequence[tuple[str, Any]], lot: random.Random, add: Add, call: Call) -> str:
    """A statement with a control of this form."""
    (first, own), (second, other) = lot.choice(pool), lot.choice(pool)
    if lot.random() < _EVEN / 2:
        second, other = first, own

    def site(expected: object, kind: str = form) -> str:
        return add(Site(f"{owner}:control", owner, kind, first, CONTROL, expected=expected))

    if form == "value":
        return call("value", site(own), first)
    if form == "pair":
        return call("pair", site((own, other)), first, second)
    if form == "kind":
        return call("kind", site([f"builtins.{part.__name__}" for part in type(own).__mro__]), first)
    if form == "raises":
        body, name = lot.choice(_ERRORS)
        expected = None if lot.random() < _EVEN else name
        return f"with {call('raises', site(expected))}: {body if expected else first}"
    flipped = lot.random() < _EVEN
    if lot.random() < _EVEN:
        answers = [own == other, own != other]
        return call(
            "unequal" if flipped else "equal", site([answer is not flipped for answer in answers]), first, second
        )
    text = f"{first} == {second}"
    return call("truth", site([(own == other) is not flipped]), f"not ({text})" if flipped else text)

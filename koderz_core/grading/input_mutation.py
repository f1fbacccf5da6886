"""New inputs of a function: mutations of given inputs, type by type, and values of the types that it declares.

Type-aware mutation: Liu et al., arXiv 2305.01210, section 2.2 and table 1. Its seeds here are the inputs of the given
tests, and its contracts, which own problems lack, are replaced by ``input_domain``.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random

from koderz_core.grading.input_domain import Domain, Place, Value
from koderz_core.python_parser import parse
from koderz_core.records import Problem

MOST_CHARACTERS = 4000
"""Length limit of one input."""
_TRIES_EACH = 40  # mutations per input that is wanted, as many are outside the domain
_SHARE = 0.1  # of changes that take a given value, and as many a constant of the solution
_MOST_CONSTANT = 60  # characters
_CHANGES = (1, 1, 1, 2, 2, 4)  # of one input
_EMPTY: Mapping[str, Value] = {
    "int": 1,
    "float": 1.5,
    "str": "a",
    "bool": True,
    "list": [],
    "dict": {},
    "NoneType": None,
}
"""The first value of a type that is declared but not given."""
_NAMES = {"List": "list", "Sequence": "list", "Iterable": "list", "Dict": "dict", "Mapping": "dict"}


def new_inputs(problem: Problem, given: Sequence[list[Value]], most: int, seed: int) -> list[list[Value]]:
    """At most ``most`` inputs, none of them ``given``, in a random order that ``seed`` determines."""
    kinds = declared(problem)
    domain, random = Domain(given, kinds), Random(f"{seed}/{problem.id}")  # noqa: S311 (reproducible)
    seeds, known = list(given), {json.dumps(call) for call in given}
    mutation, found = _Mutation(domain, kinds, _constants(problem), random), list[list[Value]]()
    for _ in range(most * _TRIES_EACH):
        if len(found) == most:
            break
        call = mutation.of(random.choice([given, seeds]))
        text = json.dumps(call)
        if text not in known and len(text) <= MOST_CHARACTERS and domain.has(call):
            known.add(text)
            seeds.append(call)
            found.append(call)
    return found


def declared(problem: Problem) -> Mapping[Place, frozenset[str]]:
    """The types that the function's annotations name, by their place. Empty without annotations."""
    functions = (node for node in ast.walk(parse(problem.canonical_solution)) if isinstance(node, ast.FunctionDef))
    function = next((node for node in functions if node.name == problem.public.entry_point), None)
    if function is None:
        return {}
    kinds: dict[Place, set[str]] = {}
    for number, parameter in enumerate([*function.args.posonlyargs, *function.args.args]):
        for place, name in _named((number,), parameter.annotation):
            kinds.setdefault(place, set()).add(name)
    return {place: frozenset(names) for place, names in kinds.items()}


def _named(place: Place, annotation: ast.expr | None) -> Iterator[tuple[Place, str]]:
    match annotation:
        case ast.Name(id=name) | ast.Attribute(attr=name) if _NAMES.get(name, name) in _EMPTY:
            yield place, _NAMES.get(name, name)
        case ast.Constant(value=None):
            yield place, "NoneType"
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from (*_named(place, left), *_named(place, right))
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inner):
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            yield from _of_parts(place, _NAMES.get(name, name), parts)


def _of_parts(place: Place, name: str, parts: Sequence[ast.expr]) -> Iterator[tuple[Place, str]]:
    if name in ("Union", "Optional"):
        yield from (found for part in parts for found in _named(place, part))
        yield from [(place, "NoneType")] if name == "Optional" else []
    if name in ("list", "dict"):
        below = ("*",) if name == "list" else ("key", "value")
        yield place, name
        yield from (found for step, part in zip(below, parts, strict=False) for found in _named((*place, step), part))


def _constants(problem: Problem) -> Mapping[type, Sequence[Value]]:
    """The constants in the solution and their neighbours, by type: where its behaviour changes.

    Fraser, Arcuri, "The Seed is Strong", ICST 2012.
    """
    nodes = (node for node in ast.walk(parse(problem.canonical_solution)) if isinstance(node, ast.Constant))
    found: dict[type, dict[Value, None]] = {}
    for value in (node.value for node in nodes):
        near: list[Value] = []
        if type(value) in (int, float):
            near = [value - 1, value, value + 1]  # type: ignore[operator]  # it is a number
        elif isinstance(value, str) and 0 < len(value) <= _MOST_CONSTANT:  # no docstring
            near = [value]
        found.setdefault(type(value), {}).update(dict.fromkeys(near))
    return {kind: list(values) for kind, values in found.items()}


class _Mutation:
    """Changes inputs. All values that occur at a place in given inputs are ingredients for that place."""

    def __init__(
        self,
        domain: Domain,
        kinds: Mapping[Place, frozenset[str]],
        constants: Mapping[type, Sequence[Value]],
        random: Random,
    ) -> None:
        self._random, self._constants = random, constants
        self._pools = {place: list(values) for place, values in domain.values.items()}
        for place, names in kinds.items():
            pool = self._pools.setdefault(place, [])
            pool += [_EMPTY[name] for name in sorted(names - {type(value).__name__ for value in pool})]

    def of(self, seeds: Sequence[list[Value]]) -> list[Value]:
        """One of the inputs after some changes, mostly one, so that its structure remains."""
        call = json.loads(json.dumps(self._random.choice(seeds)))
        for _ in range(self._random.choice(_CHANGES) if call else 0):
            number = self._random.randrange(len(call))
            call[number] = self._changed((number,), call[number])
        return list(call)

    def _changed(self, place: Place, value: Value) -> Value:
        lot = self._random.random()
        if lot < _SHARE:
            return self._ingredient(place, value)
        if lot > 1 - _SHARE and not isinstance(value, str):
            return self._random.choice(self._constants.get(type(value)) or [value])
        changes: dict[type, Callable[[Place, Value], Value]] = {
            bool: lambda _place, value: not value,
            int: self._int,
            float: self._float,
            str: self._text,
            list: self._list,
            dict: self._dict,
        }
        return changes.get(type(value), self._ingredient)(place, value)

    def _ingredient(self, place: Place, value: Value) -> Value:
        return self._random.choice(self._pools.get(place) or [value])

    def _int(self, place: Place, value: int) -> int:
        near = self._ingredient(place, value)
        other = near if type(near) is int else value
        return self._random.choice([value + 1, value - 1, -value, 0, 2 * value, value // 2, value + other, other + 1])

    def _float(self, _place: Place, value: float) -> float:
        other = self._random.choice([value + 1, value - 1, -value, value / 2, value + self._random.uniform(-1, 1)])
        return round(other, self._random.randint(0, 3))

    def _text(self, place: Place, value: str) -> str:
        alphabet = "".join(text for text in self._pools.get(place, ()) if isinstance(text, str)) or value or "a"
        constant = self._random.choice(self._constants.get(str) or [alphabet])
        start, end = sorted(self._random.choices(range(len(value) + 1), k=2))
        middle, letter = value[start:end], self._random.choice(alphabet)
        other = self._ingredient(place, value)
        changed = [
            value[:start] + value[end:],
            value[:end] + middle + value[end:],
            value[:start] + letter + value[start:],
            value[:start] + letter + value[start + 1 :],
            value[:start] + self._random.choice([constant, *constant]) + value[end:],
            value[:start] + middle[::-1] + value[end:],
            value[:start] + middle.swapcase() + value[end:],
            value + other if isinstance(other, str) else value,
            *self._with_number(value),
        ]
        return str(self._random.choice(changed))

    def _with_number(self, value: str) -> Iterator[str]:
        """The text with one of the numbers in it changed, with as many digits: often, if there is one."""
        numbers = list(re.finditer("[0-9]+", value))
        for _ in range(4 if numbers else 0):
            number = self._random.choice(numbers)
            near = [int(number[0]) + step for step in (-1, 1)] if len(number[0]) < 10 else []
            other = self._random.choice([*near, self._random.randrange(10 ** min(len(number[0]), 10))])
            yield f"{value[: number.start()]}{abs(other):0{len(number[0])}}{value[number.end() :]}"

    def _list(self, place: Place, value: list[Value]) -> list[Value]:
        start, end = sorted(self._random.choices(range(len(value) + 1), k=2))
        item, other = self._ingredient((*place, "*"), None), self._ingredient(place, value)
        item = item if (*place, "*") in self._pools else value[start - 1] if value else None
        whole = list(value)
        return self._random.choice(
            [
                value[:start] + value[end:],
                value[:end] + value[start:end] + value[end:],
                [*value[:start], item, *value[start:]] if (*place, "*") in self._pools or value else value,
                self._with_item(place, value),
                self._with_item(place, value),
                self._random.sample(whole, len(whole)),
                value[::-1],
                value + other if isinstance(other, list) else value,
                [self._changed((*place, "*"), part) for part in value],
            ]
        )

    def _with_item(self, place: Place, value: list[Value]) -> list[Value]:
        """The list with one item changed, or with an item that occurs elsewhere in it."""
        if not value:
            return value
        at = self._random.randrange(len(value))
        item = self._random.choice([self._changed((*place, "*"), value[at]), self._random.choice(value)])
        return [*value[:at], item, *value[at + 1 :]]

    def _dict(self, place: Place, value: dict[str, Value]) -> dict[str, Value]:
        keys = [*value, *(key for key in self._pools.get((*place, "key"), ()) if isinstance(key, str))]
        if not keys:
            return value
        key = self._random.choice(keys)
        old = value.get(key, self._ingredient((*place, "value"), None))
        return self._random.choice(
            [
                {name: item for name, item in value.items() if name != key},
                {**value, key: self._changed((*place, "value"), old)},
                {**value, self._text((*place, "key"), key): old},
            ]
        )

"""Rewrites the functions of one test file: assertions become reports to the judge, and names become random ones."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from koderz_core.sandbox.inside.observe import MODULE
from koderz_core.sandbox.repository.checks import Check, Raising, class_names, pattern_of
from koderz_core.sandbox.repository.controls import control, end, has_source, other_source
from koderz_core.sandbox.repository.literal_values import NotLiteralError, value_of
from koderz_core.sandbox.repository.names import Function, LocalLiterals
from koderz_core.sandbox.repository.sites import PAIRED, Site

OBSERVER = "_kz"
_NEGATED = {"in": "not in", "not in": "in", "is": "is not", "is not": "is"}
_TRUTHS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in", "not in", "is", "is not", "truth", "isinstance"})
_COMPOUND = (ast.With, ast.AsyncWith, ast.For, ast.AsyncFor, ast.While, ast.If, ast.Try, ast.Match)
_IDENTICAL = (None, True, False)


def simply(place: str) -> str:
    """How ``opaque`` names a comparison of objects that equal other values too, so that only its truth is reported."""
    return f"{place}!"


class Text:
    """A source, addressed by the places of its syntax tree."""

    def __init__(self, source: str) -> None:
        self.data = source.encode("utf-8", "surrogatepass")
        self._starts = [0]
        for line in self.data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def start(self, node: ast.stmt | ast.expr) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.stmt | ast.expr) -> int:
        return self._starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)

    def line_start(self, line: int) -> int:
        return self._starts[line - 1]

    def top(self, node: ast.stmt) -> int:
        """The start of the first line of a statement, which may be that of a decorator."""
        marks: list[ast.expr] = getattr(node, "decorator_list", [])
        return self.line_start(min([node.lineno, *(mark.lineno for mark in marks)]))

    def of(self, node: ast.stmt | ast.expr) -> str:
        return self.data[self.start(node) : self.end(node)].decode("utf-8", "surrogatepass")

    def edited(self, edits: Iterable[Edit], start: int = 0, end: int | None = None) -> str:
        """The text from ``start`` to ``end`` after edits in it, which must not overlap."""
        parts, done = [], start
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
            parts += [self.data[done : edit.start], edit.text.encode("utf-8", "surrogatepass")]
            done = edit.end
        return b"".join([*parts, self.data[done:end]]).decode("utf-8", "surrogatepass")


@dataclass(frozen=True, order=True)
class Edit:
    """Bytes ``start`` to ``end`` of a text in UTF-8 become ``text``."""

    start: int
    end: int
    text: str


@dataclass
class Spot:
    """An assertion that can be rewritten: a statement, or the expression of a ``with``."""

    node: ast.stmt | ast.expr
    checks: Sequence[Check] = ()
    raising: Raising | None = None
    owner: str = ""


@dataclass(frozen=True)
class Passage:
    """A function of a test file, with its spots and with the names in it that the judge knows."""

    owner: str
    node: Function
    spots: Sequence[Spot]
    names: LocalLiterals
    is_test: bool


def passage(owner: str, node: Function, spots: Sequence[Spot], shadowed: frozenset[str]) -> Passage:
    sides = [side for spot in spots for check in spot.checks for side in (check.left, check.right)]
    compared = {id(side) for side in sides if isinstance(side, ast.Name)}
    return Passage(owner, node, spots, LocalLiterals(node, compared, shadowed), node.name.startswith("test"))


@dataclass
class Lot:
    """Makes the sites of one verdict: random names, and random directions of truths.

    ``flips``: the directions by place, so that a second copy of a test gets the opposite ones.
    """

    lot: random.Random
    sites: dict[str, Site] = field(default_factory=dict)
    flips: dict[str, bool] = field(default_factory=dict)

    def add(self, site: Site) -> str:
        name = f"{self.lot.getrandbits(64):016x}"
        self.sites[name] = site
        return name

    def flip(self, place: str) -> bool:
        """A random direction; the opposite one where the place already has one."""
        before = self.flips.pop(place, None)
        if before is not None:
            return not before
        self.flips[place] = self.lot.random() < 0.5
        return self.flips[place]


class Writer:
    """The texts of the spots of a file. ``opaque``: places whose correct values are not plain data.

    ``pool``: values with their sources, for controls.
    """

    def __init__(
        self,
        path: str,
        text: Text,
        shadowed: frozenset[str],
        opaque: frozenset[str],
        pool: Sequence[tuple[str, object]],
    ) -> None:
        self._path, self._text, self._shadowed, self._opaque, self._pool = path, text, shadowed, opaque, pool

    def edits(self, passage: Passage, lot: Lot) -> list[Edit]:
        """The edits of a function, with sites of their own at each call."""
        self._names, self._lot, self._left_out, self._forms = passage.names, lot, set[int](), set[str]()
        edits = [edit for spot in passage.spots for edit in self._edit(spot)]
        for node in passage.names.unused(self._left_out):
            lines = self._text.of(node).count("\n")
            edits.append(Edit(self._text.start(node), self._text.end(node), "pass" + "\n" * lines))
        if edits and passage.is_test:
            edits += self._control(passage)
        if passage.is_test:
            edits += self._end(passage)
        return edits

    def _end(self, passage: Passage) -> Iterator[Edit]:
        """A report after the last statement of a test."""
        last = passage.node.body[-1]
        indent = self._indent(last)
        if indent is None and isinstance(last, _COMPOUND):
            return
        site = end(passage.owner, self._pool, self._lot.lot, self._lot.add)
        place = self._text.end(last)
        yield Edit(place, place, f"{'; ' if indent is None else chr(10) + indent}{OBSERVER}.end({site})")

    def _indent(self, statement: ast.stmt) -> str | None:
        """The white space before a statement; None if something else is before it in its line."""
        line = self._text.top(statement)
        before = self._text.data[line : line + statement.col_offset].decode("utf-8", "replace")
        return before if before.isspace() else None

    def _control(self, passage: Passage) -> Iterator[Edit]:
        """A control of a form that the function has, before one of its statements."""
        body = passage.node.body
        statement = self._lot.lot.choice(body[1:] or body)
        indent = self._indent(statement)
        if indent is not None and statement is not body[0]:
            form = self._lot.lot.choice(sorted(self._forms))
            text = control(form, passage.owner, self._pool, self._lot.lot, self._lot.add, self._call)
            place = self._text.top(statement) + statement.col_offset
            yield Edit(place, place, f"{text}\n{indent}")

    def _edit(self, spot: Spot) -> Iterator[Edit]:
        calls = [self._raising(spot)] if spot.raising else self._checks(spot)
        if not calls or None in calls:
            return
        source = self._text.of(spot.node)
        whole = " ".join(str(call) for call in calls) if len(calls) == 1 else "(" + ", ".join(map(str, calls)) + ")"
        missing = source.count("\n") - whole.count("\n")
        padded = f"{whole[:-1]}{chr(10) * max(0, missing)})"
        yield Edit(self._text.start(spot.node), self._text.end(spot.node), padded)

    def _checks(self, spot: Spot) -> list[str | None]:
        left_out = set(self._left_out)
        calls = [self._check(spot, check, f"{self._place(spot)}.{index}") for index, check in enumerate(spot.checks)]
        if None in calls:  # the whole assertion stays as it is
            self._left_out = left_out
        return calls

    def _place(self, spot: Spot) -> str:
        return f"{self._path}:{spot.node.lineno}:{spot.node.col_offset}"

    def _check(self, spot: Spot, check: Check, place: str) -> str | None:
        call = None if place in self._opaque else self._strong(spot, check, place)
        if call is not None or check.operation not in _TRUTHS:
            return call
        left, right = self._known(check.left), self._known(check.right)
        if left and right:
            return None
        if check.operation in {"==", "!="} and simply(place) not in self._opaque:
            return self._either(spot, check, place, right or left) or self._equal(spot, check, place)
        return self._truth(spot, check, place)

    def _strong(self, spot: Spot, check: Check, place: str) -> str | None:
        """A call that reports plain data or names of classes, with which the judge repeats the check."""
        left, right = self._known(check.left), self._known(check.right)
        if check.operation == "isinstance":
            return self._kind(spot, check, place)
        if check.operation == "matches":
            pattern = pattern_of(check.right) if check.right else None
            return self._value(spot, check, place, pattern, on_left=False)
        is_identity = check.operation == "is" and right is not None and right[0] in _IDENTICAL and not left
        if (left and right) or not (is_identity or check.operation in PAIRED):
            return None
        if known := right or left:
            return self._value(spot, check, place, known[0], on_left=right is None)
        return self._pair(spot, check, place)

    def _known(self, side: ast.expr | None) -> list[object] | None:
        """The value of a side in a list, if the judge knows it."""
        if side is None:
            return None
        try:
            return [self._names.value(side) if self._names.has(side) else value_of(side, self._shadowed)]
        except NotLiteralError:
            return None

    def _value(self, spot: Spot, check: Check, place: str, literal: object, *, on_left: bool) -> str:
        seen, known = (check.right, check.left) if on_left else (check.left, check.right)
        self._left_out.add(id(known))
        site = self._site(spot, check, place, "value", expected=literal, on_left=on_left)
        return self._call("value", site, self._source(seen))

    def _pair(self, spot: Spot, check: Check, place: str) -> str:
        site = self._site(spot, check, place, "pair")
        return self._call("pair", site, self._source(check.left), self._source(check.right))

    def _kind(self, spot: Spot, check: Check, place: str) -> str:
        names = class_names(check.right) if check.right else ()
        site = self._site(spot, check, place, "kind", expected=names)
        return self._call("kind", site, self._source(check.left))

    def _either(self, spot: Spot, check: Check, place: str, known: list[object] | None) -> str | None:
        """An object that equals a literal, beside another literal that it must not equal."""
        literal = known[0] if known else None
        if not known or check.operation != "==" or not check.holds or not has_source(literal, repr(literal)):
            return None
        on_left = self._known(check.right) is None
        sources = [repr(literal), other_source(literal, self._pool, self._lot.lot)]
        flipped = self._lot.flip(place)
        site = self._site(spot, check, place, "truth", expected=(False, True) if flipped else (True, False))
        self._left_out.add(id(check.left if on_left else check.right))
        seen = check.right if on_left else check.left
        return self._call("either", site, self._source(seen), *(reversed(sources) if flipped else sources))

    def _equal(self, spot: Spot, check: Check, place: str) -> str:
        """``==`` and ``!=`` are both reported, and only the judge knows which of them the test means."""
        flipped = self._lot.flip(place)
        same = check.holds is not flipped
        wanted = (same, None) if check.operation == "==" else (None, same)
        other = flipped if check.holds is (check.operation == "==") else None  # answers differ from those of b
        site = self._site(spot, check, place, "truth", expected=(*wanted, other))
        return self._call("unequal" if flipped else "equal", site, self._source(check.left), self._source(check.right))

    def _truth(self, spot: Spot, check: Check, place: str) -> str:
        flipped = self._lot.flip(place)
        site = self._site(spot, check, place, "truth", expected=(check.holds is not flipped,))
        no, left = "not " if flipped else "", self._source(check.left)
        if check.operation == "truth":
            return self._call("truth", site, f"{no}{left}")
        right = self._source(check.right)
        if check.operation == "isinstance":
            return self._call("truth", site, f"{no}isinstance({left}, {right})")
        if check.operation in _NEGATED:
            operation = _NEGATED[check.operation] if flipped else check.operation
            return self._call("truth", site, f"{left} {operation} {right}")
        return self._call("truth", site, f"{no}({left} {check.operation} {right})")

    def _raising(self, spot: Spot) -> str | None:
        raising, place = spot.raising, f"{self._place(spot)}.0"
        if raising is None or place in self._opaque:
            return None
        check = Check("raises", ast.Constant(None))
        site = self._site(spot, check, place, "raises", expected=raising.names, pattern=raising.pattern)
        if raising.call is None:
            return self._call("raises", site, *([raising.own] if raising.own else []))
        words = [f"{word.arg}={self._source(word.value)}" if word.arg else f"**{self._source(word.value)}"
                 for word in raising.words]  # fmt: skip
        return self._call("call", site, *map(self._source, raising.call), *words)

    def _site(self, spot: Spot, check: Check, place: str, form: str, **facts: object) -> str:
        source = self._text.of(spot.node)
        self._forms.add(form)
        return self._lot.add(
            Site(place, spot.owner, form, source, check.operation, check.holds, extra=check.extra, **facts)  # type: ignore[arg-type]  # fields of Site
        )

    def _source(self, node: ast.expr | None) -> str:
        """The source of an expression in brackets. One that is not in the file, as None, has no place."""
        if node is None or not hasattr(node, "lineno"):
            return f"({ast.unparse(node) if node else ''})"
        return f"({self._text.of(node)})"

    @staticmethod
    def _call(function: str, site: str, *arguments: str) -> str:
        return f"{OBSERVER}.{function}({', '.join([repr(site), *arguments])})"


IMPORT = f"import {MODULE} as {OBSERVER}\n"

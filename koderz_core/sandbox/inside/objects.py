"""Objects of a module under test, as its tests see them: handles with operators, and exceptions that can be caught.

The program's own operators decide what two of its objects have to do with each other. ``OPINIONS`` are the questions by
which a program could pass tests without computing anything, for example with an ``__eq__`` that is always true; the
host then checks the verdict with twins. An object of the program never equals plain data, whatever it says.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

from .faults import CannotCrossError
from .handles import Handle, ask, checked
from .values import Keep, name_of
from .wire import Json

OPINIONS = frozenset({"operate", "convert", "compare", "contains", "instance", "subclass"})
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {  # Any: the program's values
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow")},
    **{name: getattr(operator, name) for name in ("xor", "lshift", "rshift")},
    "and": operator.and_,
    "or": operator.or_,
    "divmod": divmod,
}
IN_PLACE = {f"i{name}": getattr(operator, f"i{name}") for name in OPERATORS if name != "divmod"}
CONVERSIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in ("neg", "pos", "abs", "invert", "index")},
    **{kind.__name__: kind for kind in (int, float, complex)},
    "round": round,
}
COMPARISONS = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
_ANSWERS = {int: ["hash"], bool: ["contains"], Handle: ["reversed"], str: ["repr", "format"], object: ["enter", "exit"]}
"""The methods of ``Object`` that only ask the program, by the type that the answer must have."""
_ASKED = frozenset({"__name__", "__doc__"})


class Object(Handle):
    """An object or class of the program."""

    def __getattr__(self, name: str) -> object:
        return ask(self, "attribute", name) if name in _ASKED else super().__getattr__(name)

    def __delattr__(self, name: str) -> None:
        ask(self, "delete attribute", name)

    def __delitem__(self, key: object) -> None:
        ask(self, "delete item", key)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, Object) and checked(ask(self, "instance", instance), bool)

    def __subclasscheck__(self, kind: object) -> bool:
        return isinstance(kind, Object) and checked(ask(self, "subclass", kind), bool)

    def __mro_entries__(self, bases: object) -> object:
        raise CannotCrossError("the tests derive a class from one of the program")

    def __copy__(self) -> object:
        raise CannotCrossError("the tests copy an object of the program")

    def __deepcopy__(self, memo: object) -> object:
        raise CannotCrossError("the tests copy an object of the program")


def _answer(name: str, kind: type) -> Callable[..., object]:
    return lambda self, *given: checked(ask(self, name, *given), kind)


def _operation(name: str, *, swapped: bool) -> Callable[[Object, object], object]:
    return lambda self, other: ask(self, "operate", name, other, swapped)


def _conversion(name: str) -> Callable[..., object]:
    return lambda self, *how: ask(self, "convert", name, *how)


def _comparison(name: str, unlike: object) -> Callable[[Object, object], object]:
    """``unlike``: the result of comparing an object of the program with plain data."""
    return lambda self, other: checked(ask(self, "compare", name, other), bool) if isinstance(other, Object) else unlike


for _kind, _names in _ANSWERS.items():
    for _name in _names:
        setattr(Object, f"__{_name}__", _answer(_name, _kind))
for _name in OPERATORS:
    setattr(Object, f"__{_name}__", _operation(_name, swapped=False))
    setattr(Object, f"__r{_name}__", _operation(_name, swapped=True))
for _name in IN_PLACE:
    setattr(Object, f"__{_name}__", _operation(_name, swapped=False))
for _name in CONVERSIONS:
    setattr(Object, f"__{_name}__", _conversion(_name))
for _name in COMPARISONS:
    setattr(Object, f"__{_name}__", _comparison(_name, False if _name in {"eq", "ne"} else NotImplemented))


USES: dict[str, Callable[..., object]] = {
    "delete attribute": delattr,
    "delete item": operator.delitem,
    "hash": hash,
    "contains": operator.contains,
    "reversed": reversed,
    "repr": lambda target: f"<{name_of(type(target))} object>" if _has_no_repr(target) else repr(target),
    "format": format,
    "enter": lambda target: type(target).__enter__(target),
    "exit": lambda target, *error: type(target).__exit__(target, *error),
    "instance": lambda kind, value: isinstance(value, kind),
    "subclass": lambda kind, other: issubclass(other, kind),
    "operate": lambda target, name, other, swapped: _operated(target, name, other, swapped=swapped),
    "convert": lambda target, name, *how: CONVERSIONS[name](target, *how),
    "compare": lambda target, name, other: COMPARISONS[name](target, other),
}
"""How the program's process answers the questions of ``Object``, besides those of ``Handle``."""


def _has_no_repr(target: object) -> bool:
    """Whether its ``repr`` would be an address, which differs from run to run."""
    return type(target).__repr__ is object.__repr__


def _operated(target: Any, name: str, other: Any, *, swapped: bool) -> Any:  # Any: the program's values
    if name in IN_PLACE:
        return IN_PLACE[name](target, other)
    return OPERATORS[name](other, target) if swapped else OPERATORS[name](target, other)


class RaisedError(Exception):
    """Base of the classes that represent exception classes of the program, never raised itself.

    ``_koderz_text``: the text of the error; ``_koderz_object``: the error itself, which is asked for attributes.
    """

    _koderz_text: str | None = None
    _koderz_object: object = None

    def __str__(self) -> str:
        return super().__str__() if self._koderz_text is None else self._koderz_text

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or self._koderz_object is None:
            raise AttributeError(name)
        return getattr(self._koderz_object, name)


def lineage(kind: type[BaseException], keep: Keep) -> Json:
    """An exception class and its base classes that are not builtin, each with its number, name, bases among them, and
    nearest builtin class. Only in the program's process.
    """
    own = [part for part in type.mro(kind) if issubclass(part, BaseException) and part.__module__ != "builtins"]
    return [
        [keep(part), name_of(part), [keep(base) for base in own if base in part.__bases__], nearest(part)]
        for part in own
    ]


def nearest(kind: type[BaseException]) -> str:
    """The name of the nearest builtin class of an exception class."""
    return next(part.__name__ for part in type.mro(kind) if part.__module__ == "builtins")


class ErrorClasses:
    """The classes that represent exception classes of the program in the tests, by their numbers."""

    def __init__(self) -> None:
        self._classes: dict[int, type[Exception]] = {}

    def class_of(self, line: Json) -> type[Exception]:
        """The class for the first entry of a ``lineage``, or for the name of a builtin class.

        Raises various errors if it is invalid.
        """
        if isinstance(line, str):
            return _builtin(line)
        for number, name, bases, builtin in reversed(line[:_MOST_CLASSES]):
            if number not in self._classes:
                own = tuple(self._classes[base] for base in bases)
                self._classes[int(number)] = _derived(str(name)[:100], own, _builtin(builtin))
        return self._classes[line[0][0]]

    def error(self, error: Exception, line: Json, text: str, own: object) -> Exception:
        """The error of the program with its own class, instead of the builtin ``error``. Raises as ``class_of``."""
        kind = self.class_of(line)
        if not issubclass(kind, type(error)):  # a StopIteration, or a class that cannot be made here
            return error
        try:
            made = kind(*error.args)
        except (TypeError, ValueError, LookupError):
            return error
        made.__dict__.update(_koderz_text=text, _koderz_object=own)
        for note in error.__notes__:
            made.add_note(note)
        return made


_MOST_CLASSES = 50


def _builtin(name: str) -> type[Exception]:
    found = getattr(builtins, name)
    if not issubclass(found, Exception):
        raise TypeError(f"{name} is not a class of exceptions")
    kind: type[Exception] = found
    return kind


def _derived(name: str, own: tuple[type[Exception], ...], builtin: type[Exception]) -> type[Exception]:
    """A class with these bases, and with ``builtin`` unless it is among their bases."""
    if not own:
        return type(name, (RaisedError, builtin), {"__module__": "tests"})
    if any(issubclass(base, builtin) for base in own):
        return type(name, own, {"__module__": "tests"})
    return type(name, (*own, builtin), {"__module__": "tests"})

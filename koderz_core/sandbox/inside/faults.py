"""Errors as verdicts describe them: a class of error and one line of text; and bounded excerpts of hostile values."""

from __future__ import annotations

import builtins
import errno
import reprlib
from typing import Any, NamedTuple

# The first type that matches an exception gives the class of its error, as in koderz_core.records.ErrorClass.
_CLASSES: tuple[tuple[type[Exception], str], ...] = (
    (SyntaxError, "syntax"),
    (ImportError, "import"),
    (NameError, "name"),
    (TypeError, "type"),
    (MemoryError, "memory"),
    (PermissionError, "forbidden"),
)
CLASSES = frozenset(name for _, name in _CLASSES) | {"exception", "assertion", "timeout"}
_NO_THREAD = ("can't start new thread",)
_REFUSED = (errno.EROFS, errno.EPERM, errno.EACCES)
ENDS_ITERATION = (StopIteration, StopAsyncIteration)
MAX_CHARACTERS = 500  # of an excerpt


class Fault(NamedTuple):
    """The class of an error (``ErrorClass``) and a bounded text about it."""

    error: str
    message: str


class ProgramEndedError(BaseException):
    """The program has ended. A BaseException, so that no test can catch it and continue."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class TestsBrokenError(BaseException):
    """The tests themselves are wrong, independently of the program."""

    __test__ = False  # pytest: not a test class


class CannotCrossError(BaseException):
    """The tests need a value that is not plain data, so they must run in the program's own process."""


class CallStoppedError(Exception):
    """A call of the program raised StopIteration, which would silently end an iteration in the tests.

    PEP 479 replaces it for the same reason. It is not a RuntimeError, because tests may expect one from a program.
    ``note`` describes in one line what the program raised.
    """

    def __init__(self, note: str) -> None:
        super().__init__(note)
        self.add_note(f"{note} (raised by a call, so it ends no iteration in the tests: the call has failed)")


def fault_of(error: BaseException) -> Fault:
    """The fault behind an exception that reached the tests."""
    if isinstance(error, ProgramEndedError):
        return error.fault
    return Fault(classify(error), excerpt(describe(error)))


def classify(error: BaseException) -> str:
    refused = isinstance(error, OSError) and error.errno in _REFUSED
    if refused or (isinstance(error, RuntimeError) and error.args == _NO_THREAD):
        return "forbidden"
    return next((name for kind, name in _CLASSES if isinstance(error, kind)), "exception")


def describe(error: BaseException) -> str:
    """The note that ``revive`` added to the error, else its type and text."""
    notes: list[str] = getattr(error, "__notes__", [])
    return notes[0] if notes else f"{type(error).__name__}: {error}".removesuffix(": ")


def revive(kind: object, arguments: object, note: str) -> Exception:
    """The exception that the program raised, as the builtin type named ``kind``, with a ``note``.

    StopIteration becomes a CallStoppedError, since ``all(map(candidate, cases))`` would otherwise be true.
    Raises ProgramEndedError if ``kind`` is not a builtin Exception, because SystemExit and similar end a program.
    """
    found = getattr(builtins, kind, None) if isinstance(kind, str) else None
    if not (isinstance(found, type) and issubclass(found, Exception)):
        raise ProgramEndedError(Fault("exception", note))
    if issubclass(found, ENDS_ITERATION):
        return CallStoppedError(note)
    error = _instance(found, arguments if isinstance(arguments, tuple) else (), note)
    error.add_note(note)
    return error


def _instance(kind: type[Exception], arguments: tuple[object, ...], note: str) -> Exception:
    for values in (arguments, (note,)):  # the constructor may reject the stand-ins for values that are not plain data
        try:
            return kind(*values)
        except (TypeError, ValueError, LookupError, OverflowError):
            continue
    return RuntimeError(note)


def excerpt(text: str, limit: int = MAX_CHARACTERS) -> str:
    """At most ``limit`` characters without lone surrogates; the middle of a longer text is omitted."""
    if len(text) > limit:
        head = limit * 2 // 3
        text = f"{text[:head]} ... {text[head + 5 - limit :]}"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shown(value: object) -> str:
    """The ``repr`` of plain data, bounded while it is built: a million numbers cost as much as sixty."""
    return excerpt(_REPR.repr(value))


class _BoundedRepr(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 5
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = self.maxfrozenset = 60
        self.maxstring = self.maxother = self.maxlong = MAX_CHARACTERS

    def repr_Like(self, x: Any, level: int) -> str:  # noqa: N802 (found by the type's name); Any: a Like
        """Describe a ``Like`` of ``koderz_core.datasets.evalplus_comparison``, whose source is part of the tests."""
        return self.repr1(x.value, level)

    def repr_int(self, x: int, level: int) -> str:  # noqa: ARG002 (reprlib's signature)
        if x.bit_length() > 2000:  # writing a huge int takes quadratic time, and Python refuses it
            return f"<int of {x.bit_length()} bits>"
        return repr(x)


_REPR = _BoundedRepr()

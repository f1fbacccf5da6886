"""What went wrong, as a verdict says it: the class of an error and one line about it."""

from __future__ import annotations

import builtins
import errno
from typing import NamedTuple

from .excerpt import excerpt

# The first class that an exception belongs to names its error; values of koderz_core.records.ErrorClass.
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


class Fault(NamedTuple):
    """The class of an error (``ErrorClass``) and a bounded text about it."""

    error: str
    message: str


class ProgramEndedError(BaseException):
    """The program cannot be asked any further. A BaseException, so that no test can catch it and go on."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class TestsBrokenError(BaseException):
    """The tests themselves are wrong, whatever the program does."""

    __test__ = False  # pytest: not a test class


class CannotCrossError(BaseException):
    """The tests need a value that is not plain data, so they can be run beside the program only."""


class CallStoppedError(Exception):
    """A call of the program raised StopIteration, which an iteration in the tests would take for its own end.

    PEP 479 replaces it for the same reason. This is no RuntimeError, since tests may expect that of a program.
    ``note``: a line that describes what was raised.
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
    """The note that ``revive`` left on it, else its type and text."""
    notes: list[str] = getattr(error, "__notes__", [])
    return notes[0] if notes else f"{type(error).__name__}: {error}".removesuffix(": ")


def revive(kind: object, arguments: object, note: str) -> Exception:
    """The exception that the program raised, as the builtin type named ``kind``, with ``note`` on it.

    What would end an iteration becomes a CallStoppedError: else ``all(map(candidate, cases))`` would be true.
    Raise ProgramEndedError if that is no builtin Exception: SystemExit and its like end a program.
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
    for given in (arguments, (note,)):  # arguments that are not plain data may not do for the constructor
        try:
            return kind(*given)
        except (TypeError, ValueError, LookupError, OverflowError):
            continue
    return RuntimeError(note)

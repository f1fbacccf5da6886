"""Runs a whole program with a given standard input, as ``python program.py < input`` does, and returns its output.

Standard input and output are files in memory with the descriptors 0 and 1, so that ``input()``, ``open(0)``,
``os.read``, ``os.write`` and buffers of a program's own work as usual. Each test has a process of its own (``runs``).
Only the calls of one probe share a process.
"""

from __future__ import annotations

import atexit
import builtins
import errno
import io
import os
import random
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from types import CodeType, ModuleType
from typing import Any, NoReturn

from .wire import MAX_FRAME_BYTES

KIND = "program"
MOST_BYTES = MAX_FRAME_BYTES
"""Size limit of all that a process reads from standard input, and of all that it writes to standard output."""
MOST_SHOWN = 1 << 20  # characters of the output in a transcript
TRANSCRIPT = "transcript"
_INPUT, _OUTPUT = 0, 1
_DEVICES = {
    **dict.fromkeys(("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"), _INPUT),
    **dict.fromkeys(("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"), _OUTPUT),
}
_MAIN = "__main__"
_open = io.open


def prepare_streams() -> None:
    """Replace the descriptors 0 and 1 by empty files in memory. Call it before this process is restricted."""
    for standard in (_INPUT, _OUTPUT):
        fd = _file_in_memory()
        os.dup2(fd, standard)
        os.close(fd)


def _file_in_memory() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("stream")
    with tempfile.TemporaryFile() as file:  # macOS
        return os.dup(file.fileno())


class WholeProgram:
    """A compiled program. ``run`` may be called several times; each call has its own module ``__main__``."""

    def __init__(self, code: CodeType) -> None:
        self._code = code
        self._recursion = sys.getrecursionlimit()  # Python's default, or that of the problem's preamble
        self._output = os.dup(_OUTPUT)  # a program may close its own
        self._builtins = {**vars(builtins), "open": _opened, "exit": _leave, "quit": _leave}

    def run(self, given: str) -> str:
        """The output for this input. Raises the exception of the program, also for an exit code other than 0."""
        start = os.lseek(self._output, 0, os.SEEK_END)
        own = self._prepare(given)
        try:
            self._execute()
            _flush(sys.stdout, own)
        except OSError as error:
            if error.errno != errno.EFBIG:
                raise
            raise OverflowError(f"the program wrote more than {MOST_BYTES >> 20} MB").with_traceback(
                error.__traceback__
            ) from None
        return self._read_from(start)

    def transcript(self, given: str, describe: Callable[[BaseException], str]) -> tuple[str, str]:
        """As ``run``, but with the output before an error as well, and ``describe`` of the error; "" without one."""
        start = os.lseek(self._output, 0, os.SEEK_END)
        try:
            return self.run(given)[:MOST_SHOWN], ""
        except BaseException as error:  # noqa: BLE001 (a program may raise anything)
            with suppress(Exception):
                _flush(sys.stdout)
            return self._read_from(start)[:MOST_SHOWN], describe(error)

    def _prepare(self, given: str) -> io.TextIOWrapper:
        """Reset everything that a program expects at its start. Returns standard output."""
        vars(builtins).update(self._builtins)
        io.open = _opened  # pathlib uses it
        start = os.lseek(_INPUT, 0, os.SEEK_END)  # what was read before stays in front of it
        with _open(os.dup(_INPUT), "wb") as file:
            file.write(given.encode("utf-8", "surrogatepass"))
        os.lseek(_INPUT, start, os.SEEK_SET)
        sys.stdin = sys.__stdin__ = _open(_INPUT, encoding="utf-8", closefd=False)  # type: ignore[misc]  # theirs to set
        own = _open(_OUTPUT, "w", encoding="utf-8", closefd=False)
        sys.stdout = sys.__stdout__ = own  # type: ignore[misc]  # as above
        sys.stderr = sys.__stderr__ = _open(os.devnull, "w", encoding="utf-8")  # type: ignore[misc]  # as above
        sys.argv = ["program.py"]
        sys.setrecursionlimit(self._recursion)
        random.seed(0)  # so that a program always has the same output
        return own

    def _execute(self) -> None:
        module = sys.modules[_MAIN] = ModuleType(_MAIN)
        try:
            exec(self._code, vars(module))  # noqa: S102 (the point)
        except SystemExit as ended:
            if not (ended.code is None or (isinstance(ended.code, int) and ended.code == 0)):
                raise RuntimeError(f"the program ended with exit code {_code(ended.code)}").with_traceback(
                    ended.__traceback__
                ) from None
        atexit._run_exitfuncs()  # some programs write their output there
        vars(module).clear()  # closes and so writes out the files that only the program knows

    def _read_from(self, start: int) -> str:
        size_bytes = os.lseek(self._output, 0, os.SEEK_END) - start
        return os.pread(self._output, size_bytes, start).decode("utf-8", "replace")


def _flush(*streams: Any) -> None:  # Any: whatever the program has put in their place
    for stream in streams:
        with suppress(ValueError, AttributeError):  # it is closed, or not a stream
            stream.flush()


def _code(code: object) -> str:
    return str(int(code)) if isinstance(code, int) else "1"


def _leave(code: object = None) -> NoReturn:
    """``exit`` and ``quit``, which Python's module ``site`` defines."""
    raise SystemExit(code)


def _opened(file: Any, *given: Any, **named: Any) -> Any:  # Any: as of ``open``
    """``open``, also for the names of the standard streams, whose folders do not exist in the sandbox."""
    with suppress(TypeError):
        if (name := os.fspath(file)) in _DEVICES:
            return _open(os.dup(_DEVICES[name]), *given, **named)
    return _open(file, *given, **named)

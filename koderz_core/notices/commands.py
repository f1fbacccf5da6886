"""Runs a command as if it had been called directly, and keeps the end of its output for a notice."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fcntl import ioctl
from types import FrameType
from typing import Self

STDOUT, STDERR = 1, 2
KEPT_BYTES = 1 << 14  # of the output
BACKLOG_BYTES = 1 << 20  # the largest output that a pipe can still hold when the command has ended
PAUSE_SECONDS = 0.1  # without output after the command has ended; then another process holds the output open
NOT_FOUND, NOT_RUNNABLE, BY_SIGNAL = 127, 126, 128  # as in shells (POSIX, "Exit Status for Commands")
_LINE_END = re.compile(r"\r?\n|\r")
FORWARDED = (
    *(signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2),
    signal.SIGWINCH,
)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The exit code of a command, as a shell reports it. ``tail``: the end of its output, hostile text.

    ``trouble``: why it could not be started, "" if it was.
    """

    code: int
    seconds: float
    tail: str = ""
    trouble: str = ""


def run_command(command: Sequence[str], clock: Callable[[], float] = time.monotonic) -> CommandResult:
    """Run a command to its end, without a shell. It reads the input of koderz, and its output is shown at once.

    Its output is a terminal if that of koderz is one. Signals to this process are passed on to it.
    """
    started, tail = clock(), _Tail()
    outputs = _outputs()
    with _Forwarding(outputs) as forwarding:
        try:
            process = subprocess.Popen(command, stdout=outputs[0].command_end, stderr=outputs[-1].command_end)
        except OSError as error:
            return _not_started(command[0], error, clock() - started)
        finally:
            for output in outputs:
                os.close(output.command_end)
        forwarding.start(process)
        ended = threading.Event()
        pumps = [threading.Thread(target=output.pump, args=(tail, ended)) for output in outputs]
        for pump in pumps:
            pump.start()
        code = process.wait()
        ended.set()
        for pump in pumps:
            pump.join()
    return CommandResult(code if code >= 0 else BY_SIGNAL - code, clock() - started, tail.text())


def _not_started(name: str, error: OSError, seconds: float) -> CommandResult:
    if isinstance(error, FileNotFoundError):
        code, trouble = NOT_FOUND, f"{name!r} was not found. Check its spelling, or give its path."
    else:
        code, trouble = NOT_RUNNABLE, f"{name!r} cannot be run: {error.strerror}. Check the file and its permissions."
    return CommandResult(code, seconds, trouble=trouble)


class _Tail:
    """The end of the output of all streams together."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._cut = False
        self._lock = threading.Lock()  # guards both: every stream adds to them

    def add(self, piece: bytes) -> None:
        with self._lock:
            self._bytes += piece
            self._cut = self._cut or len(self._bytes) > KEPT_BYTES
            del self._bytes[:-KEPT_BYTES]

    def text(self) -> str:
        """The text without a first line that was cut: a secret that is cut in two would not be recognised.

        A carriage return ends a line too: after it, a progress bar writes its line again.
        """
        text = self._bytes.decode(errors="replace")
        if not self._cut:
            return text
        end = _LINE_END.search(text)
        return text[end.end() :] if end else ""


class _Output:
    """Passes one output of the command (``command_end``) on to the output ``to``: a terminal if that is one."""

    def __init__(self, to: int) -> None:
        self._to = to
        self.terminal = os.isatty(to)
        self._source, self.command_end = pty.openpty() if self.terminal else os.pipe()
        if self.terminal:
            modes = termios.tcgetattr(self.command_end)
            modes[1] &= ~termios.OPOST  # the terminal of koderz converts line endings; this one must not do it too
            termios.tcsetattr(self.command_end, termios.TCSANOW, modes)
            self.resize()

    def resize(self) -> None:
        """Give the terminal of the command the size of the terminal of koderz."""
        with suppress(OSError):
            ioctl(self._source, termios.TIOCSWINSZ, ioctl(self._to, termios.TIOCGWINSZ, bytes(8)))

    def pump(self, tail: _Tail, ended: threading.Event) -> None:
        """Pass on output to its end, or until the reader of koderz' output leaves: then the command notices that too.

        A process that the command left behind may hold the output open for ever; the pump does not wait for it.
        """
        left = BACKLOG_BYTES
        with suppress(OSError):  # a closed terminal and a reader that left raise it
            while left > 0:
                is_last = ended.is_set()  # asked before the select, so that the last output has arrived
                if not select.select([self._source], [], [], PAUSE_SECONDS)[0]:
                    if is_last:
                        break
                    continue
                piece = os.read(self._source, 1 << 16)
                if not piece:
                    break
                tail.add(piece)
                self._write(piece)
                left -= len(piece) if is_last else 0
        os.close(self._source)

    def _write(self, piece: bytes) -> None:
        while piece:
            piece = piece[os.write(self._to, piece) :]


def _outputs() -> list[_Output]:
    """One output for both streams if koderz writes both to the same file, so that their order is kept."""
    if os.path.samestat(os.fstat(STDOUT), os.fstat(STDERR)):
        return [_Output(STDOUT)]
    return [_Output(STDOUT), _Output(STDERR)]


class _Forwarding:
    """Passes signals on. Signals that arrive before the command has started wait for it."""

    def __init__(self, outputs: Sequence[_Output]) -> None:
        self._outputs = outputs
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting: list[int] = []
        heeded = [number for number in FORWARDED if signal.getsignal(number) is not signal.SIG_IGN]  # as under nohup
        self._before = [(number, signal.signal(number, self._forward)) for number in heeded]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before:
            signal.signal(number, handler)

    def start(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        for number in self._waiting:
            process.send_signal(number)

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        if number in (signal.SIGINT, signal.SIGQUIT) and _in_foreground():
            return  # the terminal has sent the signal of its keys to the command already
        if number == signal.SIGWINCH:
            for output in self._outputs:
                output.resize()
        if self._process is None:
            self._waiting.append(number)
        else:
            self._process.send_signal(number)


def _in_foreground() -> bool:
    """Whether the keys of a terminal send their signals to this process, and therefore to the command too."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    finally:
        os.close(terminal)

"""Runs a command for somebody who went away: it lives as if called directly, and the end of its output is kept."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fcntl import ioctl
from types import FrameType

STDOUT, STDERR = 1, 2
KEPT_BYTES = 1 << 14  # of the output
BACKLOG_BYTES = 1 << 20  # the most that a pipe holds of what a command said before it ended
PAUSE_SECONDS = 0.1  # without output, once the command has ended: what still holds it open is something else
NOT_FOUND, NOT_RUNNABLE, BY_SIGNAL = 127, 126, 128  # as shells have them (POSIX, "Exit Status for Commands")
FORWARDED = (
    *(signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2),
    signal.SIGWINCH,
)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended: with ``code``, as a shell tells it. ``tail``: the end of its output, hostile text.

    ``trouble``: why it could not be run at all, "" if it was.
    """

    code: int
    seconds: float
    tail: str = ""
    trouble: str = ""


def run_command(command: Sequence[str], clock: Callable[[], float] = time.monotonic) -> CommandResult:
    """Run it to its end, without a shell. It reads our input, and what it writes is passed on at once.

    Its output is a terminal where ours is one. Signals that come for this process are passed on to it.
    """
    began, tail = clock(), _Tail()
    outputs = _outputs()
    with _forwarding(outputs) as forwarding:
        try:
            process = subprocess.Popen(command, stdout=outputs[0].given, stderr=outputs[-1].given)
        except OSError as error:
            return CommandResult(*_refused(command[0], error, clock() - began))
        finally:
            for output in outputs:
                os.close(output.given)
        forwarding.to(process)
        over = threading.Event()
        pumps = [threading.Thread(target=output.pump, args=(tail, over)) for output in outputs]
        for pump in pumps:
            pump.start()
        code = process.wait()
        over.set()
        for pump in pumps:
            pump.join()
    return CommandResult(code if code >= 0 else BY_SIGNAL - code, clock() - began, tail.text())


def _refused(name: str, error: OSError, seconds: float) -> tuple[int, float, str, str]:
    if isinstance(error, FileNotFoundError):
        return NOT_FOUND, seconds, "", f"{name!r} was not found. Check its spelling, or give its path."
    return NOT_RUNNABLE, seconds, "", f"{name!r} cannot be run: {error.strerror}. Check its file and permissions."


class _Tail:
    """The end of what was said, by all outputs together."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._cut = False
        self._guard = threading.Lock()  # guards both: every output adds to them

    def add(self, piece: bytes) -> None:
        with self._guard:
            self._kept += piece
            self._cut = self._cut or len(self._kept) > KEPT_BYTES
            del self._kept[:-KEPT_BYTES]

    def text(self) -> str:
        """Without a line whose beginning is lost: a secret that was cut in two would not be known any more."""
        kept = self._kept.decode(errors="replace")
        return kept.partition("\n")[2] if self._cut else kept


class _Output:
    """One way from the command (``given`` is its end) to our own output ``to``: a terminal where that is one."""

    def __init__(self, to: int) -> None:
        self._to = to
        self.terminal = os.isatty(to)
        self._source, self.given = pty.openpty() if self.terminal else os.pipe()
        if self.terminal:
            self._leave_bytes_alone()
            self.resize()

    def resize(self) -> None:
        """As large as our own terminal is."""
        with suppress(OSError):
            ioctl(self._source, termios.TIOCSWINSZ, ioctl(self._to, termios.TIOCGWINSZ, bytes(8)))

    def _leave_bytes_alone(self) -> None:
        """Our own terminal turns the ends of lines into what it needs: this one must not do that too."""
        modes = termios.tcgetattr(self.given)
        modes[1] &= ~termios.OPOST
        termios.tcsetattr(self.given, termios.TCSANOW, modes)

    def pump(self, tail: _Tail, over: threading.Event) -> None:
        """Pass on what comes until all is said, or until our own reader has left: then the command meets that too.

        Something that the command left behind may hold the output open for ever, and that is not waited for.
        """
        left = BACKLOG_BYTES
        with suppress(OSError):  # the end of a terminal is an error, and so is a reader who left
            while left > 0:
                ended = over.is_set()  # before looking: what it said before it ended is there by now
                if not select.select([self._source], [], [], PAUSE_SECONDS)[0]:
                    if ended:
                        break
                    continue
                piece = os.read(self._source, 1 << 16)
                if not piece:
                    break
                tail.add(piece)
                self._write(piece)
                left -= len(piece) if ended else 0
        os.close(self._source)

    def _write(self, piece: bytes) -> None:
        while piece:
            piece = piece[os.write(self._to, piece) :]


def _outputs() -> list[_Output]:
    """One for both where ours are the same, so that the order of what is said is kept."""
    if os.path.samestat(os.fstat(STDOUT), os.fstat(STDERR)):
        return [_Output(STDOUT)]
    return [_Output(STDOUT), _Output(STDERR)]


class _Forwarding:
    """Passes signals on; those that come before there is a command wait for it."""

    def __init__(self, outputs: Sequence[_Output]) -> None:
        self._outputs = outputs
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting: list[int] = []

    def to(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        for number in self._waiting:
            process.send_signal(number)

    def take(self, number: int, _frame: FrameType | None) -> None:
        if number in (signal.SIGINT, signal.SIGQUIT) and _in_foreground():
            return  # the keys of a terminal have told the command already
        if number == signal.SIGWINCH:
            for output in self._outputs:
                output.resize()
        if self._process is None:
            self._waiting.append(number)
        else:
            self._process.send_signal(number)


@contextmanager
def _forwarding(outputs: Sequence[_Output]) -> Iterator[_Forwarding]:
    forwarding = _Forwarding(outputs)
    heeded = [one for one in FORWARDED if signal.getsignal(one) is not signal.SIG_IGN]  # as under nohup
    before = [(one, signal.signal(one, forwarding.take)) for one in heeded]
    try:
        yield forwarding
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _in_foreground() -> bool:
    """Whether the keys of a terminal send their signals to this process, and so to the command too."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    finally:
        os.close(terminal)

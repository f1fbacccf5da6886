"""The program as the judge sees it: a process that answers calls with plain data, or not at all."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .excerpt import shown
from .faults import Fault, ProgramEndedError, TestsBrokenError, revive
from .wire import Channel, FrameTooLargeError, WireError, decode, encode, holds

_DEATH_SECONDS = 0.5  # how long a process that hung up may take to die before it is killed


class Program:
    """Loads a program in the candidate's process and calls its function. ``calls``: how often it was called."""

    def __init__(self, pid: int, channel: Channel) -> None:
        self.calls = 0
        self._pid = pid
        self._channel = channel
        self._ended: Fault | None = None

    def load(self, program: dict[str, Any]) -> None:  # Any: JSON
        """Raise what the program raised; ProgramEndedError if its process is gone."""
        self._exchange(program)

    def stub(self, name: str) -> Callable[..., object]:
        """The function under test: a call of it is a call of the program's function."""

        def candidate(*arguments: object, **named: object) -> object:
            return self._call(arguments, named)

        candidate.__name__ = candidate.__qualname__ = name
        return candidate

    def evaluate(self, expression: str) -> object:
        """What an expression gives in the program's process. Raise as a call of its function does."""
        return self._exchange({"expression": expression})

    def end(self, fault: Fault) -> ProgramEndedError:
        """Kill the process; what to raise now, and what every later call raises."""
        self._ended = self._ended or fault
        self.close()
        return ProgramEndedError(self._ended)

    def check_alive(self) -> None:
        """Raise ProgramEndedError if the program ended, even if a test swallowed that."""
        if self._ended:
            raise ProgramEndedError(self._ended)

    def close(self) -> None:
        """Kill the process."""
        pid, self._pid = self._pid, 0
        if pid:
            with suppress(ProcessLookupError, ChildProcessError):  # the deadline's signal came while it was reaped
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

    def _call(self, arguments: tuple[object, ...], named: dict[str, object]) -> object:
        message = {"arguments": encode(arguments), "named": encode(named)}
        sent = list(message.values())
        if holds(sent, "opaque"):
            raise TestsBrokenError(f"they call the program with {shown(arguments)}, which is not plain data")
        if holds(sent, "beyond"):
            raise TypeError(f"the program is called with its own {shown(arguments)}, which is not plain data")
        self.calls += 1
        try:
            return self._exchange(message)
        except FrameTooLargeError as error:
            if self.calls == 1:  # later ones may be made of what the program returned
                raise TestsBrokenError(f"they call the program with {error}") from None
            raise

    def _exchange(self, message: dict[str, Any]) -> object:  # Any: JSON
        self.check_alive()
        try:
            return self._answer_to(message)
        except ProgramEndedError as error:  # SystemExit and its like
            raise self.end(error.fault) from None
        except WireError as error:
            raise self.end(Fault("exception", f"the program's process sent {error}")) from None
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise self.end(self._death()) from None

    def _answer_to(self, message: dict[str, Any]) -> object:  # Any: JSON
        number = os.urandom(8).hex()  # no answer can be sent before its question
        self._channel.send({**message, "number": number})
        reply = self._channel.receive()
        if reply.get("number") != number:
            raise WireError("an answer that nobody asked for")
        if "raised" in reply:
            raise revive(reply["raised"], decode(reply.get("arguments")), str(reply.get("note"))[:700])
        if "too_large" in reply:
            raise OverflowError(f"the program returned {str(reply['too_large'])[:100]}")
        return decode(reply.get("value"))

    def _death(self) -> Fault:
        """How the process ended, as far as its exit tells; it may also just have closed its channel."""
        deadline = time.monotonic() + _DEATH_SECONDS
        while time.monotonic() < deadline:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self._pid = 0
                return _fault_of_exit(os.waitstatus_to_exitcode(status))
            time.sleep(0.005)
        return Fault("exception", "the program's process stopped answering")


def _fault_of_exit(code: int) -> Fault:
    if code == -signal.SIGXCPU:
        return Fault("timeout", "the program used up its processor time")
    if code == -signal.SIGKILL:
        return Fault("memory", "the program's process was killed by the system, as it is for too much memory")
    if code < 0:
        return Fault("exception", f"the program's process died of {signal.Signals(-code).name}")
    return Fault("exception", f"the program ended its own process (exit code {code})")

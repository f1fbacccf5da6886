"""The program as the judge sees it: a process that answers questions with plain data, or not at all."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from . import changes
from .excerpt import excerpt, shown
from .faults import CannotCrossError, Fault, ProgramEndedError, TestsBrokenError, revive
from .handles import Handle
from .literals import Digested
from .values import PLAIN, Crossed, Known, Names, Opaque, decode, encode, holds
from .wire import FrameTooLargeError, WireError
from .zygote import Zygote

Reply = dict[str, Any]  # Any: JSON of a hostile process
_FEW = 32  # answers that are waited for one by one
_NAP_SECONDS = 0.001  # of more, so many come meanwhile that waking up for each would take longer than they do


class Calls(NamedTuple):
    """Calls that are sent together: their arguments as the JSON of lists, with commas between them.

    ``digests``: of an answer that is large, its digest will do.
    """

    text: str
    number: int
    digests: bool

    def question(self, target: int, first: int) -> str:
        plain = int("{" not in self.text)  # nothing in it is anything but what JSON says
        how = f'"target":{target},"first":{first},"plain":{plain},"digests":{int(self.digests)}'
        return f'{{"ask":"calls",{how},"calls":[{self.text}]}}'


class Program:
    """Loads a program in a fresh candidate's process and asks it.

    ``mirrors``: what it changes in place in its arguments changes for the caller too. ``calls``: how often it was asked
    something; ``changed``: whether it has changed arguments.
    """

    def __init__(self, zygote: Zygote, *, mirrors: bool = True) -> None:
        self.calls = 0
        self.changed = False
        self._mirrors = mirrors
        self._zygote = zygote
        self._channel = zygote.fork()
        self._handles: dict[int, Handle] = {}
        self._known = Known(self._handle)
        self._ended: Fault | None = None

    def load(self, program: dict[str, Any], answered: Callable[[], object]) -> dict[str, object]:  # Any: JSON
        """What the program binds to each of ``program["names"]``. Raise what the program raised.

        ``answered`` is told as soon as there is something of the program's to deal with.
        """
        reply = self._exchange(program)
        answered()
        found = self._value(reply)
        names = program["names"]
        if not isinstance(found, dict) or not found.keys() >= set(names):
            raise self.end(Fault("exception", "the program's process did not say what it defines"))
        return {name: found[name] for name in names}  # and nothing else gets among the names of the tests

    def do(self, what: str, target: int, *arguments: object, **named: object) -> object:
        """Call, or look into, what the candidate's process keeps."""
        crossed = Crossed()
        names = Names(crossed=crossed, numbers=True)
        message = {"arguments": encode(arguments, names), "named": named and encode(named, names)}
        self._check_can_cross(arguments, list(message.values()))
        self.calls += 1
        try:
            reply = self._exchange({"ask": "do", "do": what, "target": target, **message})
        except FrameTooLargeError as error:
            if self.calls == 1:  # later ones may be made of what the program returned
                raise TestsBrokenError(f"they call the program with {error}") from None
            raise
        known = Known(self._handle, crossed if self._mirrors else _copied(message, self._known))
        if reply.get("changes"):
            self.changed = True
            self._told(changes.apply, reply["changes"], known)
        return self._told(decode, reply.get("value"), known)

    def answers(self, target: int, calls: Calls) -> Iterator[Reply]:
        """What comes of each call, in order, as it comes; ``value`` reads it. Raise ProgramEndedError."""
        self.calls += calls.number
        first = int.from_bytes(os.urandom(6), "big")  # no answer can be sent before its question
        due, end, began = first, first + calls.number, time.monotonic()
        try:
            self.check_alive()
            self._channel.send_text(calls.question(target, first))
            self._zygote.prepare()
            while due < end:
                for reply in self._channel.lines():
                    if due == end or reply.get("number") != due:
                        raise WireError("an answer that nobody asked for")
                    yield reply
                    due += 1
                if end - due > _FEW:
                    time.sleep(min(_NAP_SECONDS, (end - due) * (time.monotonic() - began) / (due - first)))
        except WireError as error:
            raise self._sent(error) from None
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise self.end(_fault_of_exit(self._zygote.wait())) from None

    def value(self, reply: Reply) -> object:
        """What a call returned: plain data, or what stands for it. Raise what it raised."""
        if type(value := reply.get("value")) in PLAIN and "value" in reply:
            return value
        try:
            returned = _returned(reply)
        except ProgramEndedError as error:
            raise self.end(error.fault) from None
        except WireError as error:
            raise self._sent(error) from None
        if "digest" in returned:
            return Digested(str(returned["digest"]), excerpt(str(returned.get("shown"))))
        return self._told(decode, returned.get("value"))

    def items(self, target: int, count: int) -> tuple[list[object], bool]:
        reply = self._exchange({"ask": "next", "target": target, "count": count})
        found = self._value(reply)
        if not isinstance(found, list) or not (found or reply.get("ended")):
            raise self.end(Fault("exception", "the program's process sent no items"))
        return found, bool(reply.get("ended"))

    def report(self, tests: dict[str, Any]) -> Any:  # Any: JSON, the latter of a hostile process
        """What the candidate's process itself says that tests made of the program."""
        return self._exchange({"ask": "tests", **tests}).get("report")

    def evaluate(self, expression: str) -> object:
        """What an expression gives in the program's process. Raise as a call of its function does."""
        return self._value(self._exchange({"ask": "evaluate", "expression": expression}))

    def end(self, fault: Fault) -> ProgramEndedError:
        """Kill the process; what to raise now, and what every later question raises."""
        self._ended = self._ended or fault
        self._zygote.kill()
        return ProgramEndedError(self._ended)

    def check_alive(self) -> None:
        """Raise ProgramEndedError if the program ended, even if a test swallowed that."""
        if self._ended:
            raise ProgramEndedError(self._ended)

    def spent(self) -> float:
        """Seconds of processor time that its process has had; 0 where that cannot be told."""
        return self._zygote.spent_by_candidate()

    def close(self) -> None:
        """Kill the process, and wait until nothing is left of it."""
        self._zygote.end()
        self._channel.close()

    def _check_can_cross(self, arguments: tuple[object, ...], encoded: list[Any]) -> None:  # Any: JSON
        if holds(encoded, "opaque"):
            raise CannotCrossError(f"the tests call the program with {shown(arguments)}")
        if holds(encoded, "beyond"):
            raise TypeError(f"the program is called with its own {shown(arguments)}, which is not plain data")

    def _exchange(self, message: dict[str, Any]) -> dict[str, Any]:  # Any: JSON
        self.check_alive()
        try:
            return self._reply_to(message)
        except ProgramEndedError as error:  # SystemExit and its like
            raise self.end(error.fault) from None
        except WireError as error:
            raise self._sent(error) from None
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise self.end(_fault_of_exit(self._zygote.wait())) from None

    def _reply_to(self, message: dict[str, Any]) -> dict[str, Any]:  # Any: JSON
        number = os.urandom(8).hex()  # no answer can be sent before its question
        self._channel.send({**message, "number": number})
        self._zygote.prepare()
        reply = self._channel.receive()
        if reply.get("number") != number:
            raise WireError("an answer that nobody asked for")
        return _returned(reply)

    def _value(self, reply: dict[str, Any]) -> object:  # Any: JSON
        return self._told(decode, reply.get("value"), self._known)

    def _told(self, read: Callable[..., object], *told: Any) -> object:  # Any: JSON of a hostile process
        """What ``read`` makes of it; a program that sends nonsense is ended."""
        try:
            return read(*told)
        except (WireError, ValueError, TypeError, LookupError, AttributeError) as error:
            raise self._sent(error) from None

    def _sent(self, what: object) -> ProgramEndedError:
        return self.end(Fault("exception", f"the program's process sent {what}"))

    def _handle(self, number: int, kind: str) -> Opaque:
        return self._handles.setdefault(number, Handle(number, kind, self))


def _returned(reply: Reply) -> Reply:
    if "raised" in reply:
        raise revive(reply["raised"], decode(reply.get("arguments")), str(reply.get("note"))[:700])
    if "too_large" in reply:
        raise OverflowError(f"the program returned {str(reply['too_large'])[:100]}")
    return reply


def _copied(message: dict[str, Any], known: Known) -> Crossed:  # Any: JSON
    """The containers of a message once more, to be changed where the caller's are not to be."""
    crossed = Crossed()
    for part in filter(None, message.values()):
        decode(part, Known(known.kept, crossed, numbers=True))
    return crossed


def _fault_of_exit(code: int | None) -> Fault:
    if code is None:
        return Fault("exception", "the program's process stopped answering")
    if code == -signal.SIGXCPU:
        return Fault("timeout", "the program used up its processor time")
    if code == -signal.SIGKILL:
        return Fault("memory", "the program's process was killed by the system, as it is for too much memory")
    if code == -signal.SIGSYS:
        return Fault("forbidden", "the program made a system call that no program may make here")
    if code < 0:
        return Fault("exception", f"the program's process died of {signal.Signals(-code).name}")
    return Fault("exception", f"the program ended its own process (exit code {code})")

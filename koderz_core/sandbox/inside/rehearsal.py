"""A harmless program, served a few times before any other, so that forks find done what is done at the first time.

The interpreter makes its code quicker while it runs it, and sets up much of itself when that is first needed; a fork
that had to do it would do it every time, and copy the memory that it touches.
"""

from __future__ import annotations

import socket
import sys
from contextlib import suppress

from . import candidate
from .values import encode
from .wire import Channel

_TIMES = 12
_PROGRAM = {
    "preamble": "import math\n",
    "code": "def same(*given):\n    return given",
    "entry_point": "same",
    "names": ["same"],
}
_CALL = {
    "ask": "do",
    "do": "call",
    "target": 0,
    "arguments": encode(([1, 2.5], "text", {1: (True, None)})),
    "named": {},
}
_CALLS = {"ask": "calls", "target": 0, "first": 0, "plain": 1, "digests": 0, "calls": [[[1, 2.5], "text"], [None]]}


def rehearse() -> None:
    for _ in range(_TIMES):
        mine, theirs = socket.socketpair()
        with mine, theirs, suppress(EOFError):
            judge, served = (Channel(end.fileno(), end.fileno()) for end in (mine, theirs))
            for question in (_PROGRAM, _CALL, _CALL, _CALLS):
                judge.send({**question, "number": "0"})
            mine.shutdown(socket.SHUT_WR)
            candidate.answer_questions(served, served.receive())
    del sys.modules[candidate.NAME]

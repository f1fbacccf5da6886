"""Runs a harmless program a few times before the first fork, so that forks start warm.

The interpreter specialises code while it runs and initialises many of its parts at their first use. A fork would repeat
that for every program and copy the memory that it writes to.
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

"""A fork server that believes its programs: judge and programs share a pipe, answers are counted, nothing is confined.

From standard input and to standard output as in ``warm``. Questions and answers are frames of four bytes of length and
that many bytes of JSON; the pipe outlives programs, and numbers can be guessed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

SECONDS = 1.0


def send(fd, message):
    body = json.dumps(message).encode()
    os.write(fd, len(body).to_bytes(4, "big") + body)


def receive(fd):
    return json.loads(read(fd, int.from_bytes(read(fd, 4), "big")))


def read(fd, size):
    body = b""
    while len(body) < size:
        body += os.read(fd, size - len(body))
    return body


def serve(program, entry_point, read_fd, write_fd):
    """Descriptor 3 is for questions, 4 for answers, and there are no others."""
    os.dup2(os.dup(read_fd), 30), os.dup2(os.dup(write_fd), 31)
    os.dup2(30, 3), os.dup2(31, 4)
    os.closerange(5, 64)
    read_fd, write_fd = 3, 4
    space = {"__name__": "program"}
    exec(program, space)
    while True:
        question = receive(read_fd)
        number = question["number"]
        send(write_fd, {"number": number, "value": space[entry_point](*question["arguments"])})


class Stub:
    def __init__(self, write_fd, read_fd):
        self.number, self.write_fd, self.read_fd = 0, write_fd, read_fd

    def __call__(self, *arguments):
        self.number += 1
        send(self.write_fd, {"number": self.number, "arguments": arguments})
        answer = receive(self.read_fd)
        assert answer["number"] == self.number
        return answer["value"]


def stop(_signal, _frame):
    raise TimeoutError


def passes(program, order, answers):
    questions = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            serve(program, order["entry_point"], questions[0], answers[1])
        finally:
            os._exit(0)
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        space = {}
        exec(order["tests"], space)
        space["check"](Stub(questions[1], answers[0]))
        return True
    except (AssertionError, OSError, ValueError, LookupError, TypeError):
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        time.sleep(0.05)  # between two programs


if __name__ == "__main__":
    received = json.load(sys.stdin)
    shared = os.pipe()
    print(json.dumps([passes(program, received, shared) for program in received["programs"]]))  # noqa: T201

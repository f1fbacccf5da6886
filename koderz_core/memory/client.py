"""An MCP client for a memory server over its standard streams: one answer at a time, each of them checked.

Only what koderz needs of MCP (https://modelcontextprotocol.io/specification): initialize, tools/list, tools/call, and
an answer to the server's ping. Everything else that arrives is skipped, also lines that are no messages. Whatever the
server does, answers are bounded in time and size. It sees of this process's environment only what it needs.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import signal
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from select import POLLERR, POLLHUP, POLLIN, POLLOUT, poll
from subprocess import PIPE, Popen, TimeoutExpired

import msgspec

from koderz_core.config import Settings
from koderz_core.errors import ConfigError, CortexError
from koderz_core.memory.cortex.project import DEFAULT_PROJECT, FILE_NAME

PROTOCOL = "2025-06-18"
SECONDS = 60.0  # for each answer, a start included: a server at low priority waits while models keep all cores busy
GOODBYE_SECONDS = 0.2  # claude-cortex-core never ends by itself
MAX_ANSWER_BYTES = 8 << 20  # all that may arrive while one answer is awaited
NICENESS = 10  # what is remembered can wait, what is measured beside it cannot
_SLICE_SECONDS = 0.1  # how soon a changed deadline is noticed
_CHUNK_BYTES = 1 << 16
_ERROR = re.compile(r"[\w.]*(Error|Exception)\b")  # how the line begins that says what went wrong
EMBEDDED = (sys.executable, "-P", "-c", "from koderz_core.cli import main; main()", "cortex", "serve", "--db")
PASSED_ON = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "TMPDIR", "NODE_PATH")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answered: its text, the same as JSON if the server gives that, and whether it says it went wrong."""

    text: str
    content: Mapping[str, object] = field(default_factory=dict)
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a server says of itself. Hostile texts."""

    name: str
    version: str
    tools: frozenset[str]


class Client:
    """A session that is opened when first needed, and anew after it was lost. For one thread, ``hurry`` apart."""

    def __init__(self, server: Server, version: str, seconds: float = SECONDS) -> None:
        """``version``: of this client; ``seconds``: what each answer may take. Nothing is started yet."""
        self.server = server
        self._version, self._seconds = version, seconds
        self._wire: Wire | None = None
        self._greeting: Greeting | None = None
        self._numbers = count(1)
        self._latest: float | None = None

    def open(self) -> Greeting:
        """Who is there, started if need be. Raises CortexError."""
        if self._wire is None or self._greeting is None:
            self._greeting = self._opened()
        return self._greeting

    @property
    def is_open(self) -> bool:
        return self._greeting is not None

    def call(self, tool: str, arguments: Mapping[str, object]) -> Answer:
        """What a tool answers. Raises CortexError if nothing that is an answer comes: the session is lost then."""
        self.open()
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        try:
            told = msgspec.convert(result, _Result)
        except msgspec.ValidationError as error:
            raise self._lost(f"answered {tool} with what is no result of a tool ({error})") from error
        text = "\n".join(piece.text for piece in told.content if piece.type == "text")
        return Answer(text, told.structured or {}, bool(told.wrong))

    def hurry(self, seconds: float) -> None:
        """Whatever is under way or comes later has only so long from now. May be called from another thread."""
        self._latest = time.monotonic() + seconds
        if wire := self._wire:
            wire.latest = self._latest

    def kill(self) -> None:
        """End the server at once, from whatever thread."""
        if wire := self._wire:
            wire.kill()

    def close(self) -> None:
        """End the session and the server. Idempotent; a later call opens another one."""
        wire, self._wire, self._greeting = self._wire, None, None
        if wire:
            wire.close(GOODBYE_SECONDS)

    def _opened(self) -> Greeting:
        self.close()
        self._wire = Wire(self.server.command, self.server.environment)
        self._wire.latest = self._latest
        about = {"name": "koderz", "version": self._version}
        hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": about}
        said = self._ask("initialize", hello)
        self._tell({"jsonrpc": "2.0", "method": "notifications/initialized"})
        offered = self._ask("tools/list", {})
        try:
            who, tools = msgspec.convert(said, _Hello).about, msgspec.convert(offered, _Tools).tools
        except msgspec.ValidationError as error:
            raise self._lost(f"does not greet as MCP has it ({error})") from error
        if all(tool.name != "remember" for tool in tools):
            raise self._lost("has no tool named remember, so it is no cortex. Correct KODERZ_CORTEX_COMMAND")
        return Greeting(who.name, who.version, frozenset(tool.name for tool in tools))

    def _ask(self, method: str, params: Mapping[str, object]) -> object:
        number, deadline = next(self._numbers), time.monotonic() + self._seconds
        self._tell({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while True:
            message = self._heard(deadline)
            if message.method is not None and message.id is not None:
                self._oblige(message)
            elif message.method is None and message.id == number:
                break
        if message.error is not None:
            raise self._lost(f"refused {method}: {message.error.message[:300]}")
        return message.result

    def _oblige(self, request: _Message) -> None:
        """A server may ask too; of a client that offers nothing only whether it is there."""
        unknown = {"error": {"code": -32601, "message": "koderz offers nothing to servers."}}
        self._tell({"jsonrpc": "2.0", "id": request.id, **({"result": {}} if request.method == "ping" else unknown)})

    def _tell(self, message: Mapping[str, object]) -> None:
        self._open_wire().send(msgspec.json.encode(message))

    def _heard(self, deadline: float) -> _Message:
        while True:
            try:
                line = self._open_wire().receive(deadline)
            except CortexError:
                self.close()
                raise
            try:
                return _MESSAGES.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue  # servers log to standard output by mistake; the wire bounds how much

    def _open_wire(self) -> Wire:
        if self._wire is None:
            raise CortexError("The session with the memory server has been closed. It is opened anew when needed.")
        return self._wire

    def _lost(self, how: str) -> CortexError:
        self.close()
        shown = "".join(char if char.isprintable() else " " for char in how)
        return CortexError(f"The memory server {self.server.shown} {shown}.")


class _Fault(msgspec.Struct, frozen=True):
    message: str = ""


class _Message(msgspec.Struct, frozen=True):
    id: int | str | None = None
    method: str | None = None
    result: object = None
    error: _Fault | None = None


class _About(msgspec.Struct, frozen=True):
    name: str = "unknown"
    version: str = "unknown"


class _Hello(msgspec.Struct, frozen=True):
    about: _About = msgspec.field(name="serverInfo", default=_About())


class _Tool(msgspec.Struct, frozen=True):
    name: str


class _Tools(msgspec.Struct, frozen=True):
    tools: list[_Tool]


class _Piece(msgspec.Struct, frozen=True):
    type: str
    text: str = ""


class _Result(msgspec.Struct, frozen=True):
    content: list[_Piece]
    structured: dict[str, object] | None = msgspec.field(name="structuredContent", default=None)
    wrong: bool | None = msgspec.field(name="isError", default=None)


_MESSAGES = msgspec.json.Decoder(_Message)


class Wire:
    """A child process that reads and writes lines. For one thread; only ``latest`` and ``kill`` are for others too."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Raises CortexError if it cannot be started."""
        try:
            # A session of its own: Ctrl-C must not end it while what ran last is still to be remembered.
            self._process = Popen(
                list(command), stdin=PIPE, stdout=PIPE, stderr=PIPE, env=dict(environment), start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise CortexError(
                f"The memory server cannot be started with {command[0]!r}: {error}. Correct CORTEX_PATH or "
                "KODERZ_CORTEX_COMMAND, or unset them for the server that comes with koderz."
            ) from error
        with suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, self._process.pid, NICENESS)
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._in, self._out, self._err = (pipe.fileno() if pipe else -1 for pipe in pipes)
        for pipe in (self._in, self._out, self._err):
            os.set_blocking(pipe, False)
        self._heard = [self._out, self._err]
        self._unsent, self._unread = b"", bytearray()
        self._words: deque[bytes] = deque(maxlen=4)  # what it last said on standard error
        self._received = 0
        self.latest: float | None = None  # monotonic; every exchange ends then, whatever it was given

    def send(self, line: bytes) -> None:
        """Have a line written while the next answer is awaited; from now on a whole answer's bytes may arrive."""
        self._unsent += line + b"\n"
        self._received = 0

    def receive(self, deadline: float) -> bytes:
        """The next line. Raises CortexError if the process ends, is late or says too much."""
        while (end := self._unread.find(b"\n")) < 0:
            self._wait(deadline)
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return line

    def kill(self) -> None:
        """End it and what it started, at once."""
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self, seconds: float) -> None:
        """Let it end by itself for a moment, since its input has ended; then end it."""
        if self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()
        with suppress(TimeoutExpired):
            self._process.wait(seconds)
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe:
                pipe.close()

    def _wait(self, deadline: float) -> None:
        left = (deadline if self.latest is None else min(deadline, self.latest)) - time.monotonic()
        if left <= 0:
            raise CortexError(
                f"The memory server did not answer in time{self._said()}. It is started anew when needed."
            )
        waiting = poll()
        for pipe in self._heard:
            waiting.register(pipe, POLLIN)
        if self._unsent:
            waiting.register(self._in, POLLOUT)
        for pipe, ready in waiting.poll(min(left, _SLICE_SECONDS) * 1000):
            if pipe == self._in:
                self._write()
            elif ready & (POLLIN | POLLHUP | POLLERR):
                self._read(pipe)

    def _write(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._in, self._unsent[:_CHUNK_BYTES]) :]
        except BlockingIOError:
            return
        except OSError:
            self._unsent = b""  # it is gone, which reading will tell

    def _read(self, pipe: int) -> None:
        try:
            piece = os.read(pipe, _CHUNK_BYTES)
        except BlockingIOError:
            return
        if pipe == self._err:
            self._hear(piece)
            return
        if not piece:
            raise CortexError(f"The memory server ended{self._how()}{self._said()}. It is started anew when needed.")
        self._received += len(piece)
        if self._received > MAX_ANSWER_BYTES:
            raise CortexError(
                f"The memory server said more than {MAX_ANSWER_BYTES >> 20} MiB instead of an answer. It is "
                "started anew when needed."
            )
        self._unread += piece

    def _hear(self, piece: bytes) -> None:
        """Standard error, whose end may come long before that of the process."""
        if piece:
            self._words.append(piece)
        else:
            self._heard.remove(self._err)

    def _how(self) -> str:
        with suppress(TimeoutExpired):
            self._process.wait(_SLICE_SECONDS)
        if self._err in self._heard:
            self._read(self._err)  # what it said last says why
        code = self._process.poll()
        if code is None:
            return " its output"
        return f" (signal {-code})" if code < 0 else f" (exit code {code})"

    def _said(self) -> str:
        """Its last word: of a traceback the line that names the error, which Python has last and Node.js has not."""
        lines = [line.strip() for line in b"".join(self._words).decode(errors="replace").splitlines() if line.strip()]
        errors = [line for line in lines if _ERROR.match(line)]
        last = "".join(char if char.isprintable() else " " for char in (errors or lines or [""])[-1][:300])
        return f": {last}" if last else ""


@dataclass(frozen=True, slots=True)
class Server:
    """A command that speaks MCP over its standard streams. ``shown`` is what people know it by."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    shown: str

    @property
    def key(self) -> str:
        """Equal for the same server: what one has acknowledged, another one does not have."""
        return hashlib.sha256(json.dumps(self.shown).encode()).hexdigest()[:16]


def server_of(settings: Settings) -> Server:
    """KODERZ_CORTEX_COMMAND before CORTEX_PATH (under node) before the server that comes with koderz.

    Raises ConfigError for a command that is none.
    """
    file = str(memory_file(settings))
    if settings.cortex_command:
        return _foreign(_split(settings.cortex_command))
    if settings.cortex_path:
        return _foreign(("node", str(settings.cortex_path.absolute()), "--db", file))
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    return Server((*EMBEDDED, file), environment, shlex.join(("koderz", "cortex", "serve", "--db", file)))


def memory_file(settings: Settings) -> Path:
    """Where the memories are, unless KODERZ_CORTEX_COMMAND says otherwise."""
    return (settings.cortex_db or settings.home / FILE_NAME).absolute()


def _foreign(command: tuple[str, ...]) -> Server:
    """It sees no key of this process: only what programs need to start, and the project that it works for."""
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return Server(command, {**passed_on, "CLAUDE_MEMORY_PROJECT": DEFAULT_PROJECT}, shlex.join(command))


def _split(command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise ConfigError(f"KODERZ_CORTEX_COMMAND cannot be read: {error}. Quote it as in a shell.") from error
    if not words:
        raise ConfigError("KODERZ_CORTEX_COMMAND is empty. Give a command that speaks MCP over stdio, or unset it.")
    return words

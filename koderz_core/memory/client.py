"""An MCP client for a memory server that is a child process: one request at a time, every answer checked and bounded.

It speaks the part of MCP that koderz needs (https://modelcontextprotocol.io/specification): initialize, tools/list and
tools/call, and it answers the server's pings. It skips everything else, including lines that are not messages. The
server gets only a few variables of this process's environment.

It does not use the SDK's ``ClientSession`` and ``stdio_client`` (mcp 2.3.0, measured 2026-11-25): their import takes
0.57 s of processor time in a process that has imported the runner, and in an empty process 0.95 s where this module
takes 0.11 s. They also read a line of any length, log a traceback for each line that is not a message,
wait 2 s at the end for a server that does not exit, and hide the process, so its niceness and ``kill`` would be lost.
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
from koderz_core.memory.cortex.database import DEFAULT_PROJECT, FILE_NAME
from koderz_core.memory.cortex.search import one_line

PROTOCOL = "2025-06-18"
SECONDS = 60.0  # for each answer and the start: a server at low priority waits while models keep all cores busy
GRACE_SECONDS = 0.2  # to exit after its input ended; claude-cortex-core never does
MAX_ANSWER_BYTES = 8 << 20  # everything that arrives during one request
NICENESS = 10  # storing memories can wait, the experiments that are measured cannot
RESTART = "koderz restarts the server when needed."
_SLICE_SECONDS = 0.1  # the longest that a changed deadline goes unnoticed
_CHUNK_BYTES = 1 << 16
_ERROR = re.compile(r"[\w.]*(Error|Exception)\b")  # the start of the line that names the error
EMBEDDED = (sys.executable, "-P", "-c", "from koderz_core.cli import main; main()", "cortex", "serve", "--db")
PASSED_ON = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "TMPDIR", "NODE_PATH")


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer of a tool: its text, its structured content if the server sends it, and whether it is an error."""

    text: str
    content: Mapping[str, object] = field(default_factory=dict)
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """The name, version and tools that a server reports. Hostile texts."""

    name: str
    version: str
    tools: frozenset[str]


class Client:
    """A session that opens at the first request and reopens after a failure. For one thread, except where noted."""

    def __init__(self, server: Server, version: str, seconds: float = SECONDS) -> None:
        """``version``: of this client; ``seconds``: time limit of each answer. Starts nothing."""
        self.server = server
        self._version, self._seconds = version, seconds
        self._process: ServerProcess | None = None
        self._info: ServerInfo | None = None
        self._numbers = count(1)
        self._deadline: float | None = None

    def open(self) -> ServerInfo:
        """Start the server unless it runs, and return what it reports about itself. Raises CortexError."""
        if self._process is None or self._info is None:
            self._info = self._start()
        return self._info

    @property
    def is_open(self) -> bool:
        return self._info is not None

    def call(self, tool: str, arguments: Mapping[str, object]) -> ToolAnswer:
        """Call a tool. Raises CortexError if no valid answer arrives; the session is then closed."""
        self.open()
        answer = self._request("tools/call", {"name": tool, "arguments": arguments})
        try:
            result = msgspec.convert(answer, _ToolResult)
        except msgspec.ValidationError as error:
            raise self._failure(f"returned an invalid result for the tool {tool} ({error})") from error
        text = "\n".join(part.text for part in result.content if part.type == "text")
        return ToolAnswer(text, result.structured or {}, bool(result.is_error))

    def limit(self, seconds: float) -> None:
        """End the current request and all later ones that many seconds from now. May be called from another thread."""
        self._deadline = time.monotonic() + seconds
        if process := self._process:
            process.deadline = self._deadline

    def kill(self) -> None:
        """End the server at once. May be called from another thread."""
        if process := self._process:
            process.kill()

    def close(self) -> None:
        """End the session and the server. Idempotent; the next call opens a new session."""
        process, self._process, self._info = self._process, None, None
        if process:
            process.close(GRACE_SECONDS)

    def _start(self) -> ServerInfo:
        self.close()
        self._process = ServerProcess(self.server.command, self.server.environment)
        self._process.deadline = self._deadline
        client = {"name": "koderz", "version": self._version}
        hello = self._request("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        listing = self._request("tools/list", {})
        try:
            about, tools = msgspec.convert(hello, _Initialized).about, msgspec.convert(listing, _ToolList).tools
        except msgspec.ValidationError as error:
            raise self._failure(f"did not start the session as MCP specifies ({error})") from error
        names = frozenset(tool.name for tool in tools)
        if "remember" not in names:
            raise self._failure(
                "has no tool named remember, so it cannot store memories. Correct KODERZ_CORTEX_COMMAND"
            )
        return ServerInfo(about.name, about.version, names)

    def _request(self, method: str, params: Mapping[str, object]) -> object:
        number, deadline = next(self._numbers), time.monotonic() + self._seconds
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while True:
            message = self._receive(deadline)
            if message.method is not None and message.id is not None:
                self._answer_request(message)
            elif message.method is None and message.id == number:
                break
        if message.error is not None:
            raise self._failure(f"refused {method}: {message.error.message[:300]}")
        return message.result

    def _answer_request(self, request: _Message) -> None:
        """Answer a request of the server: a ping with an empty result, anything else with an error."""
        unknown = {"error": {"code": -32601, "message": "koderz has no methods that a server can call."}}
        self._send({"jsonrpc": "2.0", "id": request.id, **({"result": {}} if request.method == "ping" else unknown)})

    def _send(self, message: Mapping[str, object]) -> None:
        self._running().send(msgspec.json.encode(message))

    def _receive(self, deadline: float) -> _Message:
        while True:
            try:
                line = self._running().receive(deadline)
            except CortexError:
                self.close()
                raise
            try:
                return _MESSAGES.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue  # some servers log to standard output; MAX_ANSWER_BYTES limits it

    def _running(self) -> ServerProcess:
        if self._process is None:
            raise CortexError("The session with the memory server is closed. koderz opens a new session when needed.")
        return self._process

    def _failure(self, reason: str) -> CortexError:
        self.close()
        return CortexError(f"The memory server {self.server.shown} {one_line(reason)}.")


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


class _Initialized(msgspec.Struct, frozen=True):
    about: _About = msgspec.field(name="serverInfo", default=_About())


class _Tool(msgspec.Struct, frozen=True):
    name: str


class _ToolList(msgspec.Struct, frozen=True):
    tools: list[_Tool]


class _Content(msgspec.Struct, frozen=True):
    type: str
    text: str = ""


class _ToolResult(msgspec.Struct, frozen=True):
    content: list[_Content]
    structured: dict[str, object] | None = msgspec.field(name="structuredContent", default=None)
    is_error: bool | None = msgspec.field(name="isError", default=None)


_MESSAGES = msgspec.json.Decoder(_Message)


class ServerProcess:
    """A child process that reads and writes lines. For one thread, except ``deadline`` and ``kill``."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Raises CortexError if the command cannot be started."""
        try:
            # A session of its own: Ctrl-C must not end the server while the last memories are still to be stored.
            self._process = Popen(
                list(command), stdin=PIPE, stdout=PIPE, stderr=PIPE, env=dict(environment), start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise CortexError(
                f"The memory server cannot be started with {command[0]!r}: {error}. Correct CORTEX_PATH or "
                "KODERZ_CORTEX_COMMAND, or unset both to use the server that comes with koderz."
            ) from error
        with suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, self._process.pid, NICENESS)
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._in, self._out, self._err = (pipe.fileno() if pipe else -1 for pipe in pipes)
        for pipe in (self._in, self._out, self._err):
            os.set_blocking(pipe, False)
        self._outputs = [self._out, self._err]
        self._unsent, self._unread = b"", bytearray()
        self._errors: deque[bytes] = deque(maxlen=4)  # the last pieces of its standard error
        self._received = 0
        self.deadline: float | None = None  # monotonic; ends every wait, whatever limit that has

    def send(self, line: bytes) -> None:
        """Queue a line, which ``receive`` writes. Restarts the count of received bytes."""
        self._unsent += line + b"\n"
        self._received = 0

    def receive(self, deadline: float) -> bytes:
        """Return the next line. Raises CortexError if the process exits, is late or writes too much."""
        while (end := self._unread.find(b"\n")) < 0:
            self._wait(deadline)
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return line

    def kill(self) -> None:
        """End the process and its children at once."""
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self, seconds: float) -> None:
        """Close its input, wait that long for it to exit, then kill it."""
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
        left = (deadline if self.deadline is None else min(deadline, self.deadline)) - time.monotonic()
        if left <= 0:
            raise CortexError(f"The memory server did not answer in time{self._last_error()}. {RESTART}")
        waiting = poll()
        for pipe in self._outputs:
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
            self._unsent = b""  # the process has exited; reading reports that

    def _read(self, pipe: int) -> None:
        try:
            piece = os.read(pipe, _CHUNK_BYTES)
        except BlockingIOError:
            return
        if pipe == self._err:
            if piece:
                self._errors.append(piece)
            else:
                self._outputs.remove(self._err)  # a process may close it long before it exits
            return
        if not piece:
            raise CortexError(f"The memory server {self._exit_status()}{self._last_error()}. {RESTART}")
        self._received += len(piece)
        if self._received > MAX_ANSWER_BYTES:
            raise CortexError(
                f"The memory server wrote more than {MAX_ANSWER_BYTES >> 20} MiB without completing its answer. "
                f"{RESTART}"
            )
        self._unread += piece

    def _exit_status(self) -> str:
        with suppress(TimeoutExpired):
            self._process.wait(_SLICE_SECONDS)
        if self._err in self._outputs:
            self._read(self._err)  # its last lines hold the reason
        code = self._process.poll()
        if code is None:
            return "closed its output"
        return f"ended (signal {-code})" if code < 0 else f"ended (exit code {code})"

    def _last_error(self) -> str:
        """The last line on standard error; of a traceback the line with the error, which Node.js does not put last."""
        lines = [line.strip() for line in b"".join(self._errors).decode(errors="replace").splitlines() if line.strip()]
        errors = [line for line in lines if _ERROR.match(line)]
        last = one_line((errors or lines or [""])[-1][:300])
        return f": {last}" if last else ""


@dataclass(frozen=True, slots=True)
class Server:
    """A command that speaks MCP over its standard streams. ``shown``: the command as a person would type it."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    shown: str

    @property
    def key(self) -> str:
        """Identifies the server in the record of confirmed memories: another server has not confirmed them."""
        return hashlib.sha256(json.dumps(self.shown).encode()).hexdigest()[:16]


def server_of(settings: Settings) -> Server:
    """The server of KODERZ_CORTEX_COMMAND, else of CORTEX_PATH (run by node), else the one that comes with koderz.

    Raises ConfigError if KODERZ_CORTEX_COMMAND is not a command.
    """
    file = str(memory_file(settings))
    if settings.cortex_command:
        return _foreign(_split(settings.cortex_command))
    if settings.cortex_path:
        return _foreign(("node", str(settings.cortex_path.absolute()), "--db", file))
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    return Server((*EMBEDDED, file), environment, shlex.join(("koderz", "cortex", "serve", "--db", file)))


def memory_file(settings: Settings) -> Path:
    """The path of the memory file, unless KODERZ_CORTEX_COMMAND names a server with a file of its own."""
    return (settings.cortex_db or settings.home / FILE_NAME).absolute()


def _foreign(command: tuple[str, ...]) -> Server:
    """Pass on no key of this process: only the variables that a program needs to start, and the project."""
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return Server(command, {**passed_on, "CLAUDE_MEMORY_PROJECT": DEFAULT_PROJECT}, shlex.join(command))


def _split(command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise ConfigError(
            f"KODERZ_CORTEX_COMMAND cannot be parsed: {error}. Quote its arguments as in a shell."
        ) from error
    if not words:
        raise ConfigError(
            "KODERZ_CORTEX_COMMAND is empty. Set it to a command that speaks MCP over stdio, or unset it."
        )
    return words

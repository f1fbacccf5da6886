"""An MCP session with a memory server over its standard streams: one answer at a time, every one of them checked.

Only what koderz needs of MCP (https://modelcontextprotocol.io/specification): initialize, tools/list, tools/call, and
an answer to the server's ping. Whatever else arrives is passed over, lines that are no messages included.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count

import msgspec

from koderz_core.errors import CortexError
from koderz_core.memory.servers import Server
from koderz_core.memory.wire import Wire

PROTOCOL = "2025-06-18"
SECONDS = 60.0  # for each answer, a start included: a server at low priority waits while models keep all cores busy
GOODBYE_SECONDS = 0.2  # claude-cortex-core never ends by itself


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

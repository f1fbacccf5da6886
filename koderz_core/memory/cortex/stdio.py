"""The transport of the MCP server: messages over standard input and output, one line each.

It replaces ``mcp.server.stdio`` (mcp 2.3.0, measured 2026-11-25), which never answers a line that is not a message
(such as one with half a character, as JavaScript cuts strings) and drops requests at the end of the input: of 50
requests it answered 26 to 28, this one answers all. Both take the same processor time from start to end (1.0 to 1.3 s).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from io import BufferedWriter

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

ANSWER_SECONDS = 5.0  # at the end of the input, for requests that are still open
CHUNK_BYTES = 1 << 16  # the capacity of a pipe

Incoming = SessionMessage | Exception


@asynccontextmanager
async def standard_streams() -> AsyncIterator[
    tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]
]:
    """The stream of incoming messages and the stream for answers, as ``mcp``'s server takes them."""
    transport = _Transport(*_claim_streams())
    to_server, incoming = anyio.create_memory_object_stream[Incoming](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        group.start_soon(transport.read, to_server)
        group.start_soon(transport.write, from_server)
        yield incoming, outgoing


class _Transport:
    """Both directions, and the requests without an answer yet."""

    def __init__(self, source: int, sink: BufferedWriter) -> None:
        self.source = source
        self.sink = sink
        self.unanswered: set[object] = set()
        self.idle = anyio.Event()

    async def read(self, to_server: MemoryObjectSendStream[Incoming]) -> None:
        async with to_server:
            async for line in _lines(self.source):
                await self._accept(line, to_server)
            self.idle = anyio.Event()
            if self.unanswered:
                with anyio.move_on_after(ANSWER_SECONDS):
                    await self.idle.wait()

    async def write(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with from_server:
            async for item in from_server:
                self._send(item.message.model_dump_json(by_alias=True, exclude_unset=True))
                if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                    self._settle(item.message.id)

    async def _accept(self, line: bytes, to_server: MemoryObjectSendStream[Incoming]) -> None:
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError as error:
            if line.strip():
                self._send(_refusal(line, error))
            return
        if isinstance(message, JSONRPCRequest):
            self.unanswered.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))
        await to_server.send(SessionMessage(message))

    def _settle(self, number: object) -> None:
        self.unanswered.discard(number)
        if not self.unanswered:
            self.idle.set()

    def _send(self, text: str) -> None:
        try:
            self.sink.write(text.encode() + b"\n")
            self.sink.flush()
        except BrokenPipeError:
            os._exit(0)  # the client has gone; everything that was confirmed is on file


async def _lines(source: int) -> AsyncIterator[bytes]:
    """Read lines without a thread: a thread that waits for input cannot be ended, and is slower."""
    parts: list[bytes] = []
    while chunk := await _chunk(source):
        *ended, rest = chunk.split(b"\n")
        for line in ended:
            yield b"".join([*parts, line])
            parts.clear()
        parts.append(rest)
    yield b"".join(parts)


async def _chunk(source: int) -> bytes:
    """The available bytes as soon as there are any; empty at the end of the input."""
    with suppress(PermissionError):  # a file on the disk cannot be waited for: it is always readable
        await anyio.wait_readable(source)
    return os.read(source, CHUNK_BYTES)


def _claim_streams() -> tuple[int, BufferedWriter]:
    """Take over the standard streams: other output of this process goes to standard error."""
    source, sink = os.dup(0), os.fdopen(os.dup(1), "wb")
    os.dup2(sys.stderr.fileno(), 1)
    return source, sink


def _refusal(line: bytes, error: ValidationError) -> str:
    """An error answer, with the id of the request if it can be found: its sender waits for an answer."""
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        request = None
    number = request.get("id") if isinstance(request, dict) else None
    message = f"This line is not an MCP message: {error.errors()[0]['msg']}. Nothing was done."
    refusal = JSONRPCError(
        jsonrpc="2.0",
        id=number if isinstance(number, int | str) else None,
        error=ErrorData(code=PARSE_ERROR, message=message),
    )
    return refusal.model_dump_json(by_alias=True)

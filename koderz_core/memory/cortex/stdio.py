"""MCP's messages over standard input and output, one line each.

What it does beyond the SDK's own transport: a line that is no message is answered with an error, where there nobody
would ever hear of it (half a character, as JavaScript cuts strings, is such a line); and what arrived before the end
of the input is answered before the server ends.
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

ANSWER_SECONDS = 5.0  # at the end of the input, for what has not been answered yet

CHUNK_BYTES = 1 << 16  # what a pipe holds

Incoming = SessionMessage | Exception


@asynccontextmanager
async def standard_streams() -> AsyncIterator[
    tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]
]:
    """What comes in and where answers go, as ``mcp``'s server wants them."""
    wire = _Wire(*_claimed())
    to_server, incoming = anyio.create_memory_object_stream[Incoming](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        group.start_soon(wire.read, to_server)
        group.start_soon(wire.write, from_server)
        yield incoming, outgoing


class _Wire:
    """Both directions, and which requests have not been answered yet."""

    def __init__(self, source: int, sink: BufferedWriter) -> None:
        self.source = source
        self.sink = sink
        self.unanswered: set[object] = set()
        self.idle = anyio.Event()

    async def read(self, to_server: MemoryObjectSendStream[Incoming]) -> None:
        async with to_server:
            async for line in _lines(self.source):
                await self._take(line, to_server)
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

    async def _take(self, line: bytes, to_server: MemoryObjectSendStream[Incoming]) -> None:
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
            os._exit(0)  # the client has gone: what it was told is kept, and nobody waits for more


async def _lines(source: int) -> AsyncIterator[bytes]:
    """Without a thread: one that waits for input cannot be ended, and is slower."""
    parts: list[bytes] = []
    while chunk := await _chunk(source):
        *ended, rest = chunk.split(b"\n")
        for line in ended:
            yield b"".join([*parts, line])
            parts.clear()
        parts.append(rest)
    yield b"".join(parts)


async def _chunk(source: int) -> bytes:
    """What there is, as soon as there is something; nothing at the end."""
    with suppress(PermissionError):  # a file of the disk cannot be waited for: it always has what it has
        await anyio.wait_readable(source)
    return os.read(source, CHUNK_BYTES)


def _claimed() -> tuple[int, BufferedWriter]:
    """The standard streams for the wire alone: whatever else prints lands on standard error."""
    source, sink = os.dup(0), os.fdopen(os.dup(1), "wb")
    os.dup2(sys.stderr.fileno(), 1)
    return source, sink


def _refusal(line: bytes, error: ValidationError) -> str:
    """With the id of the request if it can be made out: its sender waits for an answer."""
    try:
        read = json.loads(line)
    except (ValueError, RecursionError):
        read = None
    given = read.get("id") if isinstance(read, dict) else None
    said = f"This line is no message of MCP: {error.errors()[0]['msg']}. Nothing was done."
    refused = JSONRPCError(
        jsonrpc="2.0",
        id=given if isinstance(given, int | str) else None,
        error=ErrorData(code=PARSE_ERROR, message=said),
    )
    return refused.model_dump_json(by_alias=True)

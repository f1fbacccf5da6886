"""The server as clients meet it: the official client over stdio, and raw lines where that one is too polite."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

COMMAND = [sys.executable, "-c", "from koderz_core.cli import main; main()", "cortex", "serve", "--db"]
CONTRACT = json.loads((Path(__file__).parent / "contract.json").read_text())
STARTER = """
import pathlib, subprocess, sys, time
server = subprocess.Popen(sys.argv[1:])
while len(list(pathlib.Path(f"/proc/{server.pid}/task").iterdir())) < 2:  # it imports, and watches
    time.sleep(0.005)
"""
CALLS: dict[str, dict[str, Any]] = {
    "remember": {"title": "t", "content": "c"},
    "recall": {"query": "c"},
    "get_memory": {"id": 1},
    "get_context": {"format": "detailed"},
    "start_session": {},
    "end_session": {"sessionId": 1},
    "consolidate": {"dryRun": True, "force": True},
    "memory_stats": {},
    "export_memories": {},
    "import_memories": {"data": '[{"title": "u", "content": "d"}]'},
    "link_memories": {"sourceId": 1, "targetId": 2, "relationship": "related"},
    "get_related": {"id": 1},
    "forget": {"id": 2},
    "set_project": {"project": "*"},
    "get_project": {},
}


class Raw:
    """A client that sends lines."""

    def __init__(self, path: Path) -> None:
        self.server = subprocess.Popen([*COMMAND, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        self.send({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello})
        assert self.hear()["result"]["serverInfo"]["name"] == "koderz-cortex"

    def send(self, message: object) -> None:
        assert self.server.stdin
        self.server.stdin.write((message if isinstance(message, str) else json.dumps(message)).encode() + b"\n")
        self.server.stdin.flush()

    def hear(self) -> Any:
        assert self.server.stdout
        return json.loads(self.server.stdout.readline())

    def remember(self, number: int) -> None:
        arguments = {"title": f"t{number}", "content": "c"}
        params = {"name": "remember", "arguments": arguments}
        self.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})

    def acknowledged(self) -> int:
        return int(self.hear()["result"]["structuredContent"]["id"])


@pytest.fixture
def raw(tmp_path: Path) -> Iterator[Raw]:
    client = Raw(tmp_path / "cortex.db")
    yield client
    client.server.kill()
    client.server.communicate()


def _bare(value: Any) -> Any:
    """Without descriptions: they are koderz' own."""
    if isinstance(value, dict):
        kept = {key: item for key, item in value.items() if key != "description" or not isinstance(item, str)}
        return {key: _bare(item) for key, item in kept.items()}
    return [_bare(item) for item in value] if isinstance(value, list) else value


def test_the_official_client_finds_the_15_tools_as_contracted_and_each_answers(tmp_path: Path) -> None:
    served = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], str(tmp_path / "c.db")], env=dict(os.environ)
    )

    async def meet() -> None:
        async with stdio_client(served) as streams, ClientSession(*streams) as session:
            await session.initialize()
            listed = (await session.list_tools()).tools
            assert [{"name": tool.name, "inputSchema": _bare(tool.input_schema)} for tool in listed] == CONTRACT
            assert set(CALLS) == {tool.name for tool in listed}
            for name, arguments in CALLS.items():
                answer = await session.call_tool(name, arguments)
                assert not answer.is_error, answer
                assert answer.structured_content
            refused = await session.call_tool("remember", {"title": "t"})
            assert refused.is_error
            assert "'content' is a required property" in str(refused.content)
            with pytest.raises(MCPError, match="There is no tool 'dream'"):
                await session.call_tool("dream", {})
            for resource in (await session.list_resources()).resources:
                assert "**t**" in str((await session.read_resource(resource.uri)).contents), resource.uri
            assert "**t**" in str((await session.get_prompt("restore_context")).messages)
            assert "**t**" in str((await session.get_prompt("search_memory", {"query": "c"})).messages)
            assert len((await session.list_prompts()).prompts) == 2

    asyncio.run(meet())


def test_what_arrived_before_the_input_ended_is_answered_and_then_the_server_ends(raw: Raw) -> None:
    for number in range(50):
        raw.remember(number)
    answers, _ = raw.server.communicate(timeout=30)
    assert answers.count(b"Remembered") == 50
    assert raw.server.returncode == 0


def test_a_line_that_is_no_message_is_answered_and_the_next_one_is_heard(raw: Raw) -> None:
    for line in ('{"jsonrpc": "2.0", "id": 7, "method": "x", "params": {"a": "\\ud83d"}}', "[1", "\0"):
        raw.send(line)
        refused = raw.hear()
        assert "not an MCP message" in refused["error"]["message"]
        assert refused["id"] == (7 if "id" in line else None)
    raw.remember(1)
    assert raw.acknowledged() == 1


def test_nothing_acknowledged_is_lost_by_kill_9(raw: Raw, tmp_path: Path) -> None:
    for number in range(300):
        raw.remember(number)
    kept = [raw.acknowledged() for _ in range(20)]
    raw.server.kill()
    again = Raw(tmp_path / "cortex.db")
    again.send(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "export_memories", "arguments": {}}}
    )
    text = again.hear()["result"]["content"][0]["text"]
    found = {memory["id"] for memory in json.loads(text.partition("\n\n")[2])}
    again.server.communicate()
    assert set(kept) <= found


def test_two_servers_on_one_file_lose_nothing(raw: Raw, tmp_path: Path) -> None:
    other = Raw(tmp_path / "cortex.db")
    writers = [
        threading.Thread(target=lambda server: [server.remember(n) for n in range(100)], args=(server,))
        for server in (raw, other)
    ]
    for writer in writers:
        writer.start()
    ids = [server.acknowledged() for server in (raw, other) for _ in range(100)]
    other.server.communicate()
    assert sorted(ids) == list(range(1, 201))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_at_once(raw: Raw, number: int) -> None:
    raw.server.send_signal(number)
    assert raw.server.wait(timeout=10) == -number


def test_the_help_of_koderz_loads_no_mcp() -> None:
    shown = "import sys; from koderz_core.cli import commands; commands.main(['--help'], standalone_mode=False)"
    asked = f"{shown}; assert 'mcp' not in sys.modules"
    assert b"cortex" in subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the threads of a process")
def test_a_server_that_still_starts_does_not_outlive_who_started_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STARTER, *COMMAND, str(tmp_path / "cortex.db")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as starter:
        assert starter.wait(60) == 0
        assert select.select([starter.stdout], [], [], 60)[0]  # the server has let go of it

"""The speed of the embedded cortex: rates of ``remember``, latency of ``recall``, and losses by ``kill -9``.

Run: ``python benchmarks/memory.py``. The official ``mcp`` client drives everything over stdio, except the kills. The
yardstick, the same rows inserted by ``sqlite3`` in this process with one transaction each, is measured in the same run;
the ratio shows the cost of the protocol on this machine. Exits with 1 if anything was lost.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from koderz_core.memory.cortex import database, write_tools

SERVER = ["-c", "from koderz_core.cli import main; main()", "cortex", "serve", "--db"]
SIGNS = "".join(map(chr, range(32, 127)))
EMOJI = "🚀🧪👩‍🔬🇪🇺❤️"
Arguments = dict[str, Any]  # Any: arguments of a tool, as JSON


def main() -> None:
    asked = _arguments()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        where = Path(folder)
        iterations = list(_iterations(asked.memories))
        yardstick = _directly(where / "yardstick.db", iterations)
        print(f"yardstick: sqlite3 in this process, one transaction each: {yardstick:.0f}/s")
        lost = asyncio.run(_measure(where, iterations, asked.recalls, yardstick))
        lost += asyncio.run(_strange(where / "strange.db"))
        lost += _killed(where / "killed.db", asked.kills)
    print(f"lost: {lost}")
    sys.exit(1 if lost else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--recalls", type=int, default=500)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--folder", help="folder for the files: the disk to measure")
    return parser.parse_args()


def _iterations(count: int) -> Iterator[Arguments]:
    """As koderz leaves them: code, metadata, four tags, titles that hardly differ."""
    words, seeded = (
        Path(write_tools.__file__).read_text().split() + Path(database.__file__).read_text().split(),
        random.Random(1),
    )
    for number in range(count):
        experiment, iteration = f"exp_{number // 20:012x}", number % 20
        yield {
            "title": f"Experiment {experiment} - Iteration {iteration}",
            "content": " ".join(seeded.choices(words, k=120)),
            "category": "custom",
            "importance": "high",
            "tags": ["iteration", experiment, f"iter_{iteration}", f"bench_{number // 2000}"],
            "metadata": {"experiment_id": experiment, "iteration": iteration, "model": "ollama/x", "stderr": "e" * 300},
        }


def _directly(path: Path, iterations: Sequence[Arguments]) -> float:
    connection = database.open_memories(path, max_megabytes=4096)
    rows = [
        write_tools.NewMemory(
            iteration["title"], iteration["content"], "custom", "long_term", "koderz", "project", 0.8, 0.8,
            "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z",
            tags=write_tools.as_json(iteration["tags"]), metadata=write_tools.as_json(iteration["metadata"]),
        )
        for iteration in iterations
    ]  # fmt: skip
    started = time.perf_counter()
    for row in rows:
        with database.transaction(connection):
            write_tools.insert(connection, row)
    return len(rows) / (time.perf_counter() - started)


@asynccontextmanager
async def _client(path: Path) -> AsyncIterator[ClientSession]:
    served = StdioServerParameters(command=sys.executable, args=[*SERVER, str(path)], env=dict(os.environ))
    async with stdio_client(served) as streams, ClientSession(*streams) as session:
        await session.initialize()
        await session.list_tools()
        yield session


async def _call(session: ClientSession, tool: str, **arguments: Any) -> Any:  # Any: JSON both ways
    answer = await session.call_tool(tool, arguments)
    if answer.is_error:
        raise SystemExit(f"{tool} failed: {answer.content}")
    return answer.structured_content


async def _measure(where: Path, iterations: Sequence[Arguments], recalls: int, yardstick: float) -> int:
    halves = iterations[: len(iterations) // 2], iterations[len(iterations) // 2 :]
    path = where / "cortex.db"
    async with _client(path) as session:
        started = time.perf_counter()
        for _ in halves[0]:
            await _call(session, "get_project")
        _rate("get_project, the protocol alone", len(halves[0]), started, yardstick)
        started = time.perf_counter()
        for memory in halves[0]:
            await _call(session, "remember", **memory)
        _rate("remember, one client", len(halves[0]), started, yardstick)
        ended = time.perf_counter()
    print(f"exit after the end of its input: {time.perf_counter() - ended:.2f} s")
    async with AsyncExitStack() as stack:
        sessions = [await stack.enter_async_context(_client(path)) for _ in range(4)]
        started = time.perf_counter()
        await asyncio.gather(*(_remember_all(session, halves[1][n::4]) for n, session in enumerate(sessions)))
        _rate("remember, four clients with a server each", len(halves[1]), started, yardstick)
        await _time_recalls(sessions[0], iterations, recalls)
        lost = len(iterations) - (await _call(sessions[0], "memory_stats"))["total"]
        started = time.perf_counter()
        exported = await _call(sessions[0], "export_memories")
        print(f"export_memories of {exported['exported']}: {time.perf_counter() - started:.2f} s")
    return lost


async def _remember_all(session: ClientSession, iterations: Sequence[Arguments]) -> None:
    for memory in iterations:
        await _call(session, "remember", **memory)


def _rate(what: str, count: int, started: float, yardstick: float) -> None:
    rate = count / (time.perf_counter() - started)
    print(f"{what}: {rate:.0f}/s, {rate / yardstick:.2f} of the yardstick")


async def _time_recalls(session: ClientSession, iterations: Sequence[Arguments], recalls: int) -> None:
    """Half of the questions are made of words that most memories hold: the worst there is for a ranking."""
    seeded = random.Random(2)
    common = ["import", "connection", "return", "memory", "from", "if", "def", "iteration", "experiment"]
    questions: list[Arguments] = []
    for number in range(recalls):
        one = seeded.choice(iterations)
        asked = " ".join(seeded.sample(common, 3)) if number % 2 else f"{one['title']} {seeded.choice(common)}"
        questions.append(
            [{"query": asked}, {"query": asked, "category": "custom"}, {"tags": one["tags"][:1]}][number % 3]
        )
    seconds = []
    for question in questions:
        started = time.perf_counter()
        await _call(session, "recall", **question)
        seconds.append(time.perf_counter() - started)
    cuts = statistics.quantiles(seconds, n=100)
    told = ", ".join(f"p{share} {cuts[share - 1] * 1e3:.1f} ms" for share in (50, 95, 99))
    print(f"recall among {len(iterations)}: {told}")


async def _strange(path: Path) -> int:
    """Similar titles with recalls between; every printable character of ASCII, and emoji, in titles and questions."""
    async with _client(path) as session:
        for number in range(500):
            await _call(session, "remember", title=f"Experiment exp_1 - Iteration {number}", content="pass")
            if not number % 5:
                await _call(session, "recall", query="Experiment exp_1 Iteration")
        missed = 500 - (await _call(session, "memory_stats"))["total"]
        for sign in [*SIGNS, *EMOJI, SIGNS, EMOJI]:
            kept = await _call(session, "remember", title=f"a{sign}b {sign}", content=sign)
            found = await _call(session, "recall", query=f"a{sign}b {sign}", limit=50)
            missed += kept["id"] not in [memory["id"] for memory in found["memories"]]
    print(f"500 similar titles and {len(SIGNS) + len(EMOJI) + 2} strange ones: {missed} lost or not found")
    return missed


def _killed(path: Path, kills: int) -> int:
    """Each server is killed at a random moment while it remembers; then every acknowledged id is looked up."""
    seeded, acknowledged = random.Random(3), []
    for round_ in range(kills):
        server = subprocess.Popen([sys.executable, *SERVER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        acknowledged += _until_killed(server, round_, seeded.uniform(0.05, 0.5))
    with sqlite3.connect(path) as connection:
        kept = {row[0]: row[1] for row in connection.execute("select id, title from memories")}
        (sound,) = connection.execute("pragma integrity_check").fetchone()
        connection.execute("insert into memories_fts (memories_fts) values ('integrity-check')")
    lost = sum(kept.get(number) != title for number, title in acknowledged)
    print(f"kill -9, {kills} times: {len(acknowledged)} acknowledged, {lost} lost, file {sound}")
    return lost + (sound != "ok")


def _until_killed(server: subprocess.Popen[bytes], round_: int, seconds: float) -> list[tuple[int, str]]:
    """What was acknowledged, with several requests always under way."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "killer", "version": "1"}}
    _send(server, "initialize", hello)
    assert server.stdout
    server.stdout.readline()
    threading.Timer(seconds, server.kill).start()
    kept: list[tuple[int, str]] = []
    with suppress(BrokenPipeError):
        for number in range(100_000):
            _send(
                server,
                "tools/call",
                {"name": "remember", "arguments": {"title": f"{round_}/{number}", "content": "x" * 500}},
            )
            if number >= 8 and not _note(server.stdout.readline(), kept):
                break
    for line in server.stdout:
        _note(line, kept)
    server.wait()
    return kept


def _send(server: subprocess.Popen[bytes], method: str, params: Arguments) -> None:
    assert server.stdin
    message = {"jsonrpc": "2.0", "id": f"{time.perf_counter_ns()}", "method": method, "params": params}
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()


def _note(line: bytes, kept: list[tuple[int, str]]) -> bool:
    """Whether the line is a whole answer; a torn one was never heard."""
    if not line.endswith(b"\n"):
        return False
    result = json.loads(line)["result"]
    kept.append((result["structuredContent"]["id"], result["content"][0]["text"].split('"')[1]))
    return True


if __name__ == "__main__":
    main()

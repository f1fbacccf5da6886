"""A memory server that does what its first argument says, and logs what it was told to remember in its second."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

WAY, LOG = sys.argv[1], Path(sys.argv[2])


def say(message: object) -> None:
    sys.stdout.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
    sys.stdout.flush()


def answer(request: Any, text: str, **more: object) -> None:
    say({"jsonrpc": "2.0", "id": request["id"], "result": {"content": [{"type": "text", "text": text}], **more}})


def remembered() -> list[str]:
    return LOG.read_text().splitlines() if LOG.exists() else []


def remember(request: Any, title: str) -> None:
    way, times = WAY, len(remembered())
    if way == "dies after 3" and times == 3:
        way = "dies"
    if way == "bears no iteration" and "Iteration 1" in title:
        way = "dies"
    if way in {"dies", "hangs", "floods"}:
        {"dies": lambda: sys.exit(7), "hangs": lambda: time.sleep(60), "floods": lambda: say("x" * (50 << 20))}[way]()
    if way == "stores, then dies" and times == 2:
        with LOG.open("a") as log:
            log.write(title + "\n")
        sys.exit(7)
    if way == "refuses":
        return answer(request, f"Failed to remember: fts5: syntax error near {title!r}", isError=False)
    if way == "dedupes" and "Iteration" in title:
        return answer(request, f'Remembered: "{title}"\nID: 1\nReason: Updated existing similar memory')
    with LOG.open("a") as log:
        log.write(title + "\n")
    cut = "\nWARNING: content truncated to 10240 characters" if way == "cuts" else ""
    return answer(request, f'Remembered: "{title}"\nID: 1{cut}')


def obey(request: Any) -> None:
    if WAY == "talks" and "id" in request:
        say("Server ready, listening on stdio...")
        say('{"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "hello"}}')
        say('{"jsonrpc": "2.0", "id": "mine", "method": "ping"}')
    if request.get("method") == "initialize":
        hello = {
            "serverInfo": {"name": "hostile", "version": "6.6"},
            "protocolVersion": "2025-06-18",
            "capabilities": {},
        }
        say({"jsonrpc": "2.0", "id": request["id"], "result": hello})
    elif request.get("method") == "tools/list":
        tools = [] if WAY == "is no cortex" else [{"name": "remember"}, {"name": "recall"}]
        say({"jsonrpc": "2.0", "id": request["id"], "result": {"tools": tools}})
    elif request.get("method") == "tools/call":
        arguments = request["params"]["arguments"]
        if request["params"]["name"] == "remember":
            remember(request, arguments["title"])
        else:
            answer(request, "\n".join(f"[1] **{title}**" for title in remembered() if title == arguments["query"]))


LOG.with_suffix(".began").touch()
if WAY == "dies at once":
    sys.exit("no node_modules here")
if WAY == "breaks at once":
    raise ModuleNotFoundError("No module named 'mcp'")
for line in sys.stdin:
    obey(json.loads(line))

"""A fast server of one scripted model, started by ``calls_serving.py``: chat completions, whole or streamed.

``calls_server.py ANSWERS LATENCY_MS [SEEN]``: ANSWERS is a JSON file, a list of ``{"prompt", "right", "wrong"}``. The
server prints its port, answers every prompt that contains a known one after the latency, and prints its counts when its
input is closed. One in five answers is wrong, always the same ones: the seed of the request decides, or without a seed
the number of earlier requests with the same prompt. SEEN is a file that gets a line per request, its ``key``.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import resource
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

WRONG_SHARE = 0.2
CHUNKS = 16  # of a streamed answer, spread over the latency
DEFINED = re.compile(r"def (\w+)\(")
JSON = "application/json"


class Script:
    """The answers; repeated requests with the same prompt get correct and wrong answers in a fixed order."""

    def __init__(self, answers: list[dict[str, str]]) -> None:
        self._by_name: dict[str, list[dict[str, str]]] = {}
        for answer in answers:
            self._by_name.setdefault(DEFINED.findall(answer["prompt"])[-1], []).append(answer)
        self.counts: Counter[str] = Counter()
        self._asked: Counter[str] = Counter()

    def answer(self, text: str, seed: int | None) -> str:
        for name in dict.fromkeys(reversed(DEFINED.findall(text))):
            for answer in self._by_name.get(name, ()):
                if answer["prompt"].strip() in text:
                    return answer["wrong" if self._is_wrong(answer["prompt"], seed) else "right"]
        self.counts["unknown"] += 1
        return "I do not know this problem."

    def _is_wrong(self, prompt: str, seed: int | None) -> bool:
        self._asked[prompt] += 1
        drawn = self._asked[prompt] if seed is None else seed
        digest = hashlib.sha256(f"{drawn} {prompt}".encode()).digest()
        wrong = digest[0] < 256 * WRONG_SHARE
        self.counts["wrong"] += wrong
        return wrong


class Connection(asyncio.Protocol):
    """Reads one request after the other; a timer answers each."""

    def __init__(self, script: Script, seconds: float, seen: TextIO | None) -> None:
        self._script, self._seconds, self._seen, self._held = script, seconds, seen, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._out = transport
        self._script.counts["connections"] += 1

    def data_received(self, data: bytes) -> None:
        self._held += data
        head, found, rest = self._held.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        size = int(length[1]) if length else 0
        if found and len(rest) >= size:
            self._held = rest[size:]
            self._answer(rest[:size])

    def _answer(self, body: bytes) -> None:
        if not body:
            self._send({"object": "list", "data": [{"id": "scripted", "object": "model"}]})
            return
        counts, asked = self._script.counts, json.loads(body)
        counts["requests"] += 1
        counts["in flight"] += 1
        counts["most in flight"] = max(counts["most in flight"], counts["in flight"])
        messages = [(message["role"], _text(message["content"])) for message in asked["messages"]]
        if self._seen:
            self._seen.write(key(((role, _sha256(text)) for role, text in messages), asked.get("seed")) + "\n")
        text = "\n".join(content for _, content in messages)
        answer = self._script.answer(text, asked.get("seed"))
        usage = {"prompt_tokens": len(text) // 4, "completion_tokens": len(answer) // 4}
        usage["total_tokens"] = sum(usage.values())
        later = asyncio.get_running_loop().call_later
        if not asked.get("stream"):
            later(self._seconds, self._whole, answer, usage)
            return
        pieces = _pieces(answer)
        for number, piece in enumerate(pieces, 1):
            last = usage if number == len(pieces) else None
            later(self._seconds * number / len(pieces), self._piece, piece, number == 1, last)

    def _whole(self, answer: str, usage: dict[str, int]) -> None:
        message = {"role": "assistant", "content": answer, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        self._script.counts["in flight"] -= 1
        self._send(_reply("chat.completion", choices=[choice], usage=usage))

    def _send(self, reply: dict[str, Any]) -> None:
        body = json.dumps(reply).encode()
        self._out.write(b"HTTP/1.1 200 OK\r\n" + _line(JSON) + b"content-length: %d\r\n\r\n" % len(body) + body)

    def _piece(self, text: str, first: bool, usage: dict[str, int] | None) -> None:
        parts = [_delta({"content": text}, "stop" if usage else None)]
        if usage:
            parts += [_reply("chat.completion.chunk", choices=[], usage=usage)]
        body = b"".join(b"data: %s\n\n" % json.dumps(part).encode() for part in parts)
        body += b"data: [DONE]\n\n" if usage else b""
        head = b"HTTP/1.1 200 OK\r\n" + _line("text/event-stream") + b"transfer-encoding: chunked\r\n\r\n"
        chunk = b"%x\r\n%s\r\n" % (len(body), body)
        if not self._out.is_closing():  # who asked may have been killed
            self._out.write((head if first else b"") + chunk + (b"0\r\n\r\n" if usage else b""))
        if usage:
            self._script.counts["in flight"] -= 1


def key(messages: Iterable[tuple[str, str]], seed: int | None) -> str:
    """Identifies a request: the roles and SHA-256 (hex) of its messages, and its seed."""
    return _sha256(json.dumps([*map(list, messages), seed]))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _text(content: Any) -> str:  # Any: a string, or OpenAI's list of parts
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _pieces(answer: str) -> list[str]:
    size = -(-len(answer) // CHUNKS)
    return [answer[at : at + size] for at in range(0, len(answer), size)]


def _delta(delta: dict[str, str], finish: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _reply("chat.completion.chunk", choices=[choice])


def _reply(kind: str, **rest: Any) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 0, "model": "scripted", **rest}


def _line(kind: str) -> bytes:
    return b"content-type: %s\r\n" % kind.encode()


async def main(answers: str, latency_ms: str, seen: str = "") -> None:
    script, loop = Script(json.loads(Path(answers).read_text())), asyncio.get_running_loop()
    with Path(seen or os.devnull).open("a", buffering=1) as file:
        make = lambda: Connection(script, float(latency_ms) / 1000, file if seen else None)  # noqa: E731
        server = await loop.create_server(make, "127.0.0.1", 0, backlog=256)
        print(server.sockets[0].getsockname()[1], flush=True)
        await loop.run_in_executor(None, sys.stdin.read)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({**script.counts, "cpu_seconds": used.ru_utime + used.ru_stime}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

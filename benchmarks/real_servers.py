"""How the official clients work with a real server: llama.cpp's own, which speaks both protocols.

Run: ``python benchmarks/real_servers.py LLAMA_SERVER WEIGHTS.gguf`` with the path of a ``llama-server`` binary and any
small model. It sends three requests by OpenAI's and Anthropic's protocol each: streamed, not streamed and cut short. It
prints the answers and checks that usage, finish and cost are there. ``price`` is the cost of the same tokens with the
publisher's small model. If an Ollama server answers at ``OLLAMA_BASE_URL``, ``--ollama MODEL`` calls it too.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from koderz_core.config import Settings, load_settings
from koderz_core.errors import ModelError
from koderz_core.models.catalogue import resolve
from koderz_core.models.pricing import price
from koderz_core.models.providers import create
from koderz_core.records import Completion, Message, Request, Sampling

QUESTION = (Message("system", "You are brief."), Message("user", "Say hello to a friend."))
ROOM, LITTLE = 200, 4
PAID = {"anthropic": "claude-haiku-4-5"}
WAIT_SECONDS = 60.0


def main() -> None:
    asked = _arguments()
    with _llama_server(asked.server, asked.weights) as url:
        settings = load_settings(openai_base_url=f"{url}/v1", anthropic_base_url=url, lmstudio_base_url=f"{url}/v1")
        names = ["openai/small", "lmstudio/small", "anthropic/small"]
        faults = [fault for name in names for fault in _check(name, settings)]
    if asked.ollama:
        faults += _check(f"ollama/{asked.ollama}", load_settings())
    print("\n".join(faults) or "every protocol answered, streamed and whole, with usage, finish and cost")
    sys.exit(bool(faults))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("server", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--ollama", metavar="MODEL", help="a model of a running Ollama server")
    return parser.parse_args()


def _check(name: str, settings: Settings) -> Iterator[str]:
    """Call a model in each way, print the answers, and return the faults."""
    model = create(resolve(name, settings), settings, dict)
    for way, tokens, streamed in (("whole", ROOM, False), ("streamed", ROOM, True), ("cut", LITTLE, True)):
        pieces: list[str] = []
        request = Request(QUESTION, Sampling(temperature=0.0, max_tokens=tokens), seed=1)
        try:
            said = model.complete(request, pieces.append if streamed else None)
        except ModelError as error:
            yield f"{name}, {way}: {error}"
            continue
        print(f"{name:16} {way:9} {_summary(name, said, len(pieces), settings)}")
        yield from (f"{name}, {way}: {fault}" for fault in _faults(said, pieces, way))
    model.close()


def _summary(name: str, said: Completion, pieces: int, settings: Settings) -> str:
    card, bare = resolve(name, settings), load_settings()
    energy = price(card, said.usage, said.seconds, settings).usd
    paid = price(resolve(PAID.get(card.provider, "gpt-4o-mini"), bare), said.usage, 0.0, bare)
    first = "-" if said.first_token_seconds is None else f"{said.first_token_seconds:.2f}"
    used = said.usage
    return (
        f"{said.finish:7} in {used.input_tokens} (cached {used.cache_read_tokens}) out {used.output_tokens}, "
        f"{pieces} pieces, first token {first} s of {said.seconds:.2f} s, energy {_usd(energy)}, price {_usd(paid.usd)}"
    )


def _usd(usd: float | None) -> str:
    return "unknown" if usd is None else f"{usd:.2e} USD"


def _faults(said: Completion, pieces: list[str], way: str) -> Iterator[str]:
    if said.usage.input_tokens is None or said.usage.output_tokens is None:
        yield "no usage was reported"
    elif said.usage.input_tokens < len(QUESTION):
        yield f"{said.usage.input_tokens} input tokens are fewer than there are: those of the cache are missing"
    if said.finish != ("length" if way == "cut" else "stop"):
        yield f"it ended with {said.finish}"
    if pieces and "".join(pieces) != said.text:
        yield "the pieces are not the text"
    if (said.first_token_seconds is None) != (way == "whole"):
        yield "the time to the first token is there when it should not be, or is not when it should"


@contextmanager
def _llama_server(binary: Path, weights: Path) -> Iterator[str]:
    """The address of a llama-server with one thread of lowest priority, for the duration of the block."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(binary), "-m", str(weights), "--host", "127.0.0.1", "--port", str(port), "-t", "1", "-c", "2048"]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        os.setpriority(os.PRIO_PROCESS, process.pid, 15)
        try:
            _await(f"http://127.0.0.1:{port}/health", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def _await(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(url, timeout=1):
                return
        except (URLError, TimeoutError):
            time.sleep(0.2)
    sys.exit("llama-server did not come up")


if __name__ == "__main__":
    main()

"""The child process that serves one embedded model: llama.cpp's own server on loopback, while stdin is open.

It reads one ``Order`` from stdin and writes one line, ``Ready`` or ``Failed``, to its private stdout. It ends when its
parent closes stdin or dies.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from typing import Any, BinaryIO

import msgspec

HOST = "127.0.0.1"
CACHE_MIB = 512
"""Memory for the beginnings of prompts that are not currently used. The default of llama.cpp is 8 GiB."""
_ASK_SECONDS = 0.05


class Order(msgspec.Struct, frozen=True):
    """What to serve. ``num_ctx``: tokens. ``api_key``: the key that requests must have.

    ``binary``: a ``llama-server`` to use instead of xllamacpp, "" for none. ``reproducible``: do not cache prompts.
    """

    weights: str
    num_ctx: int
    api_key: str
    binary: str
    reproducible: bool


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The model is loaded and answers at ``url``."""

    url: str


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The model cannot be served; ``message`` explains why and what to do."""

    message: str


Reply = Ready | Failed


def main() -> None:
    """Serve until stdin ends."""
    replies = _private_stdout()
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=Order)
    binaries: list[subprocess.Popen[bytes]] = []
    threading.Thread(target=_end_with_stdin, args=(binaries,), daemon=True).start()
    try:
        if order.binary:
            _send(replies, Ready(_run(order, binaries)))
            code = binaries[0].wait()
            os._exit(code if code >= 0 else 128 - code)  # a signal has the exit code that shells use
        import xllamacpp  # noqa: PLC0415 (loads the native library)

        server = xllamacpp.Server(parameters(order))  # returns with the model loaded, and serves it while it exists
        _send(replies, Ready(server.listening_address))
        threading.Event().wait()
    except (ImportError, OSError, RuntimeError) as error:
        _send(replies, Failed(_explanation(order, error)))


def _private_stdout() -> BinaryIO:
    """The pipe to the parent, on a descriptor of its own, so that output of llama.cpp cannot get into it."""
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return replies


def _send(replies: BinaryIO, reply: Reply) -> None:
    replies.write(msgspec.json.encode(reply) + b"\n")


def _end_with_stdin(binaries: Sequence[subprocess.Popen[bytes]]) -> None:
    """End this process and the binary when the parent has ended.

    Linux's PR_SET_PDEATHSIG is not used here: it fires when the parent's *thread* that started this process ends.
    """
    while sys.stdin.buffer.read(1):
        pass
    for binary in binaries:
        binary.kill()
    os._exit(0)


def threads() -> tuple[int, int]:
    """The threads for generating and for reading. Generating uses half of the cores: shared ones are slow."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // 2), cores


def parameters(order: Order) -> Any:  # Any: xllamacpp.CommonParams, which has no types
    """The parameters of llama.cpp's server."""
    import xllamacpp  # noqa: PLC0415 (loads the native library)

    wanted = xllamacpp.CommonParams()
    wanted.model.path = order.weights
    wanted.hostnames, wanted.port, wanted.api_keys = [HOST], 0, [order.api_key]
    wanted.n_ctx, wanted.n_parallel = order.num_ctx, 1
    wanted.cpuparams.n_threads, wanted.cpuparams_batch.n_threads = threads()
    wanted.cache_prompt, wanted.cache_ram_mib = not order.reproducible, _cache_mib(order)
    wanted.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
    wanted.fit_params = False  # it would shorten the context silently
    wanted.ui = wanted.endpoint_slots = wanted.warmup = False
    return wanted


def _run(order: Order, binaries: list[subprocess.Popen[bytes]]) -> str:
    """Start a ``llama-server``, add it to ``binaries``, and return its address when the model is loaded.

    It is configured by variables, because a version that does not know a variable ignores it.
    """
    port = _free_port()
    generating, reading = threads()
    variables = {
        "LLAMA_API_KEY": order.api_key,
        "LLAMA_ARG_CTX_SIZE": order.num_ctx,
        "LLAMA_ARG_N_PARALLEL": 1,
        "LLAMA_ARG_THREADS": generating,
        "LLAMA_ARG_THREADS_BATCH": reading,
        "LLAMA_ARG_CACHE_PROMPT": int(not order.reproducible),
        "LLAMA_ARG_CACHE_RAM": _cache_mib(order),
        "LLAMA_ARG_SPEC_TYPE": "ngram-simple",
        "LLAMA_ARG_FIT": "off",
        "LLAMA_ARG_JINJA": 1,
        "LLAMA_ARG_UI": 0,
        "LLAMA_ARG_WEBUI": 0,
        "LLAMA_ARG_WARMUP": 0,
    }
    command = (order.binary, "--model", order.weights, "--host", HOST, "--port", str(port))
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    binary = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
    binaries.append(binary)
    while not _is_healthy(port):
        if binary.poll() is not None:
            raise RuntimeError(f"{order.binary} ended with exit code {binary.returncode}")
        time.sleep(_ASK_SECONDS)
    return f"http://{HOST}:{port}"


def _cache_mib(order: Order) -> int:
    return 0 if order.reproducible else CACHE_MIB


def _free_port() -> int:
    with closing(socket.socket()) as unused:
        unused.bind((HOST, 0))
        return int(unused.getsockname()[1])


def _is_healthy(port: int) -> bool:
    with closing(HTTPConnection(HOST, port, timeout=1)) as connection:
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False


def _explanation(order: Order, error: Exception) -> str:
    if isinstance(error, ImportError):
        return f"xllamacpp cannot be loaded ({error}). Set KODERZ_LLAMA_SERVER to the path of a llama-server program"
    if order.binary and isinstance(error, OSError):
        return (
            f"The program in KODERZ_LLAMA_SERVER cannot be started ({error.strerror}: {order.binary}). Correct or "
            "unset that variable"
        )
    return (
        f"llama.cpp cannot load the weights with a context of {order.num_ctx} tokens ({error}). Free some memory, or "
        "lower KODERZ_NUM_CTX"
    )


if __name__ == "__main__":
    main()

"""The child process that holds one embedded model: JSON lines in on stdin, JSON lines out on its private stdout.

In: one ``Load``, then any number of ``Request``. Out: one ``Ready``, then for each request ``Piece`` as often as there
is text, and one ``Done`` or ``Failed``. The process ends when stdin does, which is when its parent closes it or dies.
"""

from __future__ import annotations

import codecs
import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any, BinaryIO

import msgspec

from koderz_core.errors import ContextError, ModelError
from koderz_core.records import Request


class Load(msgspec.Struct, frozen=True):
    """The first line in: the weights to load and the context to make, in tokens."""

    weights: str
    num_ctx: int


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The weights are loaded; requests may come."""


class Piece(msgspec.Struct, frozen=True, tag="piece"):
    """The next piece of the answer."""

    text: str


class Done(msgspec.Struct, frozen=True, tag="done"):
    """The answer is whole. ``stopped``: the model ended it, else its limit did. Tokens as llama.cpp counted them."""

    stopped: bool
    input_tokens: int
    output_tokens: int


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """This request, or the loading, cannot succeed as it is; ``message`` says why and what to do.

    ``too_long``: the prompt does not fit the context.
    """

    message: str
    too_long: bool = False


Reply = Ready | Piece | Done | Failed

Llama = Any  # llama_cpp.Llama, which has no stubs

_PIECE_BYTES = 512
"""Room for the text of one token. llama-cpp-python's own ``detokenize`` has 32, and drops longer runs of spaces."""


def main() -> None:
    """Load, then answer one request after the other until stdin ends."""
    replies = _private_stdout()
    lines: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    try:
        llama = _load(msgspec.json.decode(lines.get(), type=Load))
    except ModelError as error:
        return _send(replies, Failed(str(error)))
    _send(replies, Ready())
    while True:
        request = msgspec.json.decode(lines.get(), type=Request)
        try:
            for reply in _answer(llama, request):
                _send(replies, reply)
        except ModelError as error:
            _send(replies, Failed(str(error), isinstance(error, ContextError)))


def _private_stdout() -> BinaryIO:
    """The pipe to the parent, on a descriptor of its own: what llama.cpp prints must not get into the protocol."""
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return replies


def _listen(lines: SimpleQueue[bytes]) -> None:
    """End the process when stdin ends, even in the middle of an answer (llama.cpp computes without the GIL).

    Linux's PR_SET_PDEATHSIG is not used: it fires when the parent's *thread* that started the child ends.
    """
    for line in sys.stdin.buffer:
        lines.put(line)
    os._exit(0)


def _send(replies: BinaryIO, reply: Reply) -> None:
    replies.write(msgspec.json.encode(reply) + b"\n")


def _load(load: Load) -> Llama:
    try:
        import llama_cpp  # noqa: PLC0415 (loads the native library)
    except (ImportError, OSError, RuntimeError) as error:
        raise ModelError(
            f"llama-cpp-python does not load ({error}). Install it with `pip install 'koderz[embedded]'`; it is "
            "compiled there, so a C++ compiler must be installed (Debian: `apt install g++`, macOS: `xcode-select "
            "--install`)"
        ) from error
    cores = _cores()
    try:
        # Generation leaves half of the cores alone: threads of llama.cpp that must share a core with anybody collapse.
        return llama_cpp.Llama(
            load.weights, n_ctx=load.num_ctx, n_threads=max(1, cores // 2), n_threads_batch=cores, verbose=False
        )
    except (ValueError, RuntimeError, MemoryError) as error:
        raise ModelError(
            f"llama.cpp cannot load its weights with a context of {load.num_ctx} tokens ({error}). Free memory, or "
            "lower KODERZ_NUM_CTX"
        ) from error


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _answer(llama: Llama, request: Request) -> Iterator[Reply]:
    prompt = _prompt(llama, request)
    room = llama.n_ctx() - len(prompt)
    if room <= 0:
        raise ContextError(
            f"the prompt has {len(prompt)} tokens, the context only {llama.n_ctx()}. Raise KODERZ_NUM_CTX or shorten "
            "the prompt"
        )
    limit = min(request.sampling.max_tokens or room, room)
    output_tokens, stopped = 0, False
    text = codecs.getincrementaldecoder("utf-8")("replace")  # a character may be spread over several tokens
    for output_tokens, piece in enumerate(_pieces(llama, prompt, request), start=1):
        yield from _said(text.decode(piece))
        if output_tokens >= limit:
            break
    else:
        stopped = True
    yield from _said(text.decode(b"", final=True))
    yield Done(stopped, len(prompt), output_tokens)


def _said(text: str) -> Iterator[Piece]:
    if text:
        yield Piece(text)


def _prompt(llama: Llama, request: Request) -> list[int]:
    """The tokens of the conversation, laid out by the template that the weights carry."""
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter  # noqa: PLC0415 (loads the native library)

    texts = [llama._model.token_get_text(token) for token in (llama.token_eos(), llama.token_bos())]
    template = Jinja2ChatFormatter(llama.metadata["tokenizer.chat_template"], *texts)
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    tokens: list[int] = llama.tokenize(template(messages=messages).prompt.encode(), add_bos=False, special=True)
    return tokens


def _pieces(llama: Llama, prompt: list[int], request: Request) -> Iterator[bytes]:
    """What the model says, token by token, until it ends its turn."""
    import llama_cpp  # noqa: PLC0415 (loads the native library)

    llama.reset()  # else the state of the previous prompt is used again and an answer depends on what was asked before
    llama.set_seed(request.seed % 0xFFFF_FFFF)  # llama.cpp takes 0xFFFFFFFF for "any seed"
    wanted = {"temp": request.sampling.temperature, "top_p": request.sampling.top_p}
    vocabulary = llama._model.vocab
    buffer = ctypes.create_string_buffer(_PIECE_BYTES)
    for token in llama.generate(prompt, **{key: value for key, value in wanted.items() if value is not None}):
        if llama_cpp.llama_vocab_is_eog(vocabulary, token):
            return
        size_bytes = llama_cpp.llama_token_to_piece(vocabulary, token, buffer, _PIECE_BYTES, 0, False)
        yield buffer.raw[: max(0, size_bytes)]


if __name__ == "__main__":
    main()

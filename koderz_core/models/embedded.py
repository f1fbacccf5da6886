"""Models that run on this machine without any server: llama.cpp in a child process per loaded model."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from select import POLLIN, poll
from subprocess import PIPE, Popen, TimeoutExpired
from threading import Lock, Thread
from typing import IO

import msgspec

from koderz_core.config import Settings
from koderz_core.errors import ContextError, ModelError, WeightsError
from koderz_core.models import weights
from koderz_core.models.capabilities import capabilities_of, honoured
from koderz_core.models.embedded_worker import Done, Failed, Load, Piece, Reply
from koderz_core.models.provider import Lack, ModelCard, Programs, Provider
from koderz_core.protocols import OnText
from koderz_core.records import Completion, Finish, Request, Usage

CURE, RUNTIME_CURE = "raise KODERZ_TIMEOUT", "pip install 'koderz[embedded]' (needs a C++ compiler)"
WHOLE_TIMES = 4  # as long as it may be silent an embedded model may write in all; budgets hold the price of that
WORKER = (sys.executable, "-P", "-m", "koderz_core.models.embedded_worker")


class EmbeddedModel:
    """A model whose weights a child process holds from the first call until ``close``; one call at a time.

    The same request with the same seed gives the same text, whatever was asked before (on the same build and machine).
    Sampling that is not given is llama.cpp's: temperature 0.8, top_p 0.95, tokens up to the end of the context.
    """

    def __init__(
        self,
        name: str,
        settings: Settings,
        *,
        catalogue: Mapping[str, weights.Weights] = weights.WEIGHTS,
        command: Sequence[str] = WORKER,
    ) -> None:
        """``name`` as in ``catalogue``; raises UnknownNameError. Nothing is started yet."""
        self._weights = weights.weights_of(name, catalogue)
        self._catalogue = catalogue
        self._settings = settings
        self._command = command
        self._one_call = Lock()  # guards the child: a llama.cpp context answers one request at a time
        self._child: _Child | None = None
        self._closed = False

    @property
    def id(self) -> str:
        return f"embedded/{self._weights.name}"

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Answer once. ``settings.timeout`` limits silence, and ``WHOLE_TIMES`` it the whole: slow writing is no fault.

        ``seconds`` are without loading. Raises WeightsError if the weights are not on this machine; ModelError,
        retryable if the child was lost or too slow: the next call has a fresh one. So it has after ``on_text`` raised.
        """
        with self._one_call:
            try:
                sent = replace(request, sampling=honoured(request, capabilities_of(self.id, self._settings)))
                return self._loaded().answer(sent, on_text)
            except BaseException:  # the child may be in the middle of an answer: only a fresh one is in step again
                self._drop()
                raise

    def close(self) -> None:
        """End the child and, with a ModelError, a call in flight. Idempotent; later calls are refused."""
        self._closed = True
        if child := self._child:
            child.kill()
        with self._one_call:
            self._drop()

    def _loaded(self) -> _Child:
        if self._child and self._child.ended:
            self._drop()
        if self._child is None and not self._closed:
            weights_path = str(self._path())
            self._child = _Child(self.id, self._command, self._settings.timeout)
            self._child.load(Load(weights_path, self._settings.num_ctx))
        if self._child is None or self._closed:  # close() may have come just before there was a child to kill
            raise ModelError(f"{self.id} was closed, so it answers no more. Make a new one.")
        return self._child

    def _path(self) -> Path:
        path = weights.find(self._weights.name, self._settings, catalogue=self._catalogue)
        if path is None:
            raise WeightsError(
                f"The weights of {self.id} are not on this machine. Get them ({self._weights.size_bytes / 1e6:.0f} MB) "
                f"with `koderz models pull {self._weights.name}`, or let KODERZ_MODELS_DIR name the folder they are in."
            )
        return path.resolve()

    def _drop(self) -> None:
        if self._child:
            self._child.end()
            self._child = None


class _Child:
    """The process that holds the weights, and the lines exchanged with it."""

    def __init__(self, model: str, command: Sequence[str], timeout_seconds: float) -> None:
        self._model, self._silence = model, timeout_seconds
        # A session of its own: Ctrl-C must not end it while the parent lets running experiments finish.
        self._process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=_environment(), start_new_session=True)
        self._orders, self._replies, errors = _pipes(self._process)
        self._last_words: deque[bytes] = deque(maxlen=1)
        self._errors, self._reader = errors, Thread(target=self._last_words.extend, args=(errors,), daemon=True)
        self._reader.start()
        self._readable = poll()
        self._readable.register(self._replies, POLLIN)
        self._unread = b""

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def load(self, load: Load) -> None:
        self._send(load)
        self._receive(time.monotonic() + self._silence)

    def answer(self, request: Request, on_text: OnText | None) -> Completion:
        started, first_token_seconds = time.monotonic(), None
        pieces: list[str] = []
        self._send(request)
        while isinstance(reply := self._receive(started + WHOLE_TIMES * self._silence), Piece):
            if first_token_seconds is None:
                first_token_seconds = time.monotonic() - started
            pieces.append(reply.text)
            if on_text:
                on_text(reply.text)
        if not isinstance(reply, Done):
            raise self._lost("answered out of turn")
        return Completion(
            text=(text := "".join(pieces)),
            finish=_finish(text, reply),
            usage=Usage(reply.input_tokens, reply.output_tokens),
            seconds=time.monotonic() - started,
            honoured=request.sampling,
            first_token_seconds=first_token_seconds,
        )

    def kill(self) -> None:
        """End the process only, so that a thread that waits for its reply sees it gone."""
        self._process.kill()

    def end(self) -> None:
        """End the process and give back all that belongs to it."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._orders, self._replies, self._errors):
            with suppress(OSError):  # what a dead child did not read cannot be flushed
                pipe.close()

    def _send(self, order: Load | Request) -> None:
        with suppress(BrokenPipeError):  # the child is gone: _receive says how
            self._orders.write(msgspec.json.encode(order) + b"\n")
            self._orders.flush()

    def _receive(self, last: float) -> Reply:
        deadline = min(last, time.monotonic() + self._silence)
        while b"\n" not in self._unread:
            left_seconds = deadline - time.monotonic()
            if left_seconds <= 0 or not self._readable.poll(left_seconds * 1000):
                raise self._lost(f"wrote nothing for {self._silence:g} s, or {WHOLE_TIMES} times as long: {CURE}")
            piece = os.read(self._replies.fileno(), 1 << 16)
            if not piece:
                raise self._lost(self._death())
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\n")
        try:
            reply = _REPLIES.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._lost(f"sent a line that is none of koderz ({error})") from error
        if isinstance(reply, Failed):
            failed = ContextError if reply.too_long else ModelError
            raise failed(f"{self._model}: {reply.message}.")
        return reply

    def _lost(self, how: str) -> ModelError:
        return ModelError(f"The process of {self._model} {how}. The next call starts a fresh one.", retryable=True)

    def _death(self) -> str:
        with suppress(TimeoutExpired):
            self._process.wait(timeout=1)
        code = self._process.poll() or 0
        how = f"signal {-code}, {signal.strsignal(-code)}" if code < 0 else f"exit code {code}"
        self._reader.join(timeout=1)
        words = b"".join(self._last_words).decode(errors="replace").strip()[:300]
        return f"ended in the middle of the call ({how}{': ' if words else ''}{words})"


_REPLIES: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)


def _environment() -> dict[str, str]:
    """All that the child gets: where this process finds modules, and OpenMP threads that do not spin.

    Spinning ones collapse as soon as another process works (measured on two cores: 57 -> 1.6 tokens/s).
    """
    return {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_WAIT_POLICY": "passive"}


def _pipes(process: Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    assert process.stdin
    assert process.stdout
    assert process.stderr
    return process.stdin, process.stdout, process.stderr


def _finish(text: str, done: Done) -> Finish:
    if not text.strip():
        return "empty"
    return "stop" if done.stopped else "length"


def _lack(name: str, settings: Settings) -> Lack | None:
    if find_spec("llama_cpp") is None:
        return Lack("llama-cpp-python is not installed", RUNTIME_CURE)
    if weights.find(name, settings) is None:
        return Lack("its weights are not here", f"koderz models pull {name}")
    return None


def _create(card: ModelCard, settings: Settings, _: Programs) -> EmbeddedModel:
    return EmbeddedModel(card.name, settings)


PROVIDER = Provider(
    create=_create,
    lack=_lack,
    ready="its weights are here",
    names=tuple(weights.WEIGHTS),
    closed=True,
    typed="|".join(map(re.escape, weights.WEIGHTS)),
)

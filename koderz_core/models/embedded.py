"""Models that need no other program: a child process runs llama.cpp's server for each loaded model."""

from __future__ import annotations

import os
import re
import secrets
import signal
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from subprocess import PIPE, Popen, TimeoutExpired
from threading import Lock, Thread

import msgspec

from koderz_core.config import Settings
from koderz_core.errors import ModelError, WeightsError
from koderz_core.models import weights
from koderz_core.models.capabilities import Capabilities
from koderz_core.models.embedded_server import CACHE_MIB, Failed, Order, Reply
from koderz_core.models.free_memory import GB, free_bytes
from koderz_core.models.gguf import Need, need_of_file
from koderz_core.models.openai_compatible import OpenAICompatibleModel
from koderz_core.models.provider import Advice, Lack, ModelCard, Provider
from koderz_core.protocols import OnText
from koderz_core.records import Completion, Request
from koderz_core.settings_fields import SecretStr

PACKAGE = "xllamacpp"
RUNTIME_CURE = (
    "Set KODERZ_LLAMA_SERVER to the path of llama.cpp's llama-server (see docs/models.md), or use Ollama or LM Studio"
)
_LOAD_SECONDS = 120.0  # a slow disk is not a fault of the model
WHOLE_TIMES = 4  # the timeout limits a silence; a whole answer may take this multiple of it, and budgets reserve that
SERVER = (sys.executable, "-P", "-m", "koderz_core.models.embedded_server")
_SEEDS = 0xFFFF_FFFF  # llama.cpp takes this number for "any seed"
_INHERITED = re.compile(r"PATH|(DY)?LD_\w+|SYSTEMROOT|(CUDA|HIP|ROCR|GGML)_\w+")


class EmbeddedModel:
    """A model whose weights a child process holds from the first call until ``close``.

    It answers one call at a time, in order of arrival. The defaults of sampling are those of llama.cpp: temperature
    0.8, top_p 0.95, tokens up to the end of the context. With ``settings.reproducible`` the same request with the same
    seed gives the same text (on the same build and machine), whatever was asked before. Otherwise the beginning of a
    prompt that was read before is not read again, which changes the last digits of probabilities, and sometimes the
    text.
    """

    def __init__(self, wanted: weights.Weights, settings: Settings, *, command: Sequence[str] = SERVER) -> None:
        """Starts nothing yet."""
        self.id = f"embedded/{wanted.name}"
        self._weights = wanted
        self._settings = settings
        self._command = command
        self._guard = Lock()  # guards the two below, while a child is started or ended
        self._child: _Child | None = None
        self._closed = False

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Answer once. ``settings.timeout`` limits a silence; the whole answer may take ``WHOLE_TIMES`` it.

        ``seconds`` of the completion exclude loading. Raises WeightsError if the weights are not on this machine, and
        ModelError, which is retryable if the child was lost or too slow: the next call starts a new one.
        """
        child = self._loaded()
        listener = on_text or (lambda _: None)  # always streamed, because only a streamed answer shows silence
        try:
            return child.answer(replace(request, seed=request.seed % _SEEDS), listener)
        except ModelError as error:
            if not error.retryable:
                raise
            cause = child.death() or error  # a child that only fell silent may never answer again either
            self._drop(child)
            raise cause from None

    def needed_bytes(self) -> int:
        """The memory of the loaded model with a full context and a full cache of prompts."""
        cache = 0 if self._settings.reproducible else CACHE_MIB << 20
        return needed_bytes(self._weights, self._settings) + cache

    def is_loaded(self) -> bool:
        """Whether its child process runs."""
        child = self._child
        return child is not None and not child.ended

    def unload(self) -> None:
        """End the child until the next call, which starts another one."""
        if child := self._child:
            self._drop(child)

    def close(self) -> None:
        """End the child, and a call under way with a ModelError. Idempotent; later calls are refused."""
        self._closed = True
        if child := self._child:
            child.kill()  # first, because a thread that loads a model holds the guard
            self._drop(child)

    def _loaded(self) -> _Child:
        with self._guard:
            if self._child and self._child.ended:
                self._child.end()
                self._child = None
            if self._closed:
                raise ModelError(f"{self.id} was closed, so it cannot answer. Open the model again.")
            if self._child is None:
                path = self._path()
                if lack := lack_of_memory(self._weights, self._settings):
                    raise ModelError(f"{self.id} cannot be loaded: {lack.reason}. {lack.cure}.")
                self._child = _Child(self.id, self._command)
                try:
                    self._child.load(path, self._settings)
                except BaseException:
                    self._child.end()
                    self._child = None
                    raise
            return self._child

    def _path(self) -> Path:
        path = weights.find(self._weights, self._settings)
        if path is None:
            raise WeightsError(
                f"The weights of {self.id} are not on this machine. Get them ({self._weights.size_bytes / 1e6:.0f} MB) "
                f"with `koderz models pull {self._weights.name}`, or set KODERZ_MODELS_DIR to their folder."
            )
        return path.resolve()

    def _drop(self, child: _Child) -> None:
        with self._guard:
            child.end()
            if self._child is child:
                self._child = None


class _Child:
    """The process that serves a model, and its client."""

    def __init__(self, model: str, command: Sequence[str]) -> None:
        """Start the process; it loads nothing yet."""
        self._name = model
        self._client: OpenAICompatibleModel | None = None
        # A session of its own: Ctrl-C must not end it while the parent lets running experiments finish.
        self._process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=_environment(), start_new_session=True)
        orders, replies, errors = self._process.stdin, self._process.stdout, self._process.stderr
        assert orders
        assert replies
        assert errors
        self._orders, self._pipes = orders, (orders, replies, errors)
        self._last_words: deque[bytes] = deque(maxlen=1)
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        self._readers = (
            Thread(target=self._last_words.extend, args=(errors,), daemon=True),
            Thread(target=lambda: self._lines.put(replies.readline()), daemon=True),
        )
        for reader in self._readers:
            reader.start()

    def load(self, path: Path, settings: Settings) -> None:
        """Return when the model is loaded. Raises ModelError."""
        key = secrets.token_urlsafe()
        order = Order(str(path), settings.num_ctx, key, str(settings.llama_server or ""), settings.reproducible)
        url = self._started(order, max(settings.timeout, _LOAD_SECONDS))
        self._client = _client(self._name, url, SecretStr(key), settings)

    def answer(self, request: Request, on_text: OnText) -> Completion:
        """As the model, after ``load``."""
        assert self._client
        return self._client.complete(request, on_text)

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def death(self) -> ModelError | None:
        """How the process ended, None if it is still running."""
        with suppress(TimeoutExpired):
            self._process.wait(timeout=1)
        code = self._process.poll()
        if code is None:
            return None
        how = f"signal {-code}, {signal.strsignal(-code)}" if code < 0 else f"exit code {code}"
        self._readers[0].join(timeout=1)
        words = b"".join(self._last_words).decode(errors="replace").strip()[:300]
        return self._lost(f"ended during the call ({how}{': ' if words else ''}{words})")

    def kill(self) -> None:
        """End the process only, so that a thread that waits for it notices."""
        with suppress(ProcessLookupError):  # the whole group: a llama-server is a child of this child
            os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """End the process and release its threads, pipes and connections. Idempotent."""
        self.kill()
        self._process.wait()
        for reader in self._readers:
            reader.join()
        for pipe in self._pipes:
            with suppress(OSError):  # data that a dead child did not read cannot be flushed
                pipe.close()
        if self._client:
            self._client.close()

    def _started(self, order: Order, timeout_seconds: float) -> str:
        with suppress(BrokenPipeError):  # the process has ended: its output explains why
            self._orders.write(msgspec.json.encode(order) + b"\n")
            self._orders.flush()
        try:
            line = self._lines.get(timeout=timeout_seconds)
        except Empty:
            raise self._lost(f"did not load its weights within {timeout_seconds:g} s: raise KODERZ_TIMEOUT") from None
        if not line:
            raise self.death() or self._lost("closed its output")
        try:
            reply = _REPLIES.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._lost(f"sent an invalid line ({error})") from error
        if isinstance(reply, Failed):
            raise ModelError(f"{self._name}: {reply.message}.")
        return reply.url

    def _lost(self, how: str) -> ModelError:
        return ModelError(f"The process of {self._name} {how}. The next call starts a new process.", retryable=True)


_REPLIES: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)


def _client(model: str, url: str, key: SecretStr, settings: Settings) -> OpenAICompatibleModel:
    """A client with the timeouts of ``EmbeddedModel.complete``."""
    silence, whole = settings.timeout, WHOLE_TIMES * settings.timeout
    limits = settings.changed(timeout=whole, first_token_timeout=silence)
    provider, _, name = model.partition("/")
    return OpenAICompatibleModel(ModelCard(model, provider, name, "local"), PROVIDER, f"{url}/v1", key, limits)


def _environment() -> dict[str, str]:
    """The environment of the child: no keys, the paths of programs and modules, and OpenMP threads that do not spin.

    Spinning threads become very slow as soon as another process works (measured on two cores: 57 -> 1.6 tokens/s).
    """
    inherited = {name: value for name, value in os.environ.items() if _INHERITED.fullmatch(name)}
    return {**inherited, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_WAIT_POLICY": "passive"}


def runtime(settings: Settings) -> str:
    """The program that embedded models run in, its version and its mode, as journals record it."""
    mode = "n-gram, reproducible" if settings.reproducible else "n-gram, prompt cache"
    if settings.llama_server:
        return f"{settings.llama_server.name}, {mode}"
    try:
        return f"{PACKAGE} {version(PACKAGE)}, {mode}"
    except PackageNotFoundError:
        return f"{PACKAGE}, {mode}"


def missing_runtime(settings: Settings) -> Lack | None:
    """Why embedded models cannot run at all, None if they can."""
    if settings.llama_server or find_spec(PACKAGE):
        return None
    return Lack(f"{PACKAGE} is not installed, because it has no wheel for this system", RUNTIME_CURE)


def lack_of_memory(wanted: weights.Weights, settings: Settings) -> Lack | None:
    """Why the model cannot be loaded now; None if it fits, or if this system does not report its free memory."""
    needed, free = needed_bytes(wanted, settings), free_bytes()
    needs = f"it needs {needed / GB:.1f} GB of memory with a context of {settings.num_ctx} tokens, but "
    smaller = "lower KODERZ_NUM_CTX, or use a smaller model (`koderz models list` shows which models fit)"
    limit = settings.model_memory_gb
    if limit is not None and needed > limit * GB:
        return Lack(f"{needs}KODERZ_MODEL_MEMORY_GB allows only {limit:g} GB", f"Raise that setting, {smaller}")
    if free is None or needed <= free:
        return None
    return Lack(f"{needs}only {free / GB:.1f} GB are free", f"Close other programs, {smaller}")


def needed_bytes(wanted: weights.Weights, settings: Settings) -> int:
    """The least memory of a loaded model with a full context: by its file, as measured if the file is not here."""
    path = weights.find(wanted, settings)
    need = (need_of_file(path) if path else None) or Need(wanted.size_bytes, wanted.context_bytes, wanted.working_bytes)
    return need.total_bytes(settings.num_ctx)


def _lack(name: str, settings: Settings) -> Lack | None:
    if lack := missing_runtime(settings):
        return lack
    wanted = weights.weights_of(name)
    if lack := lack_of_memory(wanted, settings):
        return lack
    if weights.find(wanted, settings) is None:
        return Lack("its weights are not on this machine", f"Run `koderz models pull {name}`")
    return None


PROVIDER = Provider(
    create=lambda card, settings, _: EmbeddedModel(weights.weights_of(card.name), settings),
    lack=_lack,
    ready="its weights are on this machine",
    names=tuple(weights.WEIGHTS),
    closed=True,
    typed="|".join(map(re.escape, weights.WEIGHTS)),
    advice=Advice(
        place="llama.cpp",
        context="KODERZ_NUM_CTX",
        silence="KODERZ_TIMEOUT",
        variable="KODERZ_LLAMA_SERVER (or unset it)",
    ),
    rows=((".*", Capabilities(source="llama.cpp, started with the options that koderz sets")),),
    context_set=True,
    one_by_one=True,
    timeouts=WHOLE_TIMES,
    version=lambda name, settings: f"{weights.weights_of(name).sha256}, {runtime(settings)}",
)

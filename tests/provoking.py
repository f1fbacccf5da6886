"""Brings about the errors of docs/troubleshooting.md, each through the command line."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from chat_server import sends, serving_chat

import koderz_core
from koderz_core.cli import main
from koderz_core.models.weights_download import WEIGHTS

ROOT = Path(koderz_core.__file__).parents[1]
PIP = "from pip._internal.cli.main import main; sys.exit(main())"
NOBODY = "http://127.0.0.1:9"  # the port of a protocol that nobody serves any more
NO_RUNTIME = "sys.modules['xllamacpp'] = None"
WINDOWS = "sys.platform = 'win32'"
MACOS = "import sysconfig; sysconfig.get_config_vars(); sys.platform = 'darwin'"  # which are asked for once
KILLER = "import os, signal\nos.killpg(0, signal.SIGKILL)\n"  # ends all that judges it, where nothing forbids that
SMALL_FILES = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
WEIGHTS_NAME = "qwen2.5-coder-0.5b"
SMALL = ("benchmark", "--problems", "0:2", "--coder")
WEAK = (*SMALL, "scripted/weak")
WITHIN = 60.0  # seconds for a command, on a busy machine


@dataclass(frozen=True, slots=True)
class Said:
    """What stood on the screen when a command had ended."""

    code: int
    screen: str


@dataclass(frozen=True, slots=True)
class Ground:
    """A person's machine: a folder, and an environment without servers, keys, proxies or package index."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def journal(self) -> Path:
        (journal,) = (self.home / "journals").glob("*.jsonl")
        return journal

    def koderz(self, *words: object, **environment: object) -> Said:
        """A command, in this process."""
        screen = StringIO()
        with ExitStack() as person:
            person.enter_context(patch.dict(os.environ, self._given(environment)))
            person.enter_context(redirect_stdout(screen))
            person.enter_context(redirect_stderr(screen))
            try:
                main([str(word) for word in words])
            except SystemExit as end:
                return Said(int(end.code or 0), screen.getvalue())
        raise AssertionError("A command ends by saying how.")

    def alone(self, *words: object, first: str = "", **environment: object) -> Said:
        """A command in a process of its own, which executes ``first`` before it begins."""
        return self.command(*self.words(*words, first=first), **self._given(environment))

    def _given(self, environment: Mapping[str, object]) -> dict[str, str]:
        return self.environment | {name: str(value) for name, value in environment.items()}

    def words(self, *words: object, first: str = "") -> tuple[str, ...]:
        script = f"import sys; from koderz_core.cli import main; {first or 'pass'}; main()"
        return (sys.executable, "-c", script, *map(str, words))

    def command(self, *words: str, **environment: str) -> Said:
        ended = subprocess.run(
            words,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=WITHIN,
            check=False,
        )
        return Said(ended.returncode, ended.stdout)


Provoke = Callable[[Ground], Said]


def command(*words: object, **environment: object) -> Provoke:
    """An error that a single command brings about."""
    return lambda ground: ground.koderz(*words, **environment)


def alone(*words: object, first: str = "", **environment: object) -> Provoke:
    """One that needs a process of its own."""
    return lambda ground: ground.alone(*words, first=first, **environment)


def answered(status: int, model: str) -> Provoke:
    """An error that a model's server answers with."""

    def provoke(ground: Ground) -> Said:
        with serving_chat() as server:
            server.answer = sends(status, {"error": {"message": "no"}})
            urls = {"OPENAI_BASE_URL": server.url, "OLLAMA_HOST": server.url.removesuffix("/v1")}
            return ground.koderz("models", "test", model, OPENAI_API_KEY="sk-a", **urls)

    return provoke


def old_python(ground: Ground) -> Said:
    """What pip says where it finds itself in an older Python than this one."""
    wheel = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(ground.folder), str(ROOT))
    subprocess.run((sys.executable, "-m", "pip", "--disable-pip-version-check", *wheel), check=True)
    (made,) = ground.folder.glob("*.whl")
    version = "namedtuple('Version', 'major minor micro releaselevel serial')(3, 10, 19, 'final', 0)"
    script = f"import sys; from collections import namedtuple; sys.version_info = {version}; {PIP}"
    target = ("--no-deps", "--target", str(ground.folder / "old"))
    return ground.command(sys.executable, "-c", script, "install", *target, str(made), **ground.environment)


def no_weights(ground: Ground) -> Said:
    (ground.folder / "xllamacpp.py").touch()
    return ground.alone(*SMALL, "embedded/smollm2-135m", first=f"sys.path.insert(0, {str(ground.folder)!r})")


def wrong_hash(ground: Ground) -> Said:
    """The download has just ended, with as many bytes as it should have: few, because their hash is computed."""
    weights = replace(WEIGHTS[WEIGHTS_NAME], size_bytes=1000)
    part = ground.home / "models" / Path(weights.file_name).with_suffix(".part")
    part.parent.mkdir(parents=True)
    with part.open("wb") as file:
        file.truncate(weights.size_bytes)
    with patch.dict(WEIGHTS, {weights.name: weights}):
        return ground.koderz("models", "pull", weights.name)


def too_slow(ground: Ground) -> Said:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        return ground.koderz("models", "test", "vllm/it", VLLM_BASE_URL=url, KODERZ_TIMEOUT="0.3")


def silent(ground: Ground) -> Said:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"http://127.0.0.1:{mute.getsockname()[1]}/v1"
        return ground.koderz("models", "test", "vllm/it", VLLM_BASE_URL=url, KODERZ_FIRST_TOKEN_TIMEOUT="0.3")


def kept_failing(ground: Ground) -> Said:
    with serving_chat() as server:
        server.answer = sends(503, {})
        order = ("benchmark", "--problems", "0:12", "--coder", "vllm/it", "--concurrency", "1")
        return ground.koderz(*order, VLLM_BASE_URL=server.url, KODERZ_RETRIES=0, KODERZ_PATIENCE=0)


def no_tls(ground: Ground) -> Said:
    with serving_chat() as server:
        url = server.url.replace("http:", "https:")
        return ground.koderz("models", "test", "vllm/it", VLLM_BASE_URL=url)


def untrusted(ground: Ground) -> Said:
    files = ("-keyout", "key.pem", "-out", "certificate.pem")
    made = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", *files)
    subprocess.run(made, cwd=ground.folder, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ground.folder / "certificate.pem", ground.folder / "key.pem")
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor() as threads:
        threads.submit(lambda: context.wrap_socket(listening.accept()[0], server_side=True))
        url = f"https://127.0.0.1:{listening.getsockname()[1]}/v1"
        return ground.koderz("models", "test", "vllm/it", VLLM_BASE_URL=url)


def proxy_refused(ground: Ground) -> Said:
    with serving_chat() as proxy:  # it knows no CONNECT
        away = {"VLLM_BASE_URL": "https://away.example/v1", "HTTPS_PROXY": proxy.url}
        return ground.koderz(*SMALL, "vllm/it", **away)


def without_result(ground: Ground) -> Said:
    with serving_chat() as server:
        server.answer = sends(401, {})
        return ground.koderz(*SMALL, "vllm/it", VLLM_BASE_URL=server.url)


def wrong_address(ground: Ground) -> Said:
    """A web page of somebody's, taken for a server on another machine."""
    with serving_chat() as server:
        server.answer = sends(200, "<html>Welcome</html>", "text/html")
        away = {"OPENAI_API_KEY": "sk-a", "OPENAI_BASE_URL": server.url, "KODERZ_TIERS": '{"openai": "frontier"}'}
        return ground.koderz("run", "--problem-id", "0", "--coder", "gpt-4o-mini", **away)


def wrong_dataset_file(ground: Ground) -> Said:
    (ground.folder / "mine.jsonl").write_text('{"task_id": "a/0", "prompt": "def f(): ..."}\n')
    return ground.koderz(*WEAK, "--humaneval-path", ground.folder / "mine.jsonl")


def prompts_changed(ground: Ground) -> Said:
    """As if an older koderz, whose prompt was another, had begun it."""
    ground.koderz(*WEAK, "--name", "mine")
    journal = ground.journal()
    older = journal.read_bytes().replace(b'"coding":"', b'"coding":"0')
    journal.write_bytes(older.replace(b'"coding prompt":"', b'"coding prompt":"0'))
    return ground.koderz(*WEAK, "--name", "mine")


def wrong_settings_file(ground: Ground) -> Said:
    ground.home.mkdir()
    (ground.home / "settings.toml").write_text("timeout = = 3\n")
    return ground.koderz("results")


def unknown_setting(ground: Ground) -> Said:
    ground.home.mkdir()
    (ground.home / "settings.toml").write_text("timout = 3\n")
    return ground.koderz("results")


def unwritable(ground: Ground) -> Said:
    (ground.folder / "file").touch()
    return ground.koderz(*WEAK, "--data-dir", ground.folder / "file" / "home")


def journal_held(ground: Ground) -> Said:
    words = (*SMALL, "scripted/stubborn", "--strategy", "supervised", "--max-iterations", "25", "--no-baselines")
    environment = {**os.environ, **ground.environment}
    with subprocess.Popen(ground.words(*words), env=environment, stderr=subprocess.PIPE) as other:
        assert other.stderr
        other.stderr.readline()  # it says what it has begun
        try:
            return ground.koderz(*words)
        finally:
            other.kill()


def corrupt_journal(ground: Ground) -> Said:
    ground.koderz(*WEAK)
    lines = ground.journal().read_bytes().splitlines(keepends=True)
    ground.journal().write_bytes(b"".join([*lines[:4], b"{broken\n", *lines[4:]]))
    return ground.koderz("results")


def damaged_store(ground: Ground) -> Said:
    ground.koderz(*WEAK)
    (ground.home / "koderz.duckdb").write_text("no store at all")
    return ground.alone("results")


def workers_lost(ground: Ground) -> Said:
    (ground.folder / "killer.py").write_text(KILLER)
    return ground.alone("grade", ground.folder / "killer.py", "--problem", "HumanEval/0", KODERZ_SANDBOX="limited")


def port_in_use(ground: Ground) -> Said:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return ground.alone("ui", "--no-browser", "--port", taken.getsockname()[1])


PROVOKED: Mapping[str, Provoke] = {
    "old-python": old_python,
    "windows": alone("models", "list", first=WINDOWS),
    "no-runtime": alone(*SMALL, "embedded/smollm2-135m", first=NO_RUNTIME),
    "no-weights": no_weights,
    "no-memory": command(*SMALL, "embedded/smollm2-135m", KODERZ_NUM_CTX=100_000_000),
    "download-blocked": command("models", "pull", WEIGHTS_NAME),
    "download-offline": command("models", "pull", WEIGHTS_NAME, KODERZ_OFFLINE=1),
    "wrong-hash": wrong_hash,
    "no-ollama": command(*SMALL, "qwen2.5-coder:7b", OLLAMA_HOST=NOBODY),
    "not-pulled": answered(404, "qwen2.5-coder:7b"),
    "no-lmstudio": command(*SMALL, "lmstudio/it", LMSTUDIO_BASE_URL=NOBODY),
    "no-vllm": command(*SMALL, "vllm/it", VLLM_BASE_URL=NOBODY),
    "too-slow": too_slow,
    "silent": silent,
    "kept-failing": kept_failing,
    "no-openai-key": command(*SMALL, "gpt-4o-mini"),
    "no-anthropic-key": command(*SMALL, "claude-opus-4-5"),
    "wrong-key": answered(401, "gpt-4o-mini"),
    "key-is-no-key": command("models", "list", OPENAI_API_KEY="pässword"),
    "no-credit": answered(429, "gpt-4o-mini"),
    "no-address": command(*SMALL, "gpt-4o-mini", OPENAI_API_KEY="sk-a", OPENAI_BASE_URL="localhost"),
    "wrong-address": wrong_address,
    "unknown-paid": answered(404, "gpt-4o-mni"),
    "no-dns": command(*SMALL, "vllm/it", VLLM_BASE_URL="http://models.invalid/v1"),
    "untrusted": untrusted,
    "no-tls": no_tls,
    "proxy-refused": proxy_refused,
    "offline": command(*SMALL, "gpt-4o-mini", OPENAI_API_KEY="sk-a", KODERZ_OFFLINE=1),
    "offline-cloud": command(*SMALL, "gpt-oss:120b-cloud", KODERZ_OFFLINE=1),
    "without-result": without_result,
    "unknown-model": command(*SMALL, "embedded/qwen2.5-coder-0.6b"),
    "unknown-problem": command("run", "--problem-id", "HumanEval/999", "--coder", "scripted/weak"),
    "bad-problems": command("benchmark", "--problems", "1-5", "--coder", "scripted/weak"),
    "unknown-dataset": command(*WEAK, "--dataset", "humanevals"),
    "wrong-dataset-file": wrong_dataset_file,
    "unknown-strategy": command(*WEAK, "--strategy", "supervise"),
    "strategy-file": command(*WEAK, "--strategy", "none.py:Mine"),
    "many-experiments": command(*WEAK, "--repeats", "99999999999"),
    "unknown-role": command("benchmark", "--configuration", "supervised coder=scripted/weak reviwer=scripted/weak"),
    "idle-role": command(*WEAK, "--reviewer", "scripted/strong"),
    "unknown-parameter": command(*WEAK, "--strategy", "direct", "--max-iterations", "5"),
    "unknown-benchmark": command("analyze", "bench_123"),
    "prompts-changed": prompts_changed,
    "wrong-setting": command("results", KODERZ_TIMEOUT="soon"),
    "unknown-setting": unknown_setting,
    "wrong-settings-file": wrong_settings_file,
    "no-file": command("grade", "/"),
    "unwritable": unwritable,
    "disk-full": alone(*WEAK, first=SMALL_FILES, PYTHONDONTWRITEBYTECODE="1"),  # else bytecode would be cut off
    "journal-held": journal_held,
    "corrupt-journal": corrupt_journal,
    "damaged-store": damaged_store,
    "no-strong-sandbox": alone(*WEAK, first=MACOS),
    "tier-does-not-hold": command(*WEAK, KODERZ_SANDBOX="hardened", PATH=""),
    "workers-lost": workers_lost,
    "port-in-use": port_in_use,
    "exposed": alone("ui", "--no-browser", "--port", "0", STREAMLIT_SERVER_ADDRESS="0.0.0.0"),
}

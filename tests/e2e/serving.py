"""A dashboard in a process of its own: started, waited for, ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.error import URLError
from urllib.request import urlopen

from forking import Fork, fork

import koderz_core

ROOT = Path(koderz_core.__file__).parents[1]
KODERZ = str(Path(sys.executable).with_name("koderz"))
OURS = "koderz is at"
PLAINLY = ("--server.headless", "true", "--server.address", "127.0.0.1", "--server.port", "0")
NO_WEIGHTS = {"KODERZ_MODELS_DIR": "no/weights"}  # so that scripted models are all that can run
WITHIN = 60.0  # seconds for a server to answer, and to end, on a busy machine
Process = subprocess.Popen[bytes] | Fork


@dataclass(frozen=True, slots=True)
class Server:
    """A running dashboard."""

    url: str
    process: Process
    log: Path

    def end(self) -> int:
        """Ask it to end; its exit code. Fails the test if it stays."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WITHIN)


class Serve(Protocol):
    """Start a dashboard over a data folder: by ``command``, by default as a fork."""

    def __call__(
        self, home: Path | None = None, environment: Mapping[str, str] | None = None, command: Sequence[str] = ()
    ) -> Server: ...


def clean_environment() -> dict[str, str]:
    """For a server that several tests share: nobody's settings, this koderz, and only scripted models to run."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("KODERZ_", "CORTEX_"))}
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return own | {"PYTHONPATH": paths, "KODERZ_MEMORY": "off", **NO_WEIGHTS}


def forked(environment: Mapping[str, str], log: Path, *options: str, script: Path = ROOT / "app.py") -> Fork:
    """Streamlit with a script, by default as ``koderz ui`` runs it for the data folder that the environment names."""
    return fork("streamlit", ("run", str(script), *(options or PLAINLY)), environment, log)


def started(command: Sequence[str], environment: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    """A process of its own from its beginning."""
    with log.open("wb") as output:
        return subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )


def serving_home(home: Path) -> AbstractContextManager[Server]:
    """A dashboard over a data folder that several tests share."""
    log = home.with_suffix(".log")
    return serving(forked(clean_environment() | {"KODERZ_HOME": str(home)}, log), log)


@contextmanager
def serving(process: Process, log: Path, said: str = OURS) -> Iterator[Server]:
    """A dashboard that answers where it has ``said`` that it is; in the end it must obey SIGTERM."""
    ends = (-signal.SIGTERM,) if said == OURS else (0, -signal.SIGTERM)  # Streamlit alone ends as if nothing was
    try:
        server = Server(_url_of(process, log, said), process, log)
        yield server
        assert process.poll() is not None or server.end() in ends, log.read_text()
    finally:
        process.kill()
        process.wait()


def _url_of(process: Process, log: Path, before: str) -> str:
    """Where it says it is, once it is healthy there."""
    last = time.monotonic() + WITHIN
    while time.monotonic() < last:
        assert process.poll() is None, log.read_text()
        said = re.search(rf"{before} (\S+)", log.read_text())
        if said and _healthy(said[1]):
            return said[1]
        time.sleep(0.02)
    raise AssertionError(f"No dashboard after {WITHIN} s: {log.read_text()}")


def _healthy(url: str) -> bool:
    try:
        with urlopen(f"{url}/_stcore/health", timeout=5) as answer:
            return bool(answer.read() == b"ok")
    except URLError:
        return False

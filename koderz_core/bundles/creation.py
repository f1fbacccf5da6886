"""Bundles: creating one from a journal, those stored in the data folder, and opening one in a dashboard.

A bundle is redacted, packed and verified before it is written to its path. An opened bundle is a data folder of its
own, in which nothing can be run. A bug report is a zip that the user can check and send. koderz does not send it.
"""

from __future__ import annotations

import json
import platform
import shlex
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from traceback import extract_tb

from koderz_core.bundles.archive import BundleFile, packed
from koderz_core.bundles.checks import checked_bundle
from koderz_core.bundles.contents import contents
from koderz_core.bundles.documents import KPI_VERSION, MANIFEST, MANIFEST_VERSION, document, manifest
from koderz_core.bundles.privacy import SAFEST, Identities, Level, redacted
from koderz_core.errors import DataError, JournalError, KoderzError, UsageError
from koderz_core.events.tally import tally
from koderz_core.files import Lock, replace_file, replacement
from koderz_core.journal import read_all
from koderz_core.journal.annotations import annotations_file, entry_of, read
from koderz_core.notices.mask import masked_keys, masked_output
from koderz_core.verification.journals import Verified

CAP_BYTES = 64 << 20  # of one file: longer files are truncated and marked
KEPT = 20
MARK = "opened-bundle.json"
_READ_ONLY = (
    "This dashboard shows a bundle, which is read-only. To see your own data, start `koderz ui` without --open."
)


@dataclass(frozen=True, slots=True)
class WrittenBundle:
    """A bundle that was written and verified. ``truncated``: the names of truncated files."""

    path: Path
    level: Level
    size: int
    truncated: tuple[str, ...]
    verified: Verified


@dataclass(frozen=True, slots=True)
class BundleOptions:
    """``identities``: names to mask. ``version``: of the koderz that creates it. ``cap``: bytes of a file."""

    level: Level
    identities: Identities
    version: str
    cap: int = CAP_BYTES


def make(journal: Path, options: BundleOptions, path: Path) -> WrittenBundle:
    """Write a bundle of the present content of ``journal`` to ``path``, atomically. Raises DataError, JournalError.

    The same journal with the same labels and notes at the same level always gives the same bytes.
    """
    level = options.level
    every = read(annotations_file(journal))
    labels = [entry_of(annotation) for annotation in every if level != SAFEST or annotation.kind == "label"]
    whole = redacted([*read_all(journal), *labels], level, options.identities)
    entries, labels = whole[: len(whole) - len(labels)], whole[len(whole) - len(labels) :]
    told = tally(entries)
    if not told.opened:
        raise JournalError(f"The journal {journal.name} does not contain a plan, so it cannot be bundled.")
    labels = [entry for entry in labels if entry.experiment in told.experiments]
    files = contents(entries, labels, told, level, options.cap)
    listed = document(manifest(told, level, files, options.version))
    comment = (
        f"koderz {told.opened[-1].benchmark}; privacy={level}; schema=kpi@{KPI_VERSION},manifest@{MANIFEST_VERSION}"
    )
    content = packed((BundleFile(MANIFEST, listed, len(listed)), *files), comment)
    verified = _write(path, content)
    return WrittenBundle(path, level, len(content), tuple(file.path for file in files if file.truncated), verified)


@contextmanager
def locked(folder: Path, benchmark: str) -> Iterator[None]:
    """Lets one process at a time bundle a benchmark. Raises DataError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with Lock(folder / f".{benchmark}.lock") as lock:
            if not lock.acquire():
                raise DataError(f"Another process is creating a bundle of {benchmark}. Wait until it has finished.")
            yield
    except OSError as error:
        raise DataError(
            f"koderz cannot write to {folder}: {error.strerror}. Check the permissions of this folder and the free "
            "space on its disk."
        ) from error


def _write(path: Path, content: bytes) -> Verified:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacement(path) as file:
            file.write(content)
            file.flush()
            verified = checked_bundle(Path(file.name)).verified
            if not verified.holds:
                raise DataError(
                    f"The bundle was not written, because its verification failed: {verified.differences[0].said}. "
                    f"Check the journal with `koderz verify {path.stem.partition('-')[0]}`."
                )
    except OSError as error:
        raise DataError(
            f"{path} cannot be written: {error.strerror}. Check the permissions of its folder and the free space on "
            "its disk, or choose another path with --out."
        ) from error
    return verified


@dataclass(frozen=True, slots=True)
class StoredBundle:
    """A bundle in the data folder. ``made_at``: seconds since 1970. ``pinned``: koderz does not remove it."""

    path: Path
    size: int
    made_at: float
    pinned: bool


def stored_bundles(folder: Path) -> list[StoredBundle]:
    """All bundles in a folder, the newest first."""
    bundles = []
    for path in folder.glob("bench_*.zip"):
        with suppress(FileNotFoundError):  # it was removed meanwhile
            status = path.stat()
            bundles.append(StoredBundle(path, status.st_size, status.st_mtime, _pin(path).exists()))
    return sorted(bundles, key=lambda bundle: (-bundle.made_at, bundle.path.name))


def pin(path: Path) -> None:
    """Protect a bundle from ``make_room``. Raises DataError."""
    try:
        _pin(path).touch()
    except OSError as error:
        raise DataError(
            f"{path.name} cannot be protected from deletion (--pin): {error.strerror}. Check the permissions of "
            f"{path.parent} and the free space on its disk."
        ) from error


def make_room(folder: Path, most: int = KEPT) -> int:
    """Remove the bundles that are not pinned, except the newest ``most``; return how many. Raises DataError."""
    surplus = [bundle for bundle in stored_bundles(folder) if not bundle.pinned][most:]
    for bundle in surplus:
        try:
            bundle.path.unlink(missing_ok=True)
        except OSError as error:
            raise DataError(
                f"{bundle.path} cannot be removed: {error.strerror}. Check the owner of its folder."
            ) from error
    return len(surplus)


def _pin(path: Path) -> Path:
    return path.with_name(f"{path.name}.pin")


def open_bundle(path: Path, home: Path) -> None:
    """Verify a bundle and make ``home`` a data folder with its content. Raises DataError."""
    checked = checked_bundle(path)
    if not checked.verified.holds:
        first = checked.verified.differences[0].said
        raise DataError(
            f"The bundle {path.name} was refused: {first}. To see all differences: "
            f"koderz verify {shlex.quote(str(path))}"
        )
    if checked.truncated:
        raise DataError(
            f"The bundle {path.name} contains only the first part of its journal, so its results would be incomplete. "
            "Ask its author for the journal itself."
        )
    journals = home / "journals"
    journals.mkdir(parents=True)
    journal = journals / f"{checked.run_id}.jsonl"
    journal.write_bytes(checked.journal)
    if checked.labels:
        replace_file(annotations_file(journal), checked.labels)
    (home / MARK).write_text(json.dumps({"run_id": checked.run_id, "privacy_level": checked.level}), encoding="utf-8")


def opened_level(home: Path) -> str | None:
    """The privacy level of the bundle in a data folder, None if the folder is the user's own."""
    try:
        return str(json.loads((home / MARK).read_text(encoding="utf-8"))["privacy_level"])
    except (FileNotFoundError, NotADirectoryError):  # the code that writes to the folder reports its faults
        return None


def require_own(home: Path) -> None:
    """Raise UsageError if the data folder shows a bundle."""
    if opened_level(home) is not None:
        raise UsageError(_READ_ONLY)


FILE_NAME = "koderz-bug-report.zip"
_FRAMES = 30
_PACKAGES = ("streamlit", "duckdb", "pandas", "plotly", "click", "msgspec", "pydantic", "httpx", "mcp")
_README = """This report describes an installation of koderz: versions of koderz, Python and packages, the results of
the checks of `koderz doctor`, the names of changed settings, and, if an error occurred, its type and its place in the
code.

API keys and other secrets, paths, host names and user names are masked. The report contains no prompts, answers,
results of experiments, values of settings or values of variables. Check report.json before you share it. koderz has
not sent the report.
"""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a report contains beside versions: an error, results of checks, and names of settings."""

    error: BaseException | None = None
    checks: Sequence[str] = ()
    settings: Collection[str] = ()


def bug_report(found: Circumstances, identities: Identities, koderz_version: str) -> bytes:
    """A report as a zip. The same circumstances always give the same bytes on the same machine.

    Raises DataError for a report in which a key or a name is not masked.
    """
    report = {
        "koderz": koderz_version,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": dict(_packages()),
        "errors": [_described(cause, identities) for cause in _chain(found.error)],
        "checks": [_masked(check, identities) for check in found.checks],
        "settings": sorted(found.settings),
    }
    content = document(report)
    if any(word in content.decode() for word in (*identities.secrets, *identities.folders) if len(word) > 3):
        raise DataError(
            "The bug report was not created, because it would contain a secret or a folder path that could not be "
            "masked."
        )
    files = {"README.txt": _README.encode(), "report.json": content}
    return packed([BundleFile(name, content, len(content)) for name, content in files.items()], "koderz bug report")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _described(error: BaseException, identities: Identities) -> dict[str, object]:
    """An error with its place. Only koderz' own errors keep their message, because others may quote anything."""
    message = _masked(str(error), identities) if isinstance(error, KoderzError) else None
    frames = extract_tb(error.__traceback__)[-_FRAMES:]
    places = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
    return {"kind": type(error).__name__, "message": message, "places": places}


def _masked(text: str, identities: Identities) -> str:
    return identities.masked(masked_output(masked_keys(text, identities.secrets)))


def _packages() -> Iterator[tuple[str, str | None]]:
    for name in _PACKAGES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, None

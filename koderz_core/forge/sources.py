"""The files of a tree to make tasks from: a source distribution of an index, a ``.tar.gz`` file or a folder.

Nothing is unpacked to disk, and no code of the tree runs here.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.datasets.archives import members
from koderz_core.errors import DataError, UsageError
from koderz_core.forge.package_index import Release, fetch_archive, release_of
from koderz_core.input_files import read_bytes
from koderz_core.repositories.folder_files import list_files, read_file
from koderz_core.repositories.git import open_git

UNKNOWN_LICENCE = "unknown"
_CURE = "Give a source distribution (.tar.gz), the folder of a package, or NAME==VERSION."
_SAFE = re.compile(r"[^A-Za-z0-9 .,+()/-]+")  # characters that a licence name in a dataset file may not have
_MOST_LICENCE = 60
_NOT_IN_NAME = re.compile(r"[^\w.+!-]+")  # an id of a problem has neither blanks nor commas
_MOST_NAME = 80
_COMPILED = re.compile(r"\.py[co]$|(^|/)__pycache__/")  # Python would run it in place of the source


@dataclass(frozen=True, slots=True)
class Source:
    """The files of a tree by path. ``name``: package and version, or the name of the folder.

    ``sha256`` (hex): of the source distribution, "" for a folder. All texts may be hostile.
    """

    name: str
    licence: str
    files: Mapping[str, bytes]
    sha256: str = ""


def read_source(text: str, indexes: Sequence[str], settings: Settings) -> Source:
    """The source that the user names: NAME==VERSION, a folder or a ``.tar.gz`` file.

    Raises UsageError, DataError, OfflineError.
    """
    if release := release_of(text):
        return read_release(release, indexes, settings)
    path = Path(text)
    if path.is_dir():
        return _from_folder(path.resolve())
    if text.endswith((".tar.gz", ".tgz")):
        name = path.name.removesuffix(".gz").removesuffix(".tar").removesuffix(".tgz")
        return _from_archive(read_bytes(path, _CURE), _NOT_IN_NAME.sub("-", name)[:_MOST_NAME], path)
    raise UsageError(
        f"{text!r} is neither NAME==VERSION nor an existing folder nor a .tar.gz file. Write, for example, "
        "cachetools==8.0.2 or ./my-package."
    )


def read_release(release: Release, indexes: Sequence[str], settings: Settings) -> Source:
    """The source distribution of a release. Raises DataError, OfflineError, UsageError."""
    content = fetch_archive(release, indexes, settings)
    return _from_archive(content, release.full_name, Path(f"{release.full_name}.tar.gz"))


def _from_archive(content: bytes, name: str, path: Path) -> Source:
    files = _without_outer_folder(dict(members(content, path, _CURE)))
    return _source(name, files, hashlib.sha256(content).hexdigest())


def _from_folder(root: Path) -> Source:
    git, _ = open_git(root)
    listing = list_files(root, git)
    if listing.left_out:
        raise DataError(f"{root} has too many files ({listing.left_out} more than the limit). Give a smaller folder.")
    contents = ((path, read_file(root, path)) for path in listing.sizes)
    files = {path: content for path, content in contents if content is not None}
    return _source(_NOT_IN_NAME.sub("-", root.name)[:_MOST_NAME] or "package", files, "")


def _source(name: str, files: Mapping[str, bytes], sha256: str) -> Source:
    files = {path: content for path, content in files.items() if not _COMPILED.search(path)}
    if not files:
        raise DataError(f"{name} has no files. {_CURE}")
    return Source(name, licence_of(files), files, sha256)


def licence_of(files: Mapping[str, bytes]) -> str:
    """The short name of the licence that the metadata of a tree state, else ``UNKNOWN_LICENCE``."""
    return next(filter(None, map(_plain, _licences(files))), UNKNOWN_LICENCE)


def _without_outer_folder(files: Mapping[str, bytes]) -> dict[str, bytes]:
    outer = {path.partition("/")[0] for path in files}
    if len(outer) != 1 or any("/" not in path for path in files):
        return dict(files)
    return {path.partition("/")[2]: content for path, content in files.items()}


def _licences(files: Mapping[str, bytes]) -> Iterator[str]:
    """What the metadata states, the most exact statement first."""
    head = HeaderParser().parsestr(files.get("PKG-INFO", b"").decode("utf-8", errors="replace"))
    yield str(head.get("License-Expression", ""))
    project = _project(files)
    stated = project.get("license")
    yield stated if isinstance(stated, str) else ""
    yield str(stated.get("text", "")) if isinstance(stated, Mapping) else ""
    yield str(head.get("License", ""))
    lists = (head.get_all("Classifier") or [], project.get("classifiers") or [])
    for classifier in (str(entry) for entries in lists if isinstance(entries, list) for entry in entries):
        if classifier.startswith("License :: "):
            yield classifier.rpartition(" :: ")[2]


def _project(files: Mapping[str, bytes]) -> Mapping[str, object]:
    try:
        table = tomllib.loads(files.get("pyproject.toml", b"").decode("utf-8")).get("project")
    except (ValueError, RecursionError):
        return {}
    return table if isinstance(table, Mapping) else {}


def _plain(stated: str) -> str:
    """A short name of a licence; "" for its whole text."""
    name = _SAFE.sub(" ", stated).strip()
    return name if name and "\n" not in stated.strip() and len(name) <= _MOST_LICENCE else ""

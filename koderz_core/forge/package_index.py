"""Package indexes: their addresses, the files of a project, and the source distribution of one version.

koderz reads the simple API of the index (PEP 691 and PEP 503) itself. It never runs code of a package, which building
its metadata would do. A file whose SHA-256 differs from the one that the index states is refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from koderz_core.config import Settings
from koderz_core.download import client_of
from koderz_core.errors import DataError, DownloadError, OfflineError, UsageError
from koderz_core.files import keep_file
from koderz_core.input_files import read_bytes
from koderz_core.python_parser import literal

MOST_PAGE_BYTES = 64 << 20  # of the list of a project's files
MOST_ARCHIVE_BYTES = 64 << 20
_SECONDS = 60.0  # for pip
_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_RELEASE = re.compile(r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)==(?P<version>[A-Za-z0-9.!+_-]+)")
_DEFAULT = re.compile(r"--index-url.*?\(default\s+(\S+?)\)", re.DOTALL)
_PURPOSE = "a source distribution"


@dataclass(frozen=True, slots=True)
class Release:
    """A version of a package. ``sha256`` (hex): of its source distribution, "" if only the index states it."""

    name: str
    version: str
    sha256: str = ""

    @property
    def full_name(self) -> str:
        """Name and version in one word."""
        return f"{self.name}-{self.version}"


@dataclass(frozen=True, slots=True)
class _Listed:
    """A file in an index. ``sha256`` is empty if the index states none."""

    name: str
    url: str
    sha256: str


def release_of(text: str) -> Release | None:
    """The release that ``NAME==VERSION`` means, None for any other text."""
    found = _RELEASE.fullmatch(text)
    return Release(found["name"], found["version"]) if found else None


def fetch_archive(release: Release, indexes: Sequence[str], settings: Settings) -> bytes:
    """The source distribution of a release (.tar.gz). With a known SHA-256, a kept file is read without a connection.

    ``indexes``: addresses, http or file; none: those of pip's configuration. Raises DataError, OfflineError.
    """
    kept = settings.cache_dir / "sdists" / f"{release.full_name}.tar.gz"
    if release.sha256 and kept.is_file() and _sha256(content := read_bytes(kept, "Delete it.")) == release.sha256:
        return content
    pages = tuple(indexes) or configured_indexes()
    faults: list[str] = []
    offline: OfflineError | None = None
    for page in pages:
        try:
            content = _source_distribution(release, page, settings)
        except DownloadError as error:
            faults.append(f"{_shown(page)}: {error}")
        except OfflineError as error:
            offline = error  # a later index may be on this machine
        else:
            keep_file(kept, content)
            return content
    if offline:
        raise offline
    raise DataError(
        f"The source distribution of {release.name}=={release.version} cannot be read: {'; '.join(faults)}. Check the "
        "name and the version, choose another index with --index URL, or give the path of a .tar.gz file."
    )


def _source_distribution(release: Release, page: str, settings: Settings) -> bytes:
    """The source distribution that an index has. Raises DownloadError, OfflineError."""
    try:
        listed = _listed(release, page, settings)
        if listed is None:
            raise DownloadError("it has no such source distribution (.tar.gz)")
        return _checked(_content(listed.url, MOST_ARCHIVE_BYTES, settings)[0], listed, release)
    except FileNotFoundError:
        raise DownloadError("the index lists this file, but there is no file at the listed address") from None


def configured_indexes() -> tuple[str, ...]:
    """The indexes that pip uses on this machine: of its configuration and variables, else its default.

    Raises UsageError if pip cannot be asked.
    """
    try:
        configured = dict(_entries(_pip("config", "list")))
        main = _setting(configured, "index-url") or _default(_pip("download", "--help"))
    except (OSError, subprocess.SubprocessError, ValueError, SyntaxError) as error:
        raise UsageError(
            "koderz could not determine pip's package index. Name the index with --index URL, or give the path of a "
            "folder or of a .tar.gz file."
        ) from error
    return (*main.split(), *_setting(configured, "extra-index-url").split())


def _pip(*arguments: str) -> str:
    command = [sys.executable, "-P", "-m", "pip", *arguments]  # -P: never a module pip of the current folder
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True)
    return done.stdout


def _entries(listing: str) -> Iterator[tuple[str, str]]:
    """The values of ``pip config list``, whose lines are ``global.index-url='https://...'``."""
    for line in listing.splitlines():
        name, equals, value = line.partition("=")
        if equals:
            yield name.strip(), str(literal(value.strip()))


def _setting(configured: dict[str, str], name: str) -> str:
    """Pip's order: its variables, then the section of the command, then the global section."""
    keys = (f":env:.{name}", f"download.{name}", f"global.{name}")
    return next((configured[key] for key in keys if configured.get(key)), "")


def _default(help_text: str) -> str:
    found = _DEFAULT.search(help_text)
    if not found:
        raise ValueError("the help text of pip names no default index")
    return found[1]


def _listed(release: Release, page: str, settings: Settings) -> _Listed | None:
    """The source distribution in an index; None if the index has no such file. Raises DownloadError, OfflineError."""
    url = f"{page.rstrip('/')}/{normalised(release.name)}/"
    try:
        content, kind, url = _content(url, MOST_PAGE_BYTES, settings)
        files = list(_from_json(content, url) if "json" in kind else _from_html(content, url))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DownloadError(f"its page for {release.name} cannot be read ({type(error).__name__})") from error
    wanted = f"{normalised(release.name)}-{release.version.lower()}.tar.gz"
    found = next((file for file in files if _canonical(file.name) == wanted), None)
    if found and urlsplit(found.url).scheme == "file" != urlsplit(url).scheme:
        raise DownloadError(
            "its page refers to a file on this machine, which koderz does not read"
        )  # an index of others must not make koderz read it
    return found


def normalised(name: str) -> str:
    """The name of a project as an index spells it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _canonical(file: str) -> str:
    name, dash, version = file.rpartition("-")
    return f"{normalised(name)}{dash}{version.lower()}"


def _from_json(content: bytes, url: str) -> Iterator[_Listed]:
    for file in json.loads(content)["files"]:
        yield _Listed(str(file["filename"]), urljoin(url, file["url"]), str(file["hashes"].get("sha256", "")))


def _from_html(content: bytes, url: str) -> Iterator[_Listed]:
    reader = _Links()
    reader.feed(content.decode("utf-8", errors="replace"))
    for link in reader.links:
        whole, fragment = urldefrag(urljoin(url, link))
        yield _Listed(unquote(whole.rpartition("/")[2]), whole, fragment.partition("sha256=")[2])


class _Links(HTMLParser):
    """The targets of all links."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value for name, value in attrs if tag == "a" and name == "href" and value]


def _checked(content: bytes, listed: _Listed, release: Release) -> bytes:
    """The content, whose hash is the expected one. Raises DataError."""
    found = _sha256(content)
    for stated, by in ((listed.sha256, "the index states"), (release.sha256, "koderz expects")):
        if stated and stated.lower() != found:
            raise DataError(
                f"{listed.name} has the SHA-256 {found}, but {by} {stated[:64]}. koderz does not use this file. Try "
                "again, or choose another index with --index URL."
            )
    if not (listed.sha256 or release.sha256):
        raise DataError(
            f"The index lists no SHA-256 for {listed.name}, so the file cannot be checked. Download it yourself, and "
            "give the path of the .tar.gz file."
        )
    return content


def _content(url: str, most: int, settings: Settings) -> tuple[bytes, str, str]:
    """The content at an address, its media type, and the address after redirects.

    Raises DownloadError, OfflineError; FileNotFoundError if the server or the disk has nothing there.
    """
    parts = urlsplit(url)
    if parts.scheme == "file":
        return _on_disk(Path(unquote(parts.path)), url, most)
    if parts.scheme not in ("http", "https"):
        raise DownloadError("the scheme of the address is not http, https or file")
    import httpx  # noqa: PLC0415 (heavy)

    def gate(address: str) -> None:
        settings.check_egress(address, _PURPOSE, "--index or pip's configuration")

    try:
        with client_of(gate) as client, client.stream("GET", url, headers={"Accept": _ACCEPT}) as answer:
            if answer.status_code in (404, 410):
                raise FileNotFoundError(url)
            if answer.is_error:
                raise DownloadError(f"the server answered with HTTP status {answer.status_code}")
            content = _read(answer.iter_bytes(), most)
            return content, answer.headers.get("Content-Type", ""), str(answer.url)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise DownloadError(str(error) or type(error).__name__) from error


def _on_disk(path: Path, url: str, most: int) -> tuple[bytes, str, str]:
    page = path / "index.html" if path.is_dir() else path
    if not page.exists():
        raise FileNotFoundError(page)
    return read_bytes(page, "Choose another index with --index URL.", most), "", url


def _read(pieces: Iterator[bytes], most: int) -> bytes:
    content = bytearray()
    for piece in pieces:
        content += piece
        if len(content) > most:
            raise DownloadError(f"the file has more than {most >> 20} MB")
    return bytes(content)


def _shown(page: str) -> str:
    """An address without a password."""
    parts = urlsplit(page)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

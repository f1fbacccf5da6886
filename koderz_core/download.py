"""Downloads a file of known size into a part that a later attempt can resume.

So the part has a fixed name and survives a failure, unlike that of ``files.replacement``. The caller checks the hash of
the file and tells the user how to place the file by hand.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from koderz_core.egress import traced
from koderz_core.errors import ConfigError, DownloadError
from koderz_core.files import Lock
from koderz_core.proxies import proxies

if TYPE_CHECKING:
    import httpx


def download(
    url: str,
    whole_bytes: int,
    part: Path,
    gate: Callable[[str], None],
    progress: Callable[[int], None] = lambda _bytes: None,
    *,
    exact: bool = True,
) -> None:
    """Stream ``url`` into ``part``, resuming an earlier attempt. Reading stops soon after ``whole_bytes``.

    Without ``exact``, ``whole_bytes`` is the largest size, and a download starts from the beginning.

    ``gate`` receives every address before it is requested, redirects included, and may raise; ``progress`` receives the
    number of bytes so far. Raises DownloadError if the file is not available there or the download breaks off.
    """
    import httpx  # noqa: PLC0415 (heavy)

    if not exact:
        part.unlink(missing_ok=True)
    check_room(part.parent, whole_bytes - size_bytes(part))
    with client_of(gate) as client:
        try:
            done = _stream(client, url, whole_bytes, part, progress)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise DownloadError(f"not reachable: {str(error) or type(error).__name__}") from error
        except httpx.HTTPError as error:
            raise DownloadError(f"the download was interrupted: {str(error) or type(error).__name__}") from error
    if exact and done < whole_bytes:
        raise DownloadError(f"the server sent only {done} of {whole_bytes} bytes")


def client_of(gate: Callable[[str], None]) -> httpx.Client:
    """A client that asks ``gate`` about every address before a request. Raises DownloadError."""
    import httpx  # noqa: PLC0415 (heavy)

    timeout = httpx.Timeout(30, connect=5)
    hooks = {"request": [lambda request: gate(str(request.url)), traced]}
    try:
        proxies()
    except ConfigError as error:
        raise DownloadError(f"no request was sent: {error}") from None
    return httpx.Client(follow_redirects=True, timeout=timeout, event_hooks=hooks)


def _stream(client: httpx.Client, url: str, whole_bytes: int, part: Path, progress: Callable[[int], None]) -> int:
    """The number of bytes that the part then has."""
    have = size_bytes(part)
    if have >= whole_bytes:
        return have  # complete, or another file, which the caller's check of the hash finds
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with client.stream("GET", url, headers=headers) as answer:
        if answer.is_error:
            raise DownloadError(f"the server answered with HTTP status {answer.status_code}")
        resumed = answer.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        done = have if resumed else 0
        with part.open("ab" if resumed else "wb") as file:
            for chunk in answer.iter_raw():  # written at once, so that nothing is lost when the download breaks off
                done += file.write(chunk)
                progress(done)
                if done > whole_bytes:
                    return done
    return done


@contextmanager
def alone(lock: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Lock a part against other processes. If another process has it, call ``waiting`` and wait for the lock."""
    with Lock(lock) as held:
        if not held.acquire():
            waiting()
            held.acquire(None)
        yield


def check_room(folder: Path, needed_bytes: int) -> None:
    """Raise DownloadError if the disk of ``folder`` has less than ``needed_bytes`` free."""
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < needed_bytes:
        raise DownloadError(
            f"the disk of {folder} has {free_bytes / 1e6:.0f} MB free, but {needed_bytes / 1e6:.0f} MB are needed; "
            "free some space, or choose a folder on another disk"
        )


def size_bytes(path: Path) -> int:
    """The size of a file in bytes, 0 if it does not exist."""
    return path.stat().st_size if path.is_file() else 0

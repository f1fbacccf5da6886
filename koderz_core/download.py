"""Downloads of files of known size, which a later attempt resumes.

The partial file has a fixed name and remains after a failure, unlike with ``files.replacement``. The caller knows the
publisher and the hash, so the caller checks it and advises what to do by hand.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from koderz_core.errors import DownloadError
from koderz_core.files import Lock

if TYPE_CHECKING:
    import httpx


def download(
    url: str,
    whole_bytes: int,
    part: Path,
    gate: Callable[[str], None],
    tell: Callable[[int], None] = lambda _done: None,
) -> None:
    """Stream ``url`` into ``part``, from where an earlier attempt stopped. Stops soon after ``whole_bytes``.

    ``gate`` receives every address before it is asked, including redirects, and may raise. ``tell`` receives the bytes
    so far. Raises DownloadError if the file is unavailable or the download breaks off.
    """
    import httpx  # noqa: PLC0415 (heavy)

    check_room(part.parent, whole_bytes - size_bytes(part))
    with _client(gate) as client:
        try:
            _stream(client, url, whole_bytes, part, tell)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise DownloadError(f"not reachable: {str(error) or type(error).__name__}") from error
        except httpx.HTTPError as error:
            raise DownloadError(f"the download broke off: {str(error) or type(error).__name__}") from error


def _client(gate: Callable[[str], None]) -> httpx.Client:
    import httpx  # noqa: PLC0415 (heavy)

    timeout = httpx.Timeout(30, connect=5)
    try:
        hooks = {"request": [lambda request: gate(str(request.url))]}
        return httpx.Client(follow_redirects=True, timeout=timeout, event_hooks=hooks)
    except (httpx.InvalidURL, ImportError, ValueError) as error:
        raise DownloadError(f"not asked, because the proxy settings are wrong: {error}") from error


def _stream(client: httpx.Client, url: str, whole_bytes: int, part: Path, tell: Callable[[int], None]) -> None:
    have = size_bytes(part)
    if have >= whole_bytes:
        return  # complete or wrong, which the caller finds by its hash
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with client.stream("GET", url, headers=headers) as answer:
        if answer.is_error:
            raise DownloadError(f"answered with HTTP status {answer.status_code}")
        resumed = answer.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        done = have if resumed else 0
        with part.open("ab" if resumed else "wb") as file:
            for chunk in answer.iter_raw():  # as it arrives, so that nothing is lost if it breaks off
                done += file.write(chunk)
                tell(done)
                if done > whole_bytes:
                    return
    if done < whole_bytes:
        raise DownloadError(f"the file ended after {done} of {whole_bytes} bytes")


@contextmanager
def alone(lock: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Keeps other processes away from a partial file. Calls ``waiting`` before it waits for another process."""
    with Lock(lock) as held:
        if not held.acquire():
            waiting()
            held.acquire(None)
        yield


def check_room(folder: Path, needed_bytes: int) -> None:
    """Raise DownloadError if the disk of ``folder`` has less room."""
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < needed_bytes:
        raise DownloadError(
            f"the disk of {folder} has {free_bytes / 1e6:.0f} MB free, {needed_bytes / 1e6:.0f} MB are needed; "
            "make room, or name a folder on another disk"
        )


def size_bytes(path: Path) -> int:
    """The size of a file, 0 if it does not exist."""
    return path.stat().st_size if path.is_file() else 0

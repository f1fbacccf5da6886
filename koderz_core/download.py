"""A file of known size, streamed from its publisher into a part that a later attempt goes on with.

So the part has a fixed name and outlives a failure, other than with ``files.replacement``.
Whose file it is and what its hash must be, the caller knows; so it is the caller who says what to do by hand.
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
    """Stream ``url`` into ``part``, going on where an earlier attempt stopped; of what is too long, little is taken.

    ``gate`` is told every address before it is asked, redirects too, and may raise; ``tell`` is told the bytes so far.
    Raises DownloadError if the file cannot be had there or broke off.
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
        return  # whole, or wrong: its hash will tell
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with client.stream("GET", url, headers=headers) as answer:
        if answer.is_error:
            raise DownloadError(f"answered with HTTP status {answer.status_code}")
        resumed = answer.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        done = have if resumed else 0
        with part.open("ab" if resumed else "wb") as file:
            for chunk in answer.iter_raw():  # as it comes, so that nothing is lost when it breaks off
                done += file.write(chunk)
                tell(done)
                if done > whole_bytes:
                    return
    if done < whole_bytes:
        raise DownloadError(f"the file ended after {done} of {whole_bytes} bytes")


@contextmanager
def alone(lock: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Guards a part against other processes; ``waiting`` is called if another one has it, before it is waited for."""
    with Lock(lock) as held:
        if not held.acquire():
            waiting()
            held.acquire(None)
        yield


def check_room(folder: Path, needed_bytes: int) -> None:
    """Raise DownloadError if the disk of ``folder`` has not so much room."""
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < needed_bytes:
        raise DownloadError(
            f"the disk of {folder} has {free_bytes / 1e6:.0f} MB free, {needed_bytes / 1e6:.0f} MB are needed; "
            "make room, or name a folder on another disk"
        )


def size_bytes(path: Path) -> int:
    """Bytes of a file, 0 if there is none."""
    return path.stat().st_size if path.is_file() else 0

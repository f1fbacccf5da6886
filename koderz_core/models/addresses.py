"""Base URLs of model servers: whose they are, when two are the same, and how they are shown. Settings checked them."""

from __future__ import annotations

from urllib.parse import urlsplit

from koderz_core.addresses import LOOPBACK, secrets_of, url_of
from koderz_core.redaction import MASK

_HERE = ("localhost", "::1", LOOPBACK)
_PORTS = {"http": 80, "https": 443}


def redact(url: str) -> str:
    """A base URL fit for a message: no user, password or query, and no key in its path."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{_path(url)}"


def identity(url: str) -> str:
    """The one spelling, fit for a message, of all that mean the same server; what is no address is its own."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return url
    port = None if port == _PORTS.get(parts.scheme) else port
    return url_of(LOOPBACK if host in _HERE else host, port, parts.scheme) + _path(url).rstrip("/")


def _path(url: str) -> str:
    secret = secrets_of(url)
    return "/".join(MASK if part in secret else part for part in urlsplit(url).path.split("/"))


def is_at(url: str | None, home: str) -> bool:
    """Whether an address is a publisher's own: on the host ``home`` or one below it. "" is nobody's home."""
    return bool(home) and f".{urlsplit(url or '').hostname}".endswith(f".{home}")

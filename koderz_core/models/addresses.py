"""Base URLs of model servers: whose they are, and how they are shown."""

from __future__ import annotations

from urllib.parse import urlsplit

from koderz_core.errors import ModelError


def redact(url: str) -> str:
    """A base URL fit for a message: no user, password or query. Raises ModelError if it is no address at all."""
    parts = urlsplit(url) if host_of(url) else None
    if parts is None or parts.scheme not in ("http", "https"):
        raise ModelError("The base URL of a model server is not an address. Write it as http://HOST:PORT/v1.")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def host_of(url: str | None) -> str:
    """The host of an address, "" if it has none."""
    try:
        return urlsplit(url or "").hostname or ""
    except ValueError:
        return ""


def is_at(url: str | None, home: str) -> bool:
    """Whether an address is a publisher's own: on the host ``home`` or one below it. "" is nobody's home."""
    return bool(home) and f".{host_of(url)}".endswith(f".{home}")

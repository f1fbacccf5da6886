"""Addresses of servers: strict parsing, one spelling, and which of them stay on this machine."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit, urlunsplit

LOOPBACK = "127.0.0.1"  # the loopback interface
MOST_PORT = 65_535
_BEFORE_SCHEME = re.compile(r"[\s,]+(?=https?://)", re.IGNORECASE)
_SEPARATOR = re.compile(r"[\s,]+")
_NAMES_SECRET = re.compile("(?i)key|token|secret|pass|pwd|auth|sig|cred|code")
_RANDOM = re.compile(r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}")  # no person would choose this as a name


def address(text: str) -> SplitResult:
    """The parts of an address, with its host in lower case and no slash at the end.

    Raises ValueError, which does not quote the address because that may contain a password.
    """
    text = text.strip()
    try:
        parts = urlsplit(text)
        sound = text.isprintable() and not set(" \\") & set(text) and text.count("@") == parts.netloc.count("@") < 2
        if not (sound and parts.scheme in ("http", "https") and parts.port != 0 and _is_host(parts.hostname or "")):
            raise ValueError
    except ValueError:
        raise ValueError(
            "this is not an address. Write an address as http://HOST:PORT/PATH. "
            "In a user name or password, write %40 for @, %2F for /, %3A for :, %3F for ? and %23 for #"
        ) from None
    user, at, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{user}{at}{host.lower()}", path=parts.path.rstrip("/"))


def normalised(text: str) -> str:
    """An address in the spelling of ``address``. Raises ValueError, likewise."""
    return urlunsplit(address(text))


def several(one: Callable[[str], str]) -> Callable[[str], str]:
    """A check of one or more addresses that are separated by commas or spaces; ``one``: the check of each.

    They are kept in their order, separated by single spaces. Raises ValueError, as ``one``.
    """

    return lambda text: " ".join(dict.fromkeys(map(one, separated(text))))


def separated(text: str) -> list[str]:
    """The parts of such a text. A comma within an address, such as in its path, separates nothing."""
    return (_BEFORE_SCHEME if "://" in text else _SEPARATOR).split(text.strip())


def ollama_address(text: str) -> str:
    """The address that a value of ``OLLAMA_HOST`` means. Raises ValueError, as ``address``.

    The value may lack scheme, host and port, which then have the defaults of Ollama's own client. It may also be the
    wildcard address that the server listens on.
    """
    scheme, _, rest = text.strip().rpartition("://")
    host, slash, path = rest.partition("/")
    parts = address(f"{scheme or 'http'}://{LOOPBACK if host[:1] in ('', ':') else ''}{host}{slash}{path}")
    name = LOOPBACK if parts.hostname in ("0.0.0.0", "::") else str(parts.hostname)  # noqa: S104 (replaced)
    port = parts.port or {"http": 80, "https": 443}.get(scheme.lower(), 11434)
    return f"{url_of(name, port, parts.scheme)}{parts.path}"


def listen_address(text: str) -> str:
    """The address HOST:PORT to listen on, "" for none; a port alone means loopback, port 0 any free port.

    Raises ValueError.
    """
    host, _, port = text.strip().rpartition(":")
    if not (host or port):
        return ""
    try:
        parts = address(f"http://{host or LOOPBACK}")
        named = parts.netloc == (host or LOOPBACK).lower() and "@" not in host and parts.port is None
        if not (named and 0 <= int(port) <= MOST_PORT):
            raise ValueError
    except ValueError:
        raise ValueError("the value must be a port or HOST:PORT, such as 9464 or 127.0.0.1:9464") from None
    return f"{parts.netloc}:{int(port)}"


def secrets_of(url: str) -> tuple[str, ...]:
    """The secrets in an address: passwords, keys in its query, random parts of its path.

    A user name without a password counts as a key. Host names, dates and versions never do.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ()
    login = parts.netloc.rpartition("@")[0]
    user, _, password = login.partition(":")
    secrets = [login, password or user] if login else []
    secrets += [value for name, value in parse_qsl(parts.query) if _NAMES_SECRET.search(name) or _RANDOM.search(value)]
    secrets += [part for part in parts.path.split("/") if _RANDOM.search(part)]
    return tuple(dict.fromkeys(form for secret in secrets for form in (secret, unquote(secret)) if form))


def _is_host(host: str) -> bool:
    """Whether a host is valid. Raises ValueError if its name has no form in DNS."""
    try:
        return bool(ipaddress.ip_address(host)) and "%" not in host  # no client accepts an address with an interface
    except ValueError:
        host.encode("idna")
    if not re.fullmatch(r"[\w.-]*[a-z][\w.-]*", host, re.ASCII):
        import httpx  # noqa: PLC0415 (heavy; knows the rules of names that are not ASCII)

        try:
            return bool(httpx.URL(f"http://{host}").raw_host)
        except httpx.InvalidURL:
            return False
    return True


def url_of(host: str, port: int | None = None, scheme: str = "http") -> str:
    """The address of a host, which may be an IPv6 address."""
    return f"{scheme}://{f'[{host}]' if ':' in host else host}{'' if port is None else f':{port}'}"


@lru_cache(256)
def endpoint(url: str) -> str:
    """The host and port of an address, without keys; a text that is not an address stays as it is."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return "an invalid address"
    if host is None:
        return url
    return url_of(host, port, "").removeprefix("://")


def is_loopback(url: str) -> bool:
    """Whether an address (with its scheme) stays on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


@lru_cache(64)
def name_this_machine(*hosts: str) -> bool:
    """Whether the headers ``Host`` of a request are one, and name this machine: after DNS rebinding they do not."""
    try:
        return len(hosts) == 1 and is_loopback(f"http://{hosts[0]}")
    except ValueError:  # brackets that hold no address
        return False

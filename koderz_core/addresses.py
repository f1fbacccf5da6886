"""Addresses of servers: read strictly, written in one way, told apart from what leaves this machine."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

LOOPBACK = "127.0.0.1"  # where only this machine comes
_NAMES_SECRET = re.compile("(?i)key|token|secret|pass|pwd|auth|sig|cred|code")
_RANDOM = re.compile(r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}")  # what no person would have chosen as a name


def address(text: str) -> SplitResult:
    """The parts of an address, lower case where case means nothing, with no slash at the end.

    Raises ValueError, which shows nothing of it: it may hold a password.
    """
    text = text.strip()
    try:
        parts = urlsplit(text)
        sound = text.isprintable() and not set(" \\") & set(text) and text.count("@") == parts.netloc.count("@") < 2
        if not (sound and parts.scheme in ("http", "https") and parts.port != 0 and _is_host(parts.hostname or "")):
            raise ValueError
    except ValueError:
        raise ValueError(
            "this is not an address. Write it as http://HOST:PORT/PATH, "
            "and in a user or password %40 for @, %2F for /, %3A for :, %3F for ? and %23 for #"
        ) from None
    user, at, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{user}{at}{host.lower()}", path=parts.path.rstrip("/"))


def ollama_address(text: str) -> str:
    """Where ``OLLAMA_HOST`` says that Ollama answers. Raises ValueError, as ``address``.

    It may lack scheme, host and port (then it means what it means to Ollama's own client), and be the wildcard that the
    server listens on.
    """
    scheme, _, rest = text.strip().rpartition("://")
    host, slash, path = rest.partition("/")
    parts = address(f"{scheme or 'http'}://{LOOPBACK if host[:1] in ('', ':') else ''}{host}{slash}{path}")
    name = LOOPBACK if parts.hostname in ("0.0.0.0", "::") else str(parts.hostname)  # noqa: S104 (replaced)
    port = parts.port or {"http": 80, "https": 443}.get(scheme.lower(), 11434)
    return f"{url_of(name, port, parts.scheme)}{parts.path}"


def secrets_of(url: str) -> tuple[str, ...]:
    """What an address holds that only its owner may know: passwords, keys in its query, random parts of its path.

    A user without a password is taken for a key. A name of the host is never one, nor is a date or a version.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ()
    login = parts.netloc.rpartition("@")[0]
    user, _, password = login.partition(":")
    found = [login, password or user] if login else []
    found += [value for name, value in parse_qsl(parts.query) if _NAMES_SECRET.search(name) or _RANDOM.search(value)]
    found += [part for part in parts.path.split("/") if _RANDOM.search(part)]
    return tuple(dict.fromkeys(form for one in found for form in (one, unquote(one)) if form))


def _is_host(host: str) -> bool:
    """Whether a host can be asked at all; raises ValueError if its name cannot be put into the form that DNS has."""
    try:
        return bool(ipaddress.ip_address(host)) and "%" not in host  # no client takes an address with its interface
    except ValueError:
        host.encode("idna")
    if not re.fullmatch(r"[\w.-]*[a-z][\w.-]*", host, re.ASCII):
        import httpx  # noqa: PLC0415 (heavy; knows the rest of the rules, those of names that are not ASCII)

        try:
            return bool(httpx.URL(f"http://{host}").raw_host)
        except httpx.InvalidURL:
            return False
    return True


def url_of(host: str, port: int | None = None, scheme: str = "http") -> str:
    """The address of a host, also of one that is an IPv6 number."""
    return f"{scheme}://{f'[{host}]' if ':' in host else host}{'' if port is None else f':{port}'}"


def is_loopback(url: str) -> bool:
    """Whether an address with scheme stays on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")

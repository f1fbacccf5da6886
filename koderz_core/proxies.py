"""The proxies of the environment, or on macOS of the system: which one a request uses, and whether it can be used.

httpx raises ValueError or ImportError for a proxy that it cannot use. For certificates that it cannot read, httpx
raises an OSError that names no file. Therefore every connection asks here first, which also checks the certificates.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from urllib.parse import urlsplit

from koderz_core.addresses import is_loopback
from koderz_core.errors import ConfigError

SCHEMES = ("http", "https", "all")
_SOCKS = ("socks5", "socks5h")


def proxies() -> Mapping[str, str]:
    """The address of the proxy by scheme. Raises ConfigError, which does not show a proxy: it may have a password."""
    _check_certificates()
    return _proxies()


def proxy_of(url: str) -> str | None:
    """The proxy of a request; requests to this machine use none. Raises ConfigError."""
    from urllib.request import proxy_bypass  # noqa: PLC0415 (as below)

    _check_certificates()
    parts = urlsplit(url)
    if is_loopback(url) or proxy_bypass(parts.hostname or ""):
        return None
    found = _proxies()
    return found.get(parts.scheme) or found.get("all")


def _proxies() -> Mapping[str, str]:
    from urllib.request import getproxies  # noqa: PLC0415 (heavy, and on macOS it asks the system)

    named = getproxies()
    found = {scheme: named[scheme] for scheme in SCHEMES if named.get(scheme)}
    return {scheme: _checked(proxy, f"{scheme.upper()}_PROXY") for scheme, proxy in found.items()}


def _check_certificates() -> None:
    """Raise ConfigError if no certificates can be read from the file that ``SSL_CERT_FILE`` names."""
    path = os.environ.get("SSL_CERT_FILE")
    if not path:
        return
    import ssl  # noqa: PLC0415 (heavy, and few users set the variable)

    try:
        ssl.create_default_context(cafile=path)
    except OSError as error:  # ssl.SSLError is one
        raise ConfigError(
            f"SSL_CERT_FILE names {path}, but no certificates can be read from this file ({error.strerror or error}). "
            "Correct or unset this variable."
        ) from error


def _checked(proxy: str, variable: str) -> str:
    """The address with its scheme, which HTTP clients require."""
    whole = proxy if "://" in proxy else f"http://{proxy}"
    try:
        parts = urlsplit(whole)
        valid = bool(parts.hostname) and (parts.port or 1) > 0 and parts.scheme in ("http", "https", *_SOCKS)
    except ValueError:  # the port or the brackets
        valid = False
    if not valid:
        raise ConfigError(f"{variable} is not the address of a proxy. Correct or unset this variable.")
    if parts.scheme in _SOCKS and find_spec("socksio") is None:
        raise ConfigError(
            f"{variable} names a SOCKS proxy, which needs a package: pip install 'httpx[socks]'. You can also set "
            f"{variable} to the address of an HTTP proxy, or unset this variable."
        )
    return whole

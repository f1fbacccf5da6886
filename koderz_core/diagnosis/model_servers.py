"""Model servers on this machine: what answers at a port, by which protocol, and how to use it."""

from __future__ import annotations

import socket
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from koderz_core.addresses import LOOPBACK, is_loopback, url_of
from koderz_core.config import Settings
from koderz_core.diagnosis.findings import Finding
from koderz_core.egress import CONNECT, trace
from koderz_core.models.availability import Listing, listing, listings
from koderz_core.models.catalogue import identity
from koderz_core.models.provider import ModelList
from koderz_core.models.providers import PROVIDERS
from koderz_core.models.server_memory import ask

KNOWN_PORTS: Mapping[int, str] = {
    11434: "Ollama",
    1234: "LM Studio",
    8000: "vLLM",
    8080: "llama.cpp",
    30000: "SGLang",
}
"""The usual ports, according to the documentation of each server, November 2026."""
CURSOR_PORTS: Mapping[int, str] = {3000: "a proxy for Cursor"}
"""Cursor documents no API on this machine. The programs that offer its models through one mostly use this port."""
PROTOCOLS: Mapping[str, tuple[str, str]] = {
    "Ollama's": ("/api/version", "version"),
    "OpenAI's": ("/v1/models", "data"),
    "LM Studio's": ("/api/v1/models", "models"),
    "llama.cpp's": ("/props", "default_generation_settings"),
}
"""For each protocol, an address, and a field of the answer that only servers with this protocol send."""
KNOCK_SECONDS = 0.3
ANSWER_SECONDS = 1.0


def ports(settings: Settings) -> Iterator[Finding]:
    """The servers at the usual ports, and how to use them."""
    yield from _checked(KNOWN_PORTS, settings)


def addresses(settings: Settings) -> Iterator[Finding]:
    """Each address of the providers that have several."""
    for provider, known in PROVIDERS.items():
        places = known.places(settings)
        listed = listings(provider, places, ANSWER_SECONDS) if len(places) > 1 else {}
        for address, found in listed.items():
            subject, models = f"{address} ({provider})", f"chat models: {', '.join(found.names) or 'none'}"
            cure = f"{found.cure or known.advice.start}, or correct {known.advice.variable}" if found.fault else ""
            yield Finding("servers", subject, "absent" if found.fault else "ready", found.fault or models, cure)


def all_ports(settings: Settings, more: Iterable[int] = ()) -> tuple[Finding, ...]:
    """As ``ports``, with the ports of the addresses that are set, those of Cursor, and ``more``."""
    configured: dict[int, str] = {}
    for provider in PROVIDERS:
        for parts in map(urlsplit, filter(is_loopback, PROVIDERS[provider].urls(settings))):
            configured[parts.port or (443 if parts.scheme == "https" else 80)] = f"set for {provider}"
    chosen = dict.fromkeys(more, "chosen")
    return tuple(_checked({**chosen, **configured, **CURSOR_PORTS, **KNOWN_PORTS}, settings))


def _checked(named: Mapping[int, str], settings: Settings) -> Iterator[Finding]:
    with ThreadPoolExecutor(max(1, len(named))) as threads:
        yield from threads.map(lambda port: _port(port, named[port], settings), named)


def _port(port: int, name: str, settings: Settings) -> Finding:
    url, subject = url_of(LOOPBACK, port), f"port {port} ({name})"
    settings.check_egress(url, "a check for a model server at this port", "the list of usual model server ports")
    if not _listens(port):
        return Finding("servers", subject, "absent", "no server uses this port")
    listed = listing(ModelList(f"{url}/v1/models"), settings, ANSWER_SECONDS)
    spoken = [] if "not answer in time" in listed.fault else _spoken(url, settings)
    provider = _provider_at(identity(f"{url}/v1"), settings)
    if listed.fault and "status 401" not in listed.fault and not spoken:
        why = f"the program that uses this port is not a model server: {listed.fault}"
        return Finding("servers", subject, "absent", why)
    return Finding("servers", subject, "ready", _found(listed, spoken, provider), _cure(url, listed, spoken, provider))


def _spoken(url: str, settings: Settings) -> list[str]:
    with ThreadPoolExecutor(len(PROTOCOLS)) as threads:
        replies = threads.map(lambda at: ask(f"{url}{at[0]}", settings, seconds=ANSWER_SECONDS), PROTOCOLS.values())
        return [
            name
            for (name, (_, field)), reply in zip(PROTOCOLS.items(), replies, strict=True)
            if isinstance(reply, dict) and field in reply
        ]


def _found(listed: Listing, spoken: Collection[str], provider: str | None) -> str:
    protocols = f"speaks {' and '.join(spoken)} protocol; " if spoken else ""
    models = listed.fault if listed.fault else f"chat models: {len(listed.names)}"
    return f"{protocols}{models}" + (f", available as {provider}/NAME" if provider and not listed.fault else "")


def _cure(url: str, listed: Listing, spoken: Collection[str], provider: str | None) -> str:
    if provider and not listed.fault:
        return "" if listed.names else PROVIDERS[provider].advice.fetch.replace("MODEL", "NAME")
    if "Ollama's" in spoken:
        return f"To use this server: set OLLAMA_BASE_URL={url}, and write ollama/NAME for its model NAME"
    key = " and OPENAI_API_KEY=KEY (the key of the server)" if listed.fault else ""
    return f"To use this server: set OPENAI_BASE_URL={url}/v1{key}, and write openai/NAME for its model NAME"


def _listens(port: int) -> bool:
    trace(CONNECT, {"host": LOOPBACK, "port": port})
    try:
        with socket.create_connection((LOOPBACK, port), KNOCK_SECONDS):
            return True
    except OSError:
        return False


def _provider_at(address: str, settings: Settings) -> str | None:
    """The provider whose models koderz asks at an address, None if there is none."""
    for provider in PROVIDERS:
        own = PROVIDERS[provider].places(settings)
        if address.removesuffix("/v1") in (place.removesuffix("/v1") for place in own):
            return provider
    return None

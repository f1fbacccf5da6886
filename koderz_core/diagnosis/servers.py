"""Servers of models on this machine: what answers at the ports where they usually are."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from koderz_core.addresses import LOOPBACK, url_of
from koderz_core.config import Settings
from koderz_core.diagnosis.findings import Finding
from koderz_core.models.catalogue import address_of, identity
from koderz_core.models.listing import listing
from koderz_core.models.provider import ModelList
from koderz_core.models.providers import PROVIDERS

KNOWN_PORTS = {11434: "Ollama", 1234: "LM Studio", 8000: "vLLM", 8080: "llama.cpp", 30000: "SGLang"}
"""By the documentation of each, November 2026."""
KNOCK_SECONDS = 0.3
ANSWER_SECONDS = 1.0


def ports(settings: Settings) -> Iterator[Finding]:
    """What listens at each known port, and how koderz would ask it."""
    with ThreadPoolExecutor(len(KNOWN_PORTS)) as threads:
        yield from threads.map(lambda port: _port(port, settings), KNOWN_PORTS)


def _port(port: int, settings: Settings) -> Finding:
    url, usual = url_of(LOOPBACK, port), KNOWN_PORTS[port]
    subject = f"port {port} ({usual})"
    if not _listens(port):
        return Finding("servers", subject, "absent", "nothing listens")
    found = listing(ModelList(f"{url}/v1/models"), settings, ANSWER_SECONDS)
    if found.fault:
        return Finding("servers", subject, "absent", f"something listens, but it is no model server: {found.fault}")
    provider = _asked_at(identity(f"{url}/v1"), settings)
    said = f"{len(found.names)} models for chat" + (f", asked as {provider}/NAME" if provider else "")
    cure = "" if provider else f"To use it: set OPENAI_BASE_URL={url}/v1 and ask for openai/NAME"
    return Finding("servers", subject, "ready", said, cure)


def _listens(port: int) -> bool:
    try:
        with socket.create_connection((LOOPBACK, port), KNOCK_SECONDS):
            return True
    except OSError:
        return False


def _asked_at(address: str, settings: Settings) -> str | None:
    """The provider whose models koderz asks there, None if there is none."""
    for provider in PROVIDERS:
        own = address_of(provider, settings)
        if own is not None and identity(own).removesuffix("/v1") == address.removesuffix("/v1"):
            return provider
    return None

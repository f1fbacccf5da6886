"""Checks of the installation: versions, sandbox, datasets, disk, keys, notices, and model servers on this machine.

Servers are looked for at the ports where they usually are.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from koderz_core.addresses import LOOPBACK, url_of
from koderz_core.config import SETTINGS, Settings
from koderz_core.datasets import dataset_names, load
from koderz_core.diagnosis.findings import Finding, State
from koderz_core.errors import KoderzError
from koderz_core.models.catalogue import address_of, identity
from koderz_core.models.embedded import RUNTIME_CURE
from koderz_core.models.provider import ModelList
from koderz_core.models.providers import PROVIDERS
from koderz_core.models.served_models import listing
from koderz_core.records import Problem
from koderz_core.sandbox.local_judge import Sandbox
from koderz_core.sandbox.selftest import GROUPS, SelfTest

PACKAGES = ("anthropic", "duckdb", "genai-prices", "ollama", "openai", "streamlit")
EMBEDDED = "xllamacpp"
ENOUGH_BYTES = 1 << 30
"""Free space below which a benchmark may not come to its end."""
FIRST_DATASET = "humaneval"  # what every command takes where none is named
KNOWN_PORTS = {11434: "Ollama", 1234: "LM Studio", 8000: "vLLM", 8080: "llama.cpp", 30000: "SGLang"}
"""By the documentation of each, November 2026."""
KNOCK_SECONDS = 0.3
ANSWER_SECONDS = 1.0


def versions(koderz: str) -> Iterator[Finding]:
    """Of koderz (given), of Python and of the packages whose versions change results or prices."""
    yield Finding("versions", "koderz", "ready", koderz)
    yield Finding(
        "versions", "Python", "ready", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    )
    for package in (*PACKAGES, EMBEDDED):
        try:
            yield Finding("versions", package, "ready", version(package))
        except PackageNotFoundError:
            needed = package != EMBEDDED
            cure = "Install koderz anew" if needed else f"For embedded models: {RUNTIME_CURE}"
            yield Finding("versions", package, "missing" if needed else "absent", "not installed", cure)


def grader(settings: Settings, *, whole: bool = False) -> Iterator[Finding]:
    """The tiers that programs can be judged in, found by attacking each from inside, and the judge's self-test.

    One tier has to hold. ``whole``: the long self-test, on every solution of the first dataset too.
    """
    sandbox = Sandbox(settings.sandbox, settings.bwrap, settings.test_timeout)
    found = sandbox.examine(_problems(settings) if whole else ())
    for tier in found.tiers:
        used = "; programs are judged in this one" if tier.isolation == found.used else ""
        said = tier.reason or f"holds here{used}"
        yield Finding("grader", tier.isolation, "ready" if tier.holds else "absent", said)
    if found.self_test:
        yield from _self_test(found.self_test)
    else:
        lead, _, cure = found.trouble.partition(". ")
        yield Finding("grader", "tier in use", "missing", lead, cure or "Set KODERZ_SANDBOX to a tier that holds")


def _problems(settings: Settings) -> tuple[Problem, ...]:
    """None if its file is not there, of which ``datasets`` tells."""
    try:
        return load(FIRST_DATASET, settings).problems
    except KoderzError:
        return ()


def _self_test(tested: SelfTest) -> Iterator[Finding]:
    """One finding per group that passed, and one per check that failed, which may quote a program: hostile text."""
    yield Finding("grader", "tier in use", "ready", f"{tested.isolation}, self-test {tested.score}")
    for group in GROUPS:
        checks = [check for check in tested.checks if check.group == group]
        failed = [check for check in checks if not check.passed]
        if not failed:
            yield Finding("grader", group, "ready", f"{len(checks)}/{len(checks)} as they should")
        for check in failed:
            cure = "Nothing is judged while that is so: please report it with these lines"
            yield Finding("grader", f"{group}: {check.name}", "missing", check.seen, cure)


def datasets(settings: Settings) -> Iterator[Finding]:
    """Whether each dataset's file is here and whole."""
    for name in dataset_names(settings):
        try:
            count = len(load(name, settings).problems)
            yield Finding("datasets", name, "ready", f"{count} problems")
        except KoderzError as error:
            lead, _, cure = str(error).partition(". ")
            state: State = "missing" if name == FIRST_DATASET else "absent"
            yield Finding("datasets", name, state, lead, cure or f"koderz list-problems --dataset {name}")


def disk(settings: Settings) -> Iterator[Finding]:
    """Whether the data folder can be written, and how much room it has."""
    subject, there = str(settings.home), _nearest(settings.home)
    if not there.is_dir() or not os.access(there, os.W_OK):
        why = "cannot be written" if there.is_dir() else "is a file"
        cure = "Make it yours, or name another folder: KODERZ_HOME=FOLDER"
        yield Finding("disk", subject, "missing", f"{there} {why}", cure)
        return
    free = shutil.disk_usage(there).free
    said = f"{free / 1e9:.1f} GB free"
    enough = free >= ENOUGH_BYTES
    cure = "" if enough else "Free some space, or name a folder with more: KODERZ_HOME=FOLDER"
    yield Finding("disk", subject, "ready" if enough else "missing", said, cure)


def _nearest(path: Path) -> Path:
    """The folder, or the one above it in which it would be made."""
    return next(one for one in (path, *path.parents) if one.exists())


def keys(settings: Settings) -> Iterator[Finding]:
    """Which keys are set. They are never shown, nor is their length."""
    for name in SETTINGS:
        if name.endswith("_api_key"):
            held = getattr(settings, name) is not None
            cure = "" if held else f"To use it: set {name.upper()} in the environment or .env"
            yield Finding("keys", name.upper(), "ready" if held else "absent", "set" if held else "not set", cure)


def notices(settings: Settings) -> Iterator[Finding]:
    """Whether somebody is told when a benchmark ends. Addresses are secrets: they are never shown."""
    held = {"SLACK_WEBHOOK_URL": settings.slack_webhook_url, "KODERZ_NOTICES": settings.notices}
    there = [name for name, value in held.items() if value]
    cure = "" if there else "To be told when a benchmark ends: set SLACK_WEBHOOK_URL, see docs/notices.md"
    yield Finding(
        "notices", " and ".join(there or held), "ready" if there else "absent", "set" if there else "not set", cure
    )


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

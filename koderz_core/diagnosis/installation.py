"""Checks of the installation: versions, sandbox, datasets, disk, keys and notices."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from koderz_core.config import SETTINGS, Settings
from koderz_core.datasets import dataset_names, load
from koderz_core.diagnosis.findings import Finding, State
from koderz_core.errors import KoderzError
from koderz_core.models.embedded import RUNTIME_CURE
from koderz_core.records import Problem
from koderz_core.sandbox.local_judge import Sandbox
from koderz_core.sandbox.selftest import GROUPS, SelfTest

PACKAGES = ("anthropic", "duckdb", "genai-prices", "ollama", "openai", "streamlit")
EMBEDDED = "xllamacpp"
ENOUGH_BYTES = 1 << 30
"""The free space that a benchmark may need."""
FIRST_DATASET = "humaneval"  # the default of every command


def versions(koderz: str) -> Iterator[Finding]:
    """The versions of koderz, of Python, and of the packages that can change results or prices."""
    yield Finding("versions", "koderz", "ready", koderz)
    yield Finding(
        "versions", "Python", "ready", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    )
    for package in (*PACKAGES, EMBEDDED):
        try:
            yield Finding("versions", package, "ready", version(package))
        except PackageNotFoundError:
            needed = package != EMBEDDED
            cure = "Install koderz again" if needed else f"For embedded models: {RUNTIME_CURE}"
            yield Finding("versions", package, "missing" if needed else "absent", "not installed", cure)


def grader(settings: Settings, *, whole: bool = False) -> Iterator[Finding]:
    """The sandbox tiers, each tested by attacks from inside, and the self-test of the grader.

    One tier has to hold. ``whole``: run the long self-test, which includes every solution of the first dataset.
    """
    sandbox = Sandbox(settings.sandbox, settings.bwrap, settings.test_timeout)
    examination = sandbox.examine(_problems(settings) if whole else ())
    for tier in examination.tiers:
        used = "; koderz runs programs in this tier" if tier.isolation == examination.used else ""
        result = tier.reason or f"works on this machine{used}"
        yield Finding("grader", tier.isolation, "ready" if tier.holds else "absent", result)
    if examination.self_test:
        yield from _self_test(examination.self_test)
    else:
        lead, _, cure = examination.trouble.partition(". ")
        yield Finding(
            "grader", "tier in use", "missing", lead, cure or "Set KODERZ_SANDBOX to a tier that works on this machine"
        )


def _problems(settings: Settings) -> tuple[Problem, ...]:
    """The problems of the first dataset; none if its file is missing, which ``datasets`` reports."""
    try:
        return load(FIRST_DATASET, settings).problems
    except KoderzError:
        return ()


def _self_test(tested: SelfTest) -> Iterator[Finding]:
    """One finding per passed group, and one per failed check, which may quote a program: hostile text."""
    yield Finding("grader", "tier in use", "ready", f"{tested.isolation}, self-test {tested.score}")
    for group in GROUPS:
        checks = [check for check in tested.checks if check.group == group]
        failed = [check for check in checks if not check.passed]
        if not failed:
            yield Finding("grader", group, "ready", f"{len(checks)}/{len(checks)} passed")
        for check in failed:
            cure = (
                "koderz runs no programs until this failure is fixed. Report the failure, and include the complete "
                "output of `koderz doctor --grader`"
            )
            yield Finding("grader", f"{group}: {check.name}", "missing", check.seen, cure)


def datasets(settings: Settings) -> Iterator[Finding]:
    """Whether each dataset's file is present and complete."""
    for name in dataset_names(settings):
        try:
            count = len(load(name, settings).problems)
            yield Finding("datasets", name, "ready", f"{count} {'problem' if count == 1 else 'problems'}")
        except KoderzError as error:
            lead, _, cure = str(error).partition(". ")
            state: State = "missing" if name == FIRST_DATASET else "absent"
            yield Finding("datasets", name, state, lead, cure or f"koderz list-problems --dataset {name}")


def disk(settings: Settings) -> Iterator[Finding]:
    """Whether the data folder is writable, and its free space."""
    home = settings.home
    existing = next(folder for folder in (home, *home.parents) if folder.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        why = "is not writable" if existing.is_dir() else "is a file"
        cure = "Change its permissions, or choose another folder: KODERZ_HOME=FOLDER"
        yield Finding("disk", str(home), "missing", f"{existing} {why}", cure)
        return
    free = shutil.disk_usage(existing).free
    enough = free >= ENOUGH_BYTES
    cure = "" if enough else "Free some space, or choose a folder on another disk: KODERZ_HOME=FOLDER"
    yield Finding("disk", str(home), "ready" if enough else "missing", f"{free / 1e9:.1f} GB free", cure)


def keys(settings: Settings) -> Iterator[Finding]:
    """Which keys are set. Neither keys nor their lengths are shown."""
    for name in SETTINGS:
        if name.endswith("_api_key"):
            is_set = getattr(settings, name) is not None
            cure = "" if is_set else f"To use this provider: set {name.upper()} in the environment or .env"
            yield Finding("keys", name.upper(), "ready" if is_set else "absent", "set" if is_set else "not set", cure)


def notices(settings: Settings) -> Iterator[Finding]:
    """Whether koderz sends a notification when a benchmark ends. Addresses are secrets, so they are never shown."""
    addresses = {"SLACK_WEBHOOK_URL": settings.slack_webhook_url, "KODERZ_NOTICES": settings.notices}
    names = [name for name, value in addresses.items() if value]
    cure = "" if names else "To get a notification when a benchmark ends: set SLACK_WEBHOOK_URL, see docs/notices.md"
    subject = " and ".join(names or addresses)
    yield Finding("notices", subject, "ready" if names else "absent", "set" if names else "not set", cure)

"""The files for containers: what they open, what they contain, and the files that they name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

import koderz_core
from koderz_core.addresses import is_loopback

ROOT = Path(koderz_core.__file__).parents[1]
COMPOSE = ROOT / "deploy" / "compose.yaml"
ADDRESS = re.compile(r"(?:=|^)((?:\d+\.){3}\d+|\[?::\]?|localhost)(?::\d+)?$")


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())["services"]
    return found


def words(service: dict[str, Any]) -> list[str]:
    return [*service.get("command", ()), *service.get("environment", ())]


def test_every_service_listens_on_loopback_only() -> None:
    for name, service in services().items():
        addresses = [match[1] for word in words(service) if (match := ADDRESS.search(word))]
        assert service["network_mode"] == "host"
        assert all(is_loopback(f"http://{address}") for address in addresses), name
        assert addresses or service["image"] == "koderz", name  # koderz listens on loopback by default
        assert "--host" not in words(service)


def test_the_compose_file_and_the_image_contain_no_keys() -> None:
    given = [word for service in services().values() for word in service.get("environment", ())]
    assert {word for word in given if re.search("KEY|TOKEN", word)} == {
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "KODERZ_SERVE_TOKEN",
    }
    copied = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert all((ROOT / name).exists() for name in copied)
    assert not {name for name in copied if name.startswith((".env", "data")) or "secrets" in name}


def test_koderz_runs_as_an_ordinary_user_without_privileges() -> None:
    last = (ROOT / "deploy" / "Dockerfile").read_text().rpartition("\nFROM ")[2]
    assert "\nUSER koderz\n" in last
    ours = [service for service in services().values() if service["image"] == "koderz"]
    assert all(service["cap_drop"] == ["ALL"] and "privileged" not in service for service in ours)

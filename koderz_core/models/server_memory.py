"""Models in the memory of Ollama and LM Studio: which are loaded, what they need, and how koderz unloads its own.

A server that does not answer these questions keeps its models: koderz then assumes that another program loaded them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from koderz_core.config import Settings
from koderz_core.errors import KoderzError
from koderz_core.models.connection import connection
from koderz_core.models.gguf import need_of

ANSWER_SECONDS = 3.0
BEYOND_WEIGHTS = 1.2
"""Times the size of the weights, if a server does not report the shape of a model."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model in the memory of a server: its name, its memory in bytes (None: unknown) and the part of it in GPUs."""

    name: str
    size_bytes: int | None
    gpu_bytes: int | None = None


class OllamaMemory:
    """The memory of one model of an Ollama server."""

    def __init__(self, name: str, settings: Settings, headers: Mapping[str, str]) -> None:
        self._name, self._settings, self._headers = _tagged(name), settings, headers

    def needed_bytes(self) -> int | None:
        """As ``Loadable``, by the metadata that the server reports."""
        size = next((_number(row, "size") for row in self._rows("tags") if self._is_it(row)), None)
        if size is None:
            return None
        about = self._ask("show", {"model": self._name})
        need = need_of(_member(about, "model_info"), size)
        return need.total_bytes(self._settings.num_ctx) if need else int(size * BEYOND_WEIGHTS)

    def is_loaded(self) -> bool:
        """As ``Loadable``."""
        reply = self._ask("ps")
        return not isinstance(reply, dict) or any(self._is_it(row) for row in _rows(reply, "models"))

    def unload(self) -> None:
        """As ``Loadable``."""
        self._ask("generate", {"model": self._name, "keep_alive": 0})

    def _is_it(self, row: Mapping[str, Any]) -> bool:  # Any: JSON
        return _tagged(str(row.get("name") or row.get("model") or "")) == self._name

    def _rows(self, what: str) -> Iterator[dict[str, Any]]:  # Any: JSON
        return _rows(self._ask(what), "models")

    def _ask(self, what: str, body: Mapping[str, object] | None = None) -> object:
        return ask(f"{self._settings.ollama_base_url}/api/{what}", self._settings, self._headers, body)


class LMStudioMemory:
    """The memory of one model of LM Studio, by its REST API of version 1 (LM Studio 0.4)."""

    def __init__(self, name: str, settings: Settings) -> None:
        self._name, self._settings = name, settings

    def needed_bytes(self) -> int | None:
        """As ``Loadable``: LM Studio reports only the size of the weights."""
        size = next((_number(row, "size_bytes") for row in self._models() if row.get("key") == self._name), None)
        return None if size is None else int(size * BEYOND_WEIGHTS)

    def is_loaded(self) -> bool:
        """As ``Loadable``."""
        models = list(self._models())
        return not models or any(self._name in (row.get("key"), name) for row in models for name in _instances(row))

    def unload(self) -> None:
        """As ``Loadable``: only the instance that a call loads, which has the name of the model."""
        self._ask("models/unload", {"instance_id": self._name})

    def _models(self) -> Iterator[dict[str, Any]]:  # Any: JSON
        return _rows(self._ask("models"), "models")

    def _ask(self, what: str, body: Mapping[str, object] | None = None) -> object:
        root = self._settings.lmstudio_base_url.rstrip("/").removesuffix("/v1")
        return ask(f"{root}/api/v1/{what}", self._settings, {}, body)


def in_ollama(settings: Settings) -> tuple[ServedModel, ...]:
    """The models in the memory of Ollama; none if it does not answer."""
    rows = _rows(ask(f"{settings.ollama_base_url}/api/ps", settings), "models")
    return tuple(ServedModel(str(row.get("name")), _number(row, "size"), _number(row, "size_vram")) for row in rows)


def in_lmstudio(settings: Settings) -> tuple[ServedModel, ...]:
    """The models in the memory of LM Studio; none if it does not answer."""
    root = settings.lmstudio_base_url.rstrip("/").removesuffix("/v1")
    rows = _rows(ask(f"{root}/api/v1/models", settings), "models")
    return tuple(ServedModel(name, _number(row, "size_bytes")) for row in rows for name in _instances(row))


def ask(
    url: str,
    settings: Settings,
    headers: Mapping[str, str] | None = None,
    body: Mapping[str, object] | None = None,
    seconds: float = ANSWER_SECONDS,
) -> object:
    """The JSON that a server answers at once, None if it does not. With a ``body``, it is sent. Raises nothing."""
    import httpx  # noqa: PLC0415 (heavy)

    try:
        settings.check_egress(url, "the state of the server's models")
        options = connection(httpx, url, seconds, seconds, seconds)
        with httpx.Client(headers=dict(headers or {}), **options) as client:
            reply = client.get(url) if body is None else client.post(url, json=body)
        return msgspec.json.decode(reply.content) if reply.is_success else None
    except (KoderzError, httpx.HTTPError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _tagged(name: str) -> str:
    return name if ":" in name else f"{name}:latest"


def _rows(reply: object, name: str) -> Iterator[dict[str, Any]]:  # Any: JSON
    rows = reply.get(name) if isinstance(reply, dict) else None
    return (row for row in rows if isinstance(row, dict)) if isinstance(rows, list) else iter(())


def _instances(row: Mapping[str, Any]) -> Iterable[str]:  # Any: JSON
    return [str(instance.get("id")) for instance in _rows(row, "loaded_instances")]


def _member(reply: object, name: str) -> Mapping[str, object]:
    value = reply.get(name) if isinstance(reply, dict) else None
    return value if isinstance(value, dict) else {}


def _number(row: Mapping[str, Any], name: str) -> int | None:  # Any: JSON
    value = row.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

"""Asks a server which models it has for chat."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from koderz_core.config import Settings, is_loopback
from koderz_core.errors import ModelError, OfflineError
from koderz_core.models.addresses import redact
from koderz_core.models.faults import obstacle
from koderz_core.models.provider import ModelList

NOT_FOR_CHAT = ("embed", "bge-", "minilm", "rerank", "whisper")


@dataclass(frozen=True, slots=True)
class Listing:
    """The chat models that a server lists; ``fault``: why it could not be asked; ``absent``: nobody is there."""

    names: tuple[str, ...] = ()
    fault: str = ""
    absent: bool = False


def listing(at: ModelList, settings: Settings, seconds: float) -> Listing:
    """What a server lists within ``seconds``. Raises nothing: that it is not there is an answer."""
    try:
        shown = redact(at.url)
        settings.check_egress(at.url, "its list of models")
        reply = msgspec.json.decode(_get(at, seconds), type=_Reply)
    except (ModelError, OfflineError) as error:
        return Listing(fault=str(error), absent=isinstance(error, _AbsentError | OfflineError))
    except msgspec.MsgspecError:
        return Listing(fault=f"{shown} answers with something else than a list of models")
    names = (model.name or model.id for model in (*reply.models, *reply.data) if model.for_chat)
    return Listing(tuple(dict.fromkeys(names)))  # some servers list every model in both forms


@dataclass(frozen=True, slots=True)
class _Served:
    """A model in a server's list: ``name`` in Ollama's form, ``id`` in OpenAI's and Anthropic's."""

    name: str = ""
    id: str = ""
    remote_host: str = ""  # Ollama: the model runs in its cloud, so it is neither local nor free

    @property
    def for_chat(self) -> bool:
        name = (self.name or self.id).lower()
        return bool(name) and not self.remote_host and not any(word in name for word in NOT_FOR_CHAT)


@dataclass(frozen=True, slots=True)
class _Reply:
    models: tuple[_Served, ...] = ()  # Ollama's form
    data: tuple[_Served, ...] = ()  # OpenAI's form, and Anthropic's


class _AbsentError(ModelError):
    """Nobody listens at an address."""


def _get(at: ModelList, seconds: float) -> bytes:
    import httpx  # noqa: PLC0415 (heavy)

    try:
        reply = httpx.get(at.url, headers=dict(at.headers), timeout=seconds, trust_env=not is_loopback(at.url))
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
        found, shown = obstacle(error), redact(at.url)
        fault = f"{shown} cannot be reached: {found.fault}. {found.cure}" if found else f"nothing answers at {shown}"
        raise _AbsentError(fault) from None  # its text may hold a password
    except (httpx.HTTPError, httpx.InvalidURL):
        raise ModelError(f"nothing answers in time at {redact(at.url)}") from None  # as above
    if not reply.is_success:
        raise ModelError(f"{redact(at.url)} answers {reply.status_code}")
    return reply.content

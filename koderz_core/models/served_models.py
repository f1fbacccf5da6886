"""Asks a server which models it has for chat."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from koderz_core.config import Settings
from koderz_core.errors import ModelError, OfflineError
from koderz_core.models.connection import connection, redact
from koderz_core.models.faults import obstacle
from koderz_core.models.provider import ModelList

NOT_FOR_CHAT = ("embed", "bge-", "minilm", "rerank", "whisper")


@dataclass(frozen=True, slots=True)
class Listing:
    """The chat models that a server lists; ``fault``: why it could not be asked; ``absent``: nobody is there.

    ``cure``: what to do about the fault, "" if it is but to start the server. Both lack their full stop.
    """

    names: tuple[str, ...] = ()
    fault: str = ""
    cure: str = ""
    absent: bool = False


def listing(at: ModelList, settings: Settings, seconds: float) -> Listing:
    """What a server lists within ``seconds``. Raises nothing: that it is not there is an answer."""
    shown = redact(at.url)
    try:
        settings.check_egress(at.url, "its list of models")
        reply = msgspec.json.decode(_get(at, shown, seconds), type=_Reply)
    except OfflineError:
        return Listing(fault="KODERZ_OFFLINE is set", cure="Unset KODERZ_OFFLINE", absent=True)
    except ModelError as error:
        cure = error.cure if isinstance(error, _AbsentError) else ""
        return Listing(fault=str(error).rstrip("."), cure=cure, absent=isinstance(error, _AbsentError))
    except msgspec.MsgspecError:
        return Listing(fault=f"{shown} answers with something else than a list of models")
    served = (model.name or model.id for model in (*reply.models, *reply.data) if model.for_chat)
    names, redaction = tuple(dict.fromkeys(served)), settings.redaction()  # some servers list every model in both forms
    sound = tuple(name for name in names if redaction.text(name) == name)
    if names and not sound:
        return Listing(fault=f"{shown} lists only models whose names hold a key", cure="Ask whoever runs it")
    return Listing(sound)


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
    """Nobody listens at an address, or something stands before it, which ``cure`` ("" if unknown) may overcome."""

    def __init__(self, fault: str, cure: str) -> None:
        super().__init__(fault)
        self.cure = cure


def _get(at: ModelList, shown: str, seconds: float) -> bytes:
    import httpx  # noqa: PLC0415 (heavy)

    try:
        with httpx.Client(**connection(httpx, at.url, seconds, seconds, seconds)) as client:
            reply = client.get(at.url, headers=dict(at.headers))
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
        found = obstacle(error)
        fault = f"{shown} cannot be reached: {found.fault}" if found else f"nothing answers at {shown}"
        raise _AbsentError(fault, found.cure if found else "") from None  # its text may hold a password
    except httpx.HTTPError:
        raise ModelError(f"nothing answers in time at {shown}") from None  # as above
    if not reply.is_success:
        raise ModelError(f"{shown} answers {reply.status_code}")
    return reply.content

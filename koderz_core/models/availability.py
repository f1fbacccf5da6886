"""Which models can be asked right now, and what to do about those that cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec

import msgspec

from koderz_core.config import Settings, is_loopback
from koderz_core.errors import ModelError, OfflineError
from koderz_core.models.catalogue import CLOSED, OFFERED, PROVIDERS, address_of, is_openai, redact, resolve
from koderz_core.models.weights import find
from koderz_core.records import Tier

ANSWER_SECONDS = 0.5
"""How long a server may take to list its models before it counts as absent."""

RUNTIME_CURE = "pip install 'koderz[embedded]' (needs a C++ compiler)"
PATIENT_SECONDS = 10.0
"""The same before a benchmark: a busy machine may take its time."""
SERVERS = ("ollama", "lmstudio", "vllm")
NOT_FOR_CHAT = ("embed", "bge-", "minilm", "rerank", "whisper")
FOR_CODING = ("coder", "code", "codestral", "devstral")


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a model can be asked now. ``id`` ends in ``/*`` where a whole provider is meant.

    ``reason`` says why or why not; ``cure`` what a person does about it, empty if it is ready.
    """

    id: str
    tier: Tier
    ready: bool
    reason: str
    cure: str


def survey(settings: Settings) -> list[Availability]:
    """Every model that koderz can tell of, ready or not. Asks the local servers; raises nothing."""
    return [row for rows in _ROWS.values() for row in rows(settings)]


def lacking(models: Iterable[str], surveyed: Iterable[Availability]) -> list[Availability]:
    """Those of ``models`` (ids) that cannot be asked now, with reason and cure, going by what ``survey`` found.

    A name that a paid provider was not offered under may still be one of its models, so it lacks what they all lack.
    """
    rows = {row.id.removesuffix(":latest"): row for row in surveyed}
    found = (rows.get(model.removesuffix(":latest")) or _unlisted(model, rows.values()) for model in models)
    return [row for row in found if not row.ready]


def require(name: str, settings: Settings) -> None:
    """Raise ModelError if the model of this id cannot answer now, so that nothing is begun in vain.

    A server that is there may still not know the model: it says so when it is asked.
    """
    provider = name.partition("/")[0]
    if provider in SERVERS or (provider == "openai" and not is_openai(settings.openai_base_url)):
        listing = _listing(provider, settings, PATIENT_SECONDS)
        if listing.absent:
            cure = "" if settings.offline else f" {PROVIDERS[provider].start}."
            raise ModelError(f"{name} cannot be asked: {listing.fault.rstrip('.')}.{cure}")
        return
    # What OpenAI lacks it lacks for every name, those that koderz does not offer too.
    faults = [row for row in _ROWS[provider](settings) if not row.ready and (row.id == name or provider == "openai")]
    if faults:
        raise ModelError(f"{name} cannot be asked: {faults[0].reason}. {faults[0].cure}.")


def require_runtime() -> None:
    """Raise ModelError if embedded models cannot run because llama.cpp is not installed."""
    if find_spec("llama_cpp") is None:
        raise ModelError(f"Embedded models need llama.cpp, which is not installed. {RUNTIME_CURE}.")


def first_ready_local(settings: Settings) -> str | None:
    """The id of a model that Ollama or LM Studio serves now, made for coding if there is one; None if none answers."""
    rows = [row for provider in ("ollama", "lmstudio") for row in _served(provider, settings) if row.ready]
    rows.sort(key=lambda row: not any(word in row.id.lower() for word in FOR_CODING))
    return rows[0].id if rows else None


def _unlisted(model: str, surveyed: Iterable[Availability]) -> Availability:
    provider = model.partition("/")[0]
    alike = [row for row in surveyed if row.id.startswith(f"{provider}/")]
    absent = [row for row in alike if not row.ready]
    if absent or provider not in SERVERS:
        return replace(next(iter(absent or alike)), id=model)
    return Availability(model, "local", False, f"{provider} does not list it", PROVIDERS[provider].fetch)


def _embedded(settings: Settings) -> Iterator[Availability]:
    runtime = find_spec("llama_cpp") is not None
    for name in CLOSED["embedded"]:
        id_ = f"embedded/{name}"
        if not runtime:
            yield Availability(id_, "local", False, "llama-cpp-python is not installed", RUNTIME_CURE)
        elif find(name, settings) is None:
            yield Availability(id_, "local", False, "its weights are not here", f"koderz models pull {name}")
        else:
            yield Availability(id_, "local", True, "its weights are here", "")


def _served(provider: str, settings: Settings) -> Iterator[Availability]:
    """One row per model that a server lists, or one row that says why there is none."""
    listing = _listing(provider, settings)
    card = resolve(f"{provider}/*", settings)
    for name in listing.names:
        yield Availability(f"{provider}/{name}", resolve(f"{provider}/{name}", settings).tier, True, "served now", "")
    if not listing.names:
        reason = listing.fault or "its server lists no model for chat"
        origin = PROVIDERS[provider]
        yield Availability(card.id, card.tier, False, reason, origin.start if listing.fault else origin.fetch)


def _openai(settings: Settings) -> Iterator[Availability]:
    if not is_openai(settings.openai_base_url):
        yield from _served("openai", settings)
        return
    ready, reason, cure = settings.openai_api_key is not None, "OPENAI_API_KEY is set", ""
    if not ready:
        reason, cure = "OPENAI_API_KEY is not set", "Set OPENAI_API_KEY in the environment or .env"
    try:
        settings.check_egress(settings.openai_base_url, "an answer")
    except OfflineError:
        ready, reason, cure = False, "KODERZ_OFFLINE is set", "Unset KODERZ_OFFLINE"
    for name in OFFERED["openai"]:
        card = resolve(f"openai/{name}", settings)
        yield Availability(card.id, card.tier, ready, reason, cure)


def _anthropic(settings: Settings) -> Iterator[Availability]:
    key = "is set" if settings.anthropic_api_key else "is not set"
    reason = f"this version has no Anthropic client yet (ANTHROPIC_API_KEY {key})"
    for name in OFFERED["anthropic"]:
        card = resolve(f"anthropic/{name}", settings)
        yield Availability(card.id, card.tier, False, reason, "Use another provider's model")


def _scripted(_: Settings) -> Iterator[Availability]:
    for name in CLOSED["scripted"]:
        yield Availability(f"scripted/{name}", "local", True, "SCRIPTED: mock mode", "")


@dataclass(frozen=True, slots=True)
class _Listing:
    """The chat models that a server lists; ``fault``: why it could not be asked; ``absent``: nobody is there."""

    names: tuple[str, ...] = ()
    fault: str = ""
    absent: bool = False


@dataclass(frozen=True, slots=True)
class _Served:
    """A model in a server's list: ``name`` in Ollama's form, ``id`` in OpenAI's."""

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
    data: tuple[_Served, ...] = ()  # OpenAI's form


class _AbsentError(ModelError):
    """Nobody listens at an address."""


def _listing(provider: str, settings: Settings, seconds: float = ANSWER_SECONDS) -> _Listing:
    ollama = provider == "ollama"
    url = f"{settings.ollama_base_url}/api/tags" if ollama else f"{address_of(provider, settings)}/models"
    try:
        shown = redact(url)
        settings.check_egress(url, "its list of models")
        body = _get(url, settings if provider == "openai" else None, seconds)
        reply = msgspec.json.decode(body, type=_Reply)
    except (ModelError, OfflineError) as error:
        return _Listing(fault=str(error), absent=isinstance(error, _AbsentError | OfflineError))
    except msgspec.MsgspecError:
        return _Listing(fault=f"{shown} answers with something else than a list of models")
    return _Listing(tuple(model.name or model.id for model in (*reply.models, *reply.data) if model.for_chat))


def _get(url: str, keyed: Settings | None, seconds: float) -> bytes:
    import httpx  # noqa: PLC0415 (heavy)

    key = keyed.openai_api_key if keyed else None
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    try:
        reply = httpx.get(url, headers=headers, timeout=seconds, trust_env=not is_loopback(url))
    except (httpx.ConnectError, httpx.ConnectTimeout):
        raise _AbsentError(f"nothing answers at {redact(url)}") from None  # its text may hold a password
    except (httpx.HTTPError, httpx.InvalidURL):
        raise ModelError(f"nothing answers in time at {redact(url)}") from None  # as above
    if not reply.is_success:
        raise ModelError(f"{redact(url)} answers {reply.status_code}")
    return reply.content


_ROWS: Mapping[str, Callable[[Settings], Iterable[Availability]]] = {
    "embedded": _embedded,
    "ollama": lambda settings: _served("ollama", settings),
    "lmstudio": lambda settings: _served("lmstudio", settings),
    "vllm": lambda settings: _served("vllm", settings),
    "openai": _openai,
    "anthropic": _anthropic,
    "scripted": _scripted,
}

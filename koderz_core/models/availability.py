"""Which models can answer now, what the others lack, and the limits and prices of a model before its first call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import msgspec

from koderz_core.config import Settings
from koderz_core.errors import ConfigError, ModelError, OfflineError
from koderz_core.models.capabilities import Capabilities
from koderz_core.models.catalogue import allowed, resolve
from koderz_core.models.connection import connection, redact
from koderz_core.models.embedded import missing_runtime
from koderz_core.models.pricing import price
from koderz_core.models.provider import Advice, Availability, Lack, ModelList
from koderz_core.models.providers import PROVIDERS, capabilities_of
from koderz_core.models.server import obstacle
from koderz_core.records import Cost, Tier, Usage

__all__ = ["FOR_CODING", "Availability", "first_ready_local", "lacking", "require", "require_runtime", "survey"]

ANSWER_SECONDS = 0.5
"""A server that takes longer to list its models counts as absent."""
PATIENT_SECONDS = 10.0
"""The same before a benchmark, because a busy machine may be slow."""
FOR_CODING = ("coder", "code", "codestral", "devstral")
NOT_FOR_CHAT = ("embed", "bge-", "minilm", "rerank", "whisper")
SAMPLE = Usage(1_000, 1_000)
SAMPLE_SECONDS = 60.0


def survey(settings: Settings) -> list[Availability]:
    """Every model that koderz knows of, ready or not. Asks the local servers; raises nothing."""
    return [row for provider in PROVIDERS for row in _rows(provider, settings)]


def lacking(models: Iterable[str], surveyed: Iterable[Availability]) -> list[Availability]:
    """The ``models`` (ids) that cannot answer now, with reason and cure, according to ``survey``.

    A paid provider may have models that koderz does not list. They lack what all its models lack. Its models can be
    called even if its list could not be read.
    """
    rows = {row.id.removesuffix(":latest"): row for row in surveyed}
    wanted = (rows.get(model.removesuffix(":latest")) or _unlisted(model, rows.values()) for model in models)
    return [row for row in wanted if not row.ready]


def require(name: str, settings: Settings) -> None:
    """Raise ModelError or OfflineError if the model of this id cannot answer now, before any work starts.

    A server that answers may still lack the model, which only a call shows.
    """
    provider, _, rest = name.partition("/")
    known = PROVIDERS[provider]
    if away := known.away(rest):
        settings.check_egress(away, f"a call to {name}")
    places = known.places(settings)
    if len(places) > 1 and not away:
        _require_replicas(name, places)
    elif at := known.lists(_of_one(places, settings)):
        listed = listing(at, settings, PATIENT_SECONDS)
        if listed.absent:
            raise ModelError(f"{name} cannot be called: {listed.fault}. {_cure(listed, known.advice)}.")
    elif lack := known.lack(rest, settings):
        raise ModelError(f"{name} cannot be called: {lack.reason}. {lack.cure}.")


def require_runtime(settings: Settings) -> None:
    """Raise ModelError if embedded models cannot run because llama.cpp is missing."""
    if lack := missing_runtime(settings):
        raise ModelError(f"Embedded models cannot run: {lack.reason}. {lack.cure}.")


def first_ready_local(settings: Settings) -> str | None:
    """The id of an allowed model that Ollama or LM Studio serves now, preferably one for coding; None without one."""
    listed = allowed(settings)
    rows = [row for provider in ("ollama", "lmstudio") for row in _rows(provider, settings) if row.ready]
    rows = [row for row in rows if not listed or row.id in listed]
    rows.sort(key=lambda row: not any(word in row.id.lower() for word in FOR_CODING))
    return rows[0].id if rows else None


def _unlisted(model: str, surveyed: Iterable[Availability]) -> Availability:
    provider, _, rest = model.partition("/")
    known = PROVIDERS[provider]
    alike = [row for row in surveyed if row.id.startswith(f"{provider}/")]
    absent = [row for row in alike if not (row.ready or (row.unread and known.home))]
    if absent or known.home or known.away(rest):
        return replace(next(iter(absent or alike)), id=model, ready=not absent)
    return Availability(model, "local", False, f"{provider} does not list this model", known.advice.fetch)


def _rows(provider: str, settings: Settings) -> Iterator[Availability]:
    known = PROVIDERS[provider]
    if len(places := known.places(settings)) > 1:
        yield from _replicated(provider, places, settings)
        return
    if at := known.lists(_of_one(places, settings)):
        yield from _served(provider, listing(at, settings, ANSWER_SECONDS), settings)
        return
    yield from _offered(provider, settings)


def _of_one(places: Mapping[str, Settings], settings: Settings) -> Settings:
    """The settings for the only address, which the user may have written in two spellings."""
    return next(iter(places.values()), settings)


def _replicated(provider: str, places: Mapping[str, Settings], settings: Settings) -> Iterator[Availability]:
    """One row per model, which all addresses that answer must serve, and the rows of addresses that list none."""
    asked, found = listings(provider, places, ANSWER_SECONDS), dict[str, dict[str, Availability]]()
    for address, at in places.items():
        listed = asked.get(address)
        for row in _served(provider, listed, settings) if listed else _offered(provider, at):
            found.setdefault(row.id if row.ready else f"{row.id} at {address}", {})[address] = row
    for rows in found.values():
        row, where = next(iter(rows.values())), " and ".join(rows)
        row = replace(row, tier=resolve(row.id, settings).tier)
        if without := [
            address for address, listed in asked.items() if row.ready and listed.names and address not in rows
        ]:
            cure = f"Serve the model at {' and '.join(without)} too, or correct {PROVIDERS[provider].advice.variable}"
            row = replace(row, ready=False, reason=f"served only at {where}", cure=cure)
        elif row.ready and len(rows) < len(places):
            row = replace(row, reason=f"{row.reason} at {where}")
        yield row


def _offered(provider: str, settings: Settings) -> Iterator[Availability]:
    """One row per model that koderz offers for a provider that is not asked for its list."""
    known = PROVIDERS[provider]
    for name in known.names:
        lack, card = known.lack(name, settings), resolve(f"{provider}/{name}", settings)
        reason, cure = (lack.reason, lack.cure) if lack else (known.ready, "")
        yield Availability(card.id, card.tier, lack is None, reason, cure)


def _served(provider: str, listed: Listing, settings: Settings) -> Iterator[Availability]:
    """One row per model that a server lists, or one row with the reason why it lists none."""
    advice = PROVIDERS[provider].advice
    for name in listed.names:
        card = resolve(f"{provider}/{name}", settings)
        yield Availability(card.id, card.tier, True, "served now", "")
    if not listed.names:
        card = resolve(f"{provider}/*", settings)
        reason = listed.fault or "the server lists no chat model"
        cure, unread = (_cure(listed, advice), not listed.absent) if listed.fault else (advice.fetch, False)
        yield Availability(card.id, card.tier, False, reason, cure, unread)


def _cure(listed: Listing, advice: Advice) -> str:
    """What to do about a server that did not answer."""
    return f"{listed.cure or advice.start}, or correct {advice.variable}"


def _require_replicas(name: str, places: Mapping[str, Settings]) -> None:
    """As ``require``, for a model with several addresses: an absent one is left out, but all others must be alike."""
    provider, _, rest = name.partition("/")
    known = PROVIDERS[provider]
    asked = listings(provider, places, PATIENT_SECONDS)
    for address, settings in places.items():
        lack = None if address in asked else known.lack(rest, settings)
        if not settings.allows_egress(address):
            lack = Lack("KODERZ_OFFLINE is set", f"Unset KODERZ_OFFLINE, or correct {known.advice.variable}")
        if lack:
            raise ModelError(f"{name} cannot be called at {address}: {lack.reason}. {lack.cure}.")
    absent = [listed for listed in asked.values() if listed.absent]
    if len(absent) == len(places):
        raise ModelError(f"{name} cannot be called: {absent[0].fault}. {_cure(absent[0], known.advice)}.")
    there = {address: listed for address, listed in asked.items() if not (listed.absent or listed.fault)}
    facts = {address: _facts(rest, listed) for address, listed in there.items()}
    for address, fact in facts.items():
        if fact != next(iter(facts.values())):
            first = next(iter(facts))
            raise ModelError(
                f"The servers of {name} differ: the model is {facts[first]} at {first}, but {fact} at {address}. "
                f"Serve the model in the same way at both addresses, or correct {known.advice.variable}."
            )
    known.version_at(rest, {address: settings for address, settings in places.items() if address in there})


def _facts(name: str, listed: Listing) -> str:
    """What a server says about a model in its list."""
    if name.removesuffix(":latest") not in (other.removesuffix(":latest") for other in listed.names):
        return "not listed"
    context = listed.contexts.get(name)
    return "listed" if context is None else f"listed with a context length of {context} tokens"


def listings(provider: str, places: Mapping[str, Settings], seconds: float) -> Mapping[str, Listing]:
    """The models that each of these addresses lists, if it can list them. They are asked at the same time."""
    lists = {address: (PROVIDERS[provider].lists(settings), settings) for address, settings in places.items()}
    with ThreadPoolExecutor(len(lists)) as threads:
        asked = {
            address: threads.submit(listing, at, settings, seconds)
            for address, (at, settings) in lists.items()
            if at is not None
        }
        return {address: future.result() for address, future in asked.items()}


@dataclass(frozen=True, slots=True)
class AboutModel:
    """What koderz knows of a model. ``sample_cost``: of a call of a minute with 1,000 input and 1,000 output tokens."""

    id: str
    tier: Tier
    capabilities: Capabilities
    sample_cost: Cost


def about(name: str, settings: Settings) -> AboutModel:
    """What koderz knows of the model that ``name`` means. Raises UnknownNameError, ConfigError."""
    card = resolve(name, settings)
    cost = price(card, SAMPLE, SAMPLE_SECONDS, settings)
    return AboutModel(card.id, card.tier, capabilities_of(card.id, settings), cost)


@dataclass(frozen=True, slots=True)
class Listing:
    """The chat models that a server lists. ``fault``: why there is no list; ``absent``: no server answers.

    ``contexts``: the tokens of their contexts, as far as the server lists them. ``cure``: what to do about the fault,
    "" if the server only has to be started. Neither text ends with a full stop.
    """

    names: tuple[str, ...] = ()
    fault: str = ""
    cure: str = ""
    absent: bool = False
    contexts: Mapping[str, int] = field(default_factory=dict)


def listing(at: ModelList, settings: Settings, seconds: float) -> Listing:
    """The models that a server lists within ``seconds``. Raises nothing: an absent server is a result."""
    shown = redact(at.url)
    try:
        settings.check_egress(at.url, "the list of models that the server offers")
        content = _get(at, shown, seconds)
        if isinstance(content, Listing):
            return content
        reply = msgspec.json.decode(content, type=_Reply | tuple[_Served, ...])
    except OfflineError:
        return Listing(fault="KODERZ_OFFLINE is set", cure="Unset KODERZ_OFFLINE", absent=True)
    except ConfigError as error:  # of a proxy
        return Listing(fault=str(error).rstrip("."))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return Listing(fault=f"{shown} does not answer with a list of models")
    models = (*reply.models, *reply.data) if isinstance(reply, _Reply) else reply
    served = {model.called: model for model in models if model.for_chat}
    names, redaction = tuple(served), settings.redaction()  # some servers list every model twice
    sound = tuple(name for name in names if redaction.text(name) == name)
    if names and not sound:
        return Listing(
            fault=f"{shown} lists only models whose names contain an API key",
            cure="Ask the operator of the server to rename the models",
        )
    contexts = {name: served[name].max_model_len for name in sound}
    return Listing(sound, contexts={name: length for name, length in contexts.items() if isinstance(length, int)})


@dataclass(frozen=True, slots=True)
class _Served:
    """A model in a server's list. Requests contain ``name`` in Ollama's form, else ``id``; ``name`` is then a title."""

    name: str | None = None
    id: str | None = None
    remote_host: str | None = None  # Ollama: the model runs in its cloud, so it is neither local nor free
    max_model_len: object = None  # vLLM: the tokens of its context

    @property
    def called(self) -> str:
        """The name of the model in requests; "" if the list does not contain it."""
        return self.id or self.name or ""

    @property
    def for_chat(self) -> bool:
        name = self.called.lower()
        return bool(name) and not self.remote_host and not any(word in name for word in NOT_FOR_CHAT)


@dataclass(frozen=True, slots=True)
class _Reply:
    models: tuple[_Served, ...] = ()  # Ollama's form
    data: tuple[_Served, ...] = ()  # OpenAI's and Anthropic's form; some servers send the list without ``data``


def _get(at: ModelList, shown: str, seconds: float) -> bytes | Listing:
    """The answer of a server, or why there is none; never the cause of a failure, which may contain a password."""
    import httpx  # noqa: PLC0415 (heavy)

    try:
        with httpx.Client(**connection(httpx, at.url, seconds, seconds, seconds)) as client:
            reply = client.get(at.url, headers=dict(at.headers))
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
        blocked = obstacle(error)
        fault = f"{shown} cannot be reached: {blocked.reason}" if blocked else f"nothing answers at {shown}"
        return Listing(fault=fault, cure=blocked.cure if blocked else "", absent=True)
    except httpx.HTTPError:
        return Listing(fault=f"{shown} did not answer in time")
    return reply.content if reply.is_success else Listing(fault=f"{shown} answers with HTTP status {reply.status_code}")

"""Which models can be used now, how to fix the others, and the limits and prices of a model before its first call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from koderz_core.config import Settings
from koderz_core.errors import ModelError
from koderz_core.models.capabilities import Capabilities, capabilities_of
from koderz_core.models.catalogue import resolve
from koderz_core.models.embedded import missing_runtime
from koderz_core.models.pricing import price
from koderz_core.models.provider import Advice, Availability, ModelList
from koderz_core.models.providers import PROVIDERS
from koderz_core.models.served_models import Listing, listing
from koderz_core.records import Cost, Tier, Usage

__all__ = ["FOR_CODING", "Availability", "first_ready_local", "lacking", "require", "require_runtime", "survey"]

ANSWER_SECONDS = 0.5
"""How long a server may take to list its models before it counts as absent."""
PATIENT_SECONDS = 10.0
"""The same before a benchmark: a busy machine may take its time."""
FOR_CODING = ("coder", "code", "codestral", "devstral")
SAMPLE = Usage(1_000, 1_000)
SAMPLE_SECONDS = 60.0


def survey(settings: Settings) -> list[Availability]:
    """Every model that koderz can tell of, ready or not. Asks the local servers; raises nothing."""
    return [row for provider in PROVIDERS for row in _rows(provider, settings)]


def lacking(models: Iterable[str], surveyed: Iterable[Availability]) -> list[Availability]:
    """Those of ``models`` (ids) that cannot be asked now, with reason and cure, going by what ``survey`` found.

    A name that a paid provider was not offered under may still be one of its models, so it lacks what they all lack.
    """
    rows = {row.id.removesuffix(":latest"): row for row in surveyed}
    found = (rows.get(model.removesuffix(":latest")) or _unlisted(model, rows.values()) for model in models)
    return [row for row in found if not row.ready]


def require(name: str, settings: Settings) -> None:
    """Raise ModelError or OfflineError if the model of this id cannot answer now, so that nothing is begun in vain.

    A server that is there may still not know the model: it says so when it is asked.
    """
    provider, _, rest = name.partition("/")
    known = PROVIDERS[provider]
    if away := known.away(rest):
        settings.check_egress(away, f"an answer of {name}")
    if at := known.lists(settings):
        found = listing(at, settings, PATIENT_SECONDS)
        if found.absent:
            raise ModelError(f"{name} cannot be asked: {found.fault}. {_cure(found, known.advice)}.")
    elif lack := known.lack(rest, settings):
        raise ModelError(f"{name} cannot be asked: {lack.reason}. {lack.cure}.")


def require_runtime(settings: Settings) -> None:
    """Raise ModelError if embedded models cannot run because llama.cpp is not there."""
    if lack := missing_runtime(settings):
        raise ModelError(f"Embedded models cannot run: {lack.reason}. {lack.cure}.")


def first_ready_local(settings: Settings) -> str | None:
    """The id of a model that Ollama or LM Studio serves now, made for coding if there is one; None if none answers."""
    rows = [row for provider in ("ollama", "lmstudio") for row in _rows(provider, settings) if row.ready]
    rows.sort(key=lambda row: not any(word in row.id.lower() for word in FOR_CODING))
    return rows[0].id if rows else None


def _unlisted(model: str, surveyed: Iterable[Availability]) -> Availability:
    provider, _, rest = model.partition("/")
    known = PROVIDERS[provider]
    alike = [row for row in surveyed if row.id.startswith(f"{provider}/")]
    absent = [row for row in alike if not row.ready]
    if absent or known.home or known.away(rest):
        return replace(next(iter(absent or alike)), id=model)
    return Availability(model, "local", False, f"{provider} does not list it", known.advice.fetch)


def _rows(provider: str, settings: Settings) -> Iterator[Availability]:
    known = PROVIDERS[provider]
    if at := known.lists(settings):
        yield from _served(provider, at, settings)
        return
    for name in known.names:
        lack, card = known.lack(name, settings), resolve(f"{provider}/{name}", settings)
        reason, cure = (lack.reason, lack.cure) if lack else (known.ready, "")
        yield Availability(card.id, card.tier, lack is None, reason, cure)


def _served(provider: str, at: ModelList, settings: Settings) -> Iterator[Availability]:
    """One row per model that a server lists, or one row that says why there is none."""
    found, advice = listing(at, settings, ANSWER_SECONDS), PROVIDERS[provider].advice
    for name in found.names:
        card = resolve(f"{provider}/{name}", settings)
        yield Availability(card.id, card.tier, True, "served now", "")
    if not found.names:
        card = resolve(f"{provider}/*", settings)
        reason = found.fault or "its server lists no model for chat"
        yield Availability(card.id, card.tier, False, reason, _cure(found, advice) if found.fault else advice.fetch)


def _cure(found: Listing, advice: Advice) -> str:
    """What to do about a server that could not be asked."""
    return f"{found.cure or advice.start}, or correct {advice.variable}"


@dataclass(frozen=True, slots=True)
class AboutModel:
    """``sample_cost``: of a call with 1,000 tokens in and 1,000 out that takes a minute."""

    id: str
    tier: Tier
    capabilities: Capabilities
    sample_cost: Cost


def about(name: str, settings: Settings) -> AboutModel:
    """What is known of the model that a person means by ``name``. Raises UnknownNameError, ConfigError."""
    card = resolve(name, settings)
    cost = price(card, SAMPLE, SAMPLE_SECONDS, settings)
    return AboutModel(card.id, card.tier, capabilities_of(card.id, settings), cost)

"""OpenAI's models, and those of any other server that speaks its protocol at ``OPENAI_BASE_URL``."""

from __future__ import annotations

from koderz_core.config import Settings
from koderz_core.models.capabilities import OPENAI_HOME
from koderz_core.models.openai_compatible import OpenAICompatibleModel
from koderz_core.models.provider import Advice, Lack, ModelCard, ModelList, Programs, Provider, bearer, lack_of

VARIABLE = "OPENAI_API_KEY"


def _create(card: ModelCard, settings: Settings, _: Programs) -> OpenAICompatibleModel:
    key, known = settings.openai_api_key, NAMES if PROVIDER.at_home(settings) else ()
    return OpenAICompatibleModel(card, settings.openai_base_url, key, settings, PROVIDER.advice, known)


def _lists(settings: Settings) -> ModelList | None:
    """OpenAI's own list is long and mostly not for chat; any other server's is short and all there is."""
    if PROVIDER.at_home(settings):
        return None
    return ModelList(f"{settings.openai_base_url}/models", bearer(settings.openai_api_key))


def _lack(_: str, settings: Settings) -> Lack | None:
    return lack_of(settings.openai_api_key, VARIABLE, settings.openai_base_url, settings)


# Names worth offering, of November 2026 (the publisher's price page). Others of its models work as well.
NAMES = (
    "gpt-6-astra",
    "gpt-6.1-sol",
    "gpt-6.1-terra",
    "gpt-6-luna",
    "gpt-5-mini",
    "gpt-5-nano",
    "gpt-4.1",
    "gpt-4.1-mini",
    "gpt-4.1-nano",
    "gpt-4o",
    "gpt-4o-mini",
)

PROVIDER = Provider(
    create=_create,
    address=lambda settings: settings.openai_base_url,
    lists=_lists,
    lack=_lack,
    ready=f"{VARIABLE} is set",
    names=NAMES,
    typed=r"(ft:)?(gpt-(?!oss)|chatgpt-|o\d)[^/\s]*",
    home=OPENAI_HOME,
    advice=Advice(
        start="Check the network and proxy settings",
        fetch="`koderz models list` names some",
        key=f"Set {VARIABLE} to a key that may use MODEL.",
        variable="OPENAI_BASE_URL (ends in /v1)",
    ),
)

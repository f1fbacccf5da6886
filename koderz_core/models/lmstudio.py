"""Models that LM Studio serves on this machine."""

from __future__ import annotations

from koderz_core.config import Settings
from koderz_core.models.openai_compatible import OpenAICompatibleModel
from koderz_core.models.provider import Advice, ModelCard, ModelList, Programs, Provider


def _create(card: ModelCard, settings: Settings, _: Programs) -> OpenAICompatibleModel:
    return OpenAICompatibleModel(card, settings.lmstudio_base_url, None, settings, PROVIDER.advice)


PROVIDER = Provider(
    create=_create,
    address=lambda settings: settings.lmstudio_base_url,
    lists=lambda settings: ModelList(f"{settings.lmstudio_base_url}/models"),
    advice=Advice(
        start="Start LM Studio's server with `lms server start`",
        fetch="`lms ls` shows its models, `lms get MODEL` fetches one",
        key="It wants a key: set OPENAI_BASE_URL to it, OPENAI_API_KEY, and ask for openai/MODEL.",
        variable="LMSTUDIO_BASE_URL (ends in /v1)",
    ),
)

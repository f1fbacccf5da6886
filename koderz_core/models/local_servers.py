"""Models that LM Studio or vLLM serves on this machine, by OpenAI's protocol."""

from __future__ import annotations

from collections.abc import Callable

from koderz_core.config import Settings
from koderz_core.models.openai_compatible import OpenAICompatibleModel
from koderz_core.models.provider import Advice, ModelCard, ModelList, Programs, Provider

_KEY = "It wants a key: set OPENAI_BASE_URL to it, OPENAI_API_KEY, and ask for openai/MODEL."


def _provider(address: Callable[[Settings], str], advice: Advice) -> Provider:
    def create(card: ModelCard, settings: Settings, _: Programs) -> OpenAICompatibleModel:
        return OpenAICompatibleModel(card, address(settings), None, settings, advice)

    return Provider(
        create=create,
        address=address,
        lists=lambda settings: ModelList(f"{address(settings)}/models"),
        advice=advice,
    )


LMSTUDIO = _provider(
    lambda settings: settings.lmstudio_base_url,
    Advice(
        start="Start LM Studio's server with `lms server start`",
        fetch="`lms ls` shows its models, `lms get MODEL` fetches one",
        key=_KEY,
        variable="LMSTUDIO_BASE_URL (ends in /v1)",
    ),
)

VLLM = _provider(
    lambda settings: settings.vllm_base_url,
    Advice(
        start="Start vLLM with `vllm serve MODEL`",
        fetch="`koderz models list` shows the one it serves",
        key=_KEY,
        variable="VLLM_BASE_URL (ends in /v1)",
    ),
)

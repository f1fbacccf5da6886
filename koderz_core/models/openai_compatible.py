"""Any server that speaks OpenAI's chat completions, through the official SDK: one attempt per call."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import closing
from typing import Any

from pydantic import SecretStr

from koderz_core.config import Settings
from koderz_core.models.addresses import is_at, redact
from koderz_core.models.answer import Answer, count_of, text_of
from koderz_core.models.connection import connection
from koderz_core.models.faults import Server
from koderz_core.models.keys import key_text
from koderz_core.models.provider import Advice, ModelCard
from koderz_core.protocols import OnText
from koderz_core.records import Completion, Request, Sampling, Usage

HOME = "api.openai.com"

# OpenAI's reasoning models refuse requests that set temperature or top_p (its API reference, November 2026).
FIXED_SAMPLING = re.compile(r"(ft:)?(gpt-([5-9]|\d\d)|o\d)")


class OpenAICompatibleModel:
    """A model behind an OpenAI-compatible base URL. Raises ModelError if that is OpenAI's and there is no key."""

    def __init__(
        self,
        card: ModelCard,
        base_url: str,
        api_key: SecretStr | None,
        settings: Settings,
        advice: Advice,
        known: tuple[str, ...] = (),
    ) -> None:
        import httpx  # noqa: F401, PLC0415 (first: the SDK stumbles over one that another thread has half imported)
        import httpx2  # noqa: PLC0415 (heavy)
        import openai  # noqa: PLC0415 (heavy)

        self.id = card.id
        self._sdk = openai
        self._server = Server(card, redact(base_url), settings.timeout, advice, known)
        self._settings = settings
        at_home = is_at(base_url, HOME)
        self._limit = "max_completion_tokens" if at_home else "max_tokens"
        key = key_text(api_key, "OPENAI_API_KEY", "OpenAI", needed=at_home)
        web = connection(httpx2, base_url, settings.timeout)
        http_client = openai.DefaultHttpxClient(**web)
        self._client = openai.OpenAI(
            base_url=base_url, api_key=key, max_retries=0, timeout=web["timeout"], http_client=http_client
        )
        self._say_only(settings if card.provider == "openai" else None)

    def _say_only(self, settings: Settings | None) -> None:
        """Take back what the SDK read in the environment: it would go to any server, and settings say what does."""
        self._client._custom_headers = {}
        self._client.organization = settings.openai_org_id if settings else None
        self._client.project = settings.openai_project_id if settings else None

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Ask once, streamed only if somebody listens. Raises ModelError, or OfflineError where that is forbidden."""
        self._settings.check_egress(self._server.url, f"an answer of {self.id}")
        honoured = _restrict(self._server.card, request.sampling)
        arguments, answer = self._arguments(request, honoured), Answer()
        if on_text:
            self._listen(arguments, on_text, answer)
        else:
            self._wait(arguments, answer)
        if answer.reason is None or answer.failed:
            raise self._server.broke_off()
        return answer.completion(honoured, streamed=on_text is not None)

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._client.close()

    def _arguments(self, request: Request, sampling: Sampling) -> dict[str, Any]:  # Any: the SDK's keyword arguments
        asked = {"temperature": sampling.temperature, "top_p": sampling.top_p, self._limit: sampling.max_tokens}
        return {
            "model": self._server.card.name,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "seed": request.seed,
            **{name: value for name, value in asked.items() if value is not None},
        }

    def _wait(self, arguments: dict[str, Any], answer: Answer) -> None:
        with self._server.faults(self._sdk):
            reply = self._client.chat.completions.create(**arguments)
        choice = _choice(reply)
        if choice is None:
            raise self._server.not_a_chat(reply)
        answer.usage = _usage(getattr(reply, "usage", None))
        _take(answer, choice, "message")

    def _listen(self, arguments: dict[str, Any], on_text: OnText, answer: Answer) -> None:
        with closing(self._chunks(arguments)) as chunks:
            for chunk in chunks:
                if usage := getattr(chunk, "usage", None):
                    answer.usage = _usage(usage)
                if piece := _take(answer, _choice(chunk), "delta"):
                    on_text(piece)

    def _chunks(self, arguments: dict[str, Any]) -> Generator[object, None, None]:
        with self._server.faults(self._sdk):
            create = self._client.chat.completions.create
            with create(**arguments, stream=True, stream_options={"include_usage": True}) as stream:
                yield from stream


def _restrict(card: ModelCard, sampling: Sampling) -> Sampling:
    """The part of a sampling that a model takes; the rest would make its provider refuse the request."""
    if card.provider == "openai" and FIXED_SAMPLING.match(card.name):
        return Sampling(max_tokens=sampling.max_tokens)
    return sampling


def _take(answer: Answer, choice: object, part: str) -> str:
    """Keep the text of a choice and return it. The SDK builds its records without checking them."""
    said = getattr(choice, part, None)
    refusal, thought = text_of(said, "refusal"), text_of(said, "reasoning_content") or text_of(said, "reasoning")
    piece = text_of(said, "content") or refusal
    answer.take(piece, thought)
    answer.refused = answer.refused or bool(refusal)
    answer.reason = text_of(choice, "finish_reason") or answer.reason
    return piece


def _choice(reply: object) -> object:
    choices = getattr(reply, "choices", None)
    return choices[0] if isinstance(choices, list) and choices else None


def _usage(reported: object) -> Usage:
    # Some servers report 0 prompt tokens when they do not know them; no chat has an empty prompt.
    details = getattr(reported, "prompt_tokens_details", None)
    return Usage(
        input_tokens=count_of(reported, "prompt_tokens") or None,
        output_tokens=count_of(reported, "completion_tokens"),
        cache_read_tokens=count_of(details, "cached_tokens"),
        cache_write_tokens=count_of(details, "cache_write_tokens"),
    )

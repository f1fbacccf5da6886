"""Claude models, and any other server that speaks Anthropic's messages, through the official SDK: one attempt per call.

The protocol knows no seed: the same request is answered differently each time, whatever its seed.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from typing import Any

from koderz_core.config import Settings
from koderz_core.models.answer import Answer, count_of, text_of, tier_of
from koderz_core.models.capabilities import capabilities_of, honoured
from koderz_core.models.connection import connection, redact, times
from koderz_core.models.faults import Server
from koderz_core.models.provider import (
    Advice,
    Lack,
    ModelCard,
    ModelList,
    Programs,
    Provider,
    bearer,
    key_text,
    lack_of,
)
from koderz_core.protocols import OnText
from koderz_core.records import Completion, Request, Sampling, Usage

VARIABLE = "ANTHROPIC_API_KEY"


class AnthropicModel:
    """A model behind an address that speaks Anthropic's messages. Raises ModelError if that has no key."""

    def __init__(self, card: ModelCard, settings: Settings) -> None:
        import anthropic  # noqa: PLC0415 (heavy)
        import httpx2  # noqa: PLC0415 (heavy)

        base_url, at_home = settings.anthropic_base_url, PROVIDER.at_home(settings)
        known = PROVIDER.names if at_home else ()
        self.id = card.id
        self._sdk = anthropic
        self._server = Server(card, redact(base_url), settings.timeout, PROVIDER.advice, known)
        self._settings = settings
        key = key_text(settings.anthropic_api_key, VARIABLE, "Anthropic", needed=at_home)
        web = connection(httpx2, base_url, *times(settings))
        self._client = anthropic.Anthropic(
            base_url=base_url,
            api_key=key,
            max_retries=0,
            timeout=web["timeout"],
            http_client=anthropic.DefaultHttpxClient(**web),
            open_telemetry=False,  # else the environment could send prompts to a third party
        )
        self._client._custom_headers = {}  # from ANTHROPIC_CUSTOM_HEADERS, which are no setting of koderz
        self._client.platform_headers = dict  # type: ignore[method-assign] # what machine this is concerns no server

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Ask once, streamed only if somebody listens. Raises ModelError, or OfflineError where that is forbidden."""
        self._settings.check_egress(self._server.url, f"an answer of {self.id}")
        takes = capabilities_of(self.id, self._settings)
        sent, streamed = honoured(request, takes), on_text is not None and takes.streaming
        arguments, answer = self._arguments(request, sent), Answer()
        if on_text and streamed:
            with answer.in_time():
                self._listen(arguments, on_text, answer)
        else:
            self._wait(arguments, answer)
        if answer.reason is None or answer.failed:
            raise self._server.broke_off()
        answer.usage = _with_cached(answer.usage)
        return answer.completion(sent, streamed=streamed)

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._client.close()

    def _arguments(self, request: Request, sampling: Sampling) -> dict[str, Any]:  # Any: the SDK's keyword arguments
        system = "\n\n".join(message.content for message in request.messages if message.role == "system")
        said = [message for message in request.messages if message.role != "system"]
        free = {"temperature": sampling.temperature, "top_p": sampling.top_p}
        return {
            "model": self._server.card.name,
            "messages": [{"role": message.role, "content": message.content} for message in said],
            "max_tokens": sampling.max_tokens,
            **({"system": system} if system else {}),
            # The SDK has no arguments for what only older models take.
            "extra_body": {name: value for name, value in free.items() if value is not None},
        }

    def _wait(self, arguments: dict[str, Any], answer: Answer) -> None:
        with self._server.faults(self._sdk):
            reply = self._client.messages.create(**arguments)
        blocks = getattr(reply, "content", None)
        if not isinstance(blocks, list):
            raise self._server.not_a_chat(reply)
        for block in blocks:
            answer.take(text_of(block, "text"))
        answer.reason = text_of(reply, "stop_reason") or None
        answer.usage = _usage(getattr(reply, "usage", None), Usage())

    def _listen(self, arguments: dict[str, Any], on_text: OnText, answer: Answer) -> None:
        with closing(self._events(arguments)) as events:
            for event in events:
                if piece := _take(answer, event):
                    on_text(piece)

    def _events(self, arguments: dict[str, Any]) -> Generator[object, None, None]:
        with self._server.faults(self._sdk), self._client.messages.create(**arguments, stream=True) as stream:
            yield from stream


def _take(answer: Answer, event: object) -> str:
    """Keep what an event of a streamed answer brings, and return its text. The SDK does not check its records."""
    part = getattr(event, "delta", None) or getattr(event, "content_block", None)
    piece = text_of(part, "text")
    answer.take(piece, text_of(part, "thinking"))
    answer.reason = text_of(part, "stop_reason") or answer.reason
    for part in (getattr(event, "message", None), event):
        answer.usage = _usage(getattr(part, "usage", None), answer.usage)
    return piece


def _usage(reported: object, so_far: Usage) -> Usage:
    """The counts of a streamed answer come in two parts, each of them up to then."""
    counts = {
        "input_tokens": count_of(reported, "input_tokens"),
        "output_tokens": count_of(reported, "output_tokens"),
        "cache_read_tokens": count_of(reported, "cache_read_input_tokens"),
        "cache_write_tokens": count_of(reported, "cache_creation_input_tokens"),
    }
    tier = tier_of(reported) or so_far.service_tier
    return replace(so_far, **{name: count for name, count in counts.items() if count is not None}, service_tier=tier)


def _with_cached(usage: Usage) -> Usage:
    """Anthropic counts input that a cache holds apart from the rest; here it is a part of it."""
    if usage.input_tokens is None:
        return usage
    cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    return replace(usage, input_tokens=usage.input_tokens + cached)


def _create(card: ModelCard, settings: Settings, _: Programs) -> AnthropicModel:
    return AnthropicModel(card, settings)


def _lists(settings: Settings) -> ModelList | None:
    if PROVIDER.at_home(settings):
        return None
    return ModelList(f"{settings.anthropic_base_url}/v1/models", bearer(settings.anthropic_api_key))


def _lack(_: str, settings: Settings) -> Lack | None:
    return lack_of(settings.anthropic_api_key, VARIABLE, settings.anthropic_base_url, settings)


PROVIDER = Provider(
    create=_create,
    address=lambda settings: settings.anthropic_base_url,
    lists=_lists,
    lack=_lack,
    ready=f"{VARIABLE} is set",
    # Worth offering, of November 2026 (the publisher's price page). Others of its models work as well.
    names=(
        "claude-opus-5-5",
        "claude-opus-4-5",
        "claude-sonnet-5-5",
        "claude-sonnet-4-5",  # the original koderz' default reviewer
        "claude-haiku-5-5",
        "claude-haiku-4-5",
    ),
    typed=r"claude-[^/\s]+",
    home="api.anthropic.com",
    advice=Advice(
        start="Check the network and proxy settings",
        fetch="`koderz models list` names some",
        key=f"Set {VARIABLE} to a key that may use MODEL.",
        variable="ANTHROPIC_BASE_URL (without /v1)",
    ),
)

"""Claude models, and any other server that speaks Anthropic's messages, through the official SDK: one attempt per call.

The protocol has no seed: the same request gets a different answer each time, whatever its seed.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from typing import Any

from koderz_core.config import Settings
from koderz_core.models.answer import Answer, Call, count_of, member, text_of, tier_of
from koderz_core.models.capabilities import LEVELS, MILLION, THOUGHTS, TOKENS, Capabilities
from koderz_core.models.connection import connection, redact, times, without_environment
from koderz_core.models.models_file import Thinking
from koderz_core.models.provider import Advice, Key, ModelCard, ModelList, Provider, bearer
from koderz_core.models.server import Server
from koderz_core.protocols import OnText
from koderz_core.records import Completion, Request, Sampling, Usage
from koderz_core.records.completions import EFFORTS

KEY = Key("ANTHROPIC_API_KEY", "Anthropic")


class AnthropicModel:
    """A model behind an address that speaks Anthropic's messages. Raises ModelError if a key is needed and missing."""

    def __init__(self, card: ModelCard, settings: Settings) -> None:
        import anthropic  # noqa: PLC0415 (heavy)
        import httpx2  # noqa: PLC0415 (heavy)

        base_url, at_home = settings.anthropic_base_url, PROVIDER.at_home(settings)
        self.id = card.id
        self._sdk = anthropic
        self._server = Server(card, PROVIDER, redact(base_url), settings, PROVIDER.names if at_home else ())
        web = connection(httpx2, base_url, *times(settings))
        self._client = anthropic.Anthropic(
            base_url=base_url,
            api_key=KEY.text(settings.anthropic_api_key, needed=at_home),
            max_retries=0,
            timeout=web["timeout"],
            http_client=anthropic.DefaultHttpxClient(**web),
            open_telemetry=False,  # otherwise the environment could send prompts to a third party
        )
        without_environment(self._client)

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """As ``Server.complete``."""
        return self._server.complete(request, on_text, self._send)

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._client.close()

    def _send(self, call: Call, answer: Answer, on_text: OnText | None) -> None:
        arguments = self._arguments(call)
        try:
            if on_text:
                self._listen(arguments, on_text, answer)
            else:
                self._wait(arguments, answer)
        finally:
            answer.usage = _with_cached(answer.usage)

    def _arguments(self, call: Call) -> dict[str, Any]:  # Any: the SDK's keyword arguments
        system = "\n\n".join(message.content for message in call.messages if message.role == "system")
        sampling = {"temperature": call.sampling.temperature, "top_p": call.sampling.top_p}
        return {
            "model": self._server.card.name,
            "messages": [message for message in call.chat() if message["role"] != "system"],
            "max_tokens": call.sampling.max_tokens,
            **({"system": system} if system else {}),
            # The SDK has no arguments for parameters that only older models accept, and warns of their thinking.
            "extra_body": {name: value for name, value in sampling.items() if value is not None}
            | _thinking(call.sampling),
        }

    def _wait(self, arguments: dict[str, Any], answer: Answer) -> None:
        with self._server.faults(self._sdk):
            # Without a timeout, and if the client's equals the SDK's default, the SDK refuses a high limit of tokens.
            reply = self._client.messages.create(**arguments, timeout=self._client.timeout)
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


def _thinking(sampling: Sampling) -> dict[str, object]:
    """The effort in the form that a model of its generation accepts: a word, a number of tokens, or no thinking."""
    effort = sampling.effort
    if not effort:
        return {}
    if effort == EFFORTS[0]:
        return {"thinking": {"type": "disabled"}}
    if effort.isdigit():
        return {"thinking": {"type": "enabled", "budget_tokens": int(effort)}}
    return {"thinking": {"type": "adaptive"}, "output_config": {"effort": effort}}


def _take(answer: Answer, event: object) -> str:
    """Keep what an event of a streamed answer brings, and return its text. The SDK does not check its records."""
    part = getattr(event, "delta", None) or getattr(event, "content_block", None)
    piece = text_of(part, "text")
    answer.take(piece, text_of(part, "thinking"))
    answer.reason = text_of(part, "stop_reason") or answer.reason
    if start := getattr(event, "message", None):  # reports 0 or 1 output tokens, because no text has arrived
        answer.usage = replace(_usage(getattr(start, "usage", None), answer.usage), output_tokens=None)
    answer.usage = _usage(getattr(event, "usage", None), answer.usage)
    return piece


def _usage(reported: object, so_far: Usage) -> Usage:
    """The counts of a streamed answer arrive in two parts, each with totals so far."""
    counts = {
        "input_tokens": count_of(reported, "input_tokens"),
        "output_tokens": count_of(reported, "output_tokens"),
        "cache_read_tokens": count_of(reported, "cache_read_input_tokens"),
        "cache_write_tokens": count_of(reported, "cache_creation_input_tokens"),
        "reasoning_tokens": count_of(member(reported, "output_tokens_details"), "thinking_tokens"),
    }
    tier = tier_of(reported) or so_far.service_tier
    return replace(so_far, **{name: count for name, count in counts.items() if count is not None}, service_tier=tier)


def _with_cached(usage: Usage) -> Usage:
    """Anthropic counts cached input apart from the other input; here it is a part of it.

    Some servers report 0 if they do not know the count. As no prompt is empty, 0 counts as unknown.
    """
    if usage.input_tokens is None:
        return usage
    cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    return replace(usage, input_tokens=usage.input_tokens + cached or None)


def _lists(settings: Settings) -> ModelList | None:
    if PROVIDER.at_home(settings):
        return None
    return ModelList(f"{settings.anthropic_base_url}/v1/models", bearer(settings.anthropic_api_key))


def _claude(
    context: int, effort: tuple[str, ...], *, free: bool = False, thinking: Thinking = "optional"
) -> Capabilities:
    """``free``: accepts temperature or top_p, not both; it thinks only if asked to, unless it always does."""
    return Capabilities(
        context_tokens=context,
        temperature=free,
        top_p=free,
        both=False,
        seed=False,
        effort=effort,
        exclusive=free,
        default_tokens=_DEFAULT_TOKENS,
        thinking=thinking,
        thinking_tokens=THOUGHTS if thinking == "always" else 0,
        cache=True,
        source="Anthropic's migration guides, November 2026",
    )


_ALL = (*LEVELS, "xhigh", "max")
_DEFAULT_TOKENS = 16_384
# Context windows: genai-prices 0.2.3, November 2026. Accepted parameters: the migration guides, read in November 2026.
# Newer models are assumed to be like the newest known.
_ROWS = (
    (r"claude-3(-5)?-(opus|sonnet|haiku).*", _claude(200_000, (), free=True)),
    (
        r"claude-3\b.*|claude-(opus|sonnet)-4(-[015])?(-\d{8})?|claude-haiku-4-5(-\d{8})?",
        _claude(200_000, ("none", TOKENS), free=True),
    ),
    (r"claude-sonnet-4-6(-\d{8})?", _claude(MILLION, ("none", *LEVELS), free=True)),
    (r"claude-opus-4-6(-\d{8})?", _claude(MILLION, ("none", *LEVELS, "max"), free=True)),
    (
        r"claude-opus-(4-[78]|5)(-\d{8})?|claude-(sonnet-5|sonnet-5-5|haiku-5-5)(-\d{8})?",
        _claude(MILLION, ("none", *_ALL)),
    ),
    (r"claude.*", _claude(MILLION, _ALL, thinking="always")),
    (
        ".*",
        Capabilities(
            seed=False,
            default_tokens=_DEFAULT_TOKENS,
            source=(
                "assumed from the defaults of Anthropic's protocol, because it is unknown which parameters this model "
                "supports"
            ),
        ),
    ),
)

PROVIDER = Provider(
    create=lambda card, settings, _: AnthropicModel(card, settings),
    address=lambda settings: settings.anthropic_base_url,
    lists=_lists,
    lack=lambda _, settings: KEY.lack(settings.anthropic_base_url, settings),
    ready=f"{KEY.variable} is set",
    # Names worth offering (the publisher's price page, November 2026). Other models of Anthropic work as well.
    names=(
        "claude-opus-5-5",
        "claude-opus-4-5",
        "claude-sonnet-5-5",
        "claude-sonnet-4-5",  # the default reviewer of the original koderz
        "claude-haiku-5-5",
        "claude-haiku-4-5",
    ),
    typed=r"claude-[^/\s]+",
    home="api.anthropic.com",
    key=KEY,
    advice=Advice(
        start="Check the network and proxy settings",
        fetch="Run `koderz models list` for examples of model names",
        key=f"Set {KEY.variable} to a key that may use MODEL.",
        variable="ANTHROPIC_BASE_URL (without /v1)",
    ),
    rows=_ROWS,
)

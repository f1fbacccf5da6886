"""Any server that speaks OpenAI's chat completions, through the official SDK: one attempt per call."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any, cast

from msgspec import UNSET

from koderz_core.config import Settings
from koderz_core.models.answer import Answer, Call, count_of, member, text_of, tier_of
from koderz_core.models.connection import connection, is_at, redact, times, without_environment
from koderz_core.models.provider import (
    MISTRAL,
    NO_KEY,
    Advice,
    Key,
    Lack,
    ModelCard,
    ModelList,
    Programs,
    Provider,
    bearer,
)
from koderz_core.models.server import Server
from koderz_core.models.server_memory import LMStudioMemory
from koderz_core.protocols import OnText
from koderz_core.records import Completion, Request, Usage
from koderz_core.settings_fields import SecretStr

# Mistral's server streams the usage without this field, and refuses every request that contains the field.
_WITH_USAGE = {"stream_options": {"include_usage": True}}


class OpenAICompatibleModel:
    """A model behind an OpenAI-compatible base URL. Raises ModelError if that is the publisher's and no key is set."""

    def __init__(
        self,
        card: ModelCard,
        provider: Provider,
        base_url: str,
        api_key: SecretStr | None,
        settings: Settings,
        known: tuple[str, ...] = (),
    ) -> None:
        """``known``: names of the server's models, for suggestions."""
        import httpx  # noqa: F401, PLC0415 (first: the SDK fails if another thread has only half imported it)
        import httpx2  # noqa: PLC0415 (heavy)
        import openai  # noqa: PLC0415 (heavy)

        self.id = card.id
        self._sdk, self._web, self._stream = openai, httpx2, openai.Stream[object]
        self._server = Server(card, provider, redact(base_url), settings, known)
        at_home, is_openai = is_at(base_url, provider.home), card.provider == "openai"
        self._streamed: dict[str, object] = {"stream": True, **({} if is_at(base_url, MISTRAL) else _WITH_USAGE)}
        self._service_tier = settings.openai_service_tier if is_openai and at_home else None
        key = api_key.get_secret_value() if api_key else NO_KEY
        web = connection(httpx2, base_url, *times(settings))
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=provider.key.text(api_key, needed=at_home) if provider.key else key,
            max_retries=0,
            timeout=web["timeout"],
            http_client=openai.DefaultHttpxClient(**web),
        )
        base = self._client.base_url  # the whole URL is built once, because the SDK would build it for every call
        self._url = str(base.copy_with(raw_path=base.raw_path + b"chat/completions"))
        without_environment(self._client)
        self._client.organization = settings.openai_org_id if is_openai else None
        self._client.project = settings.openai_project_id if is_openai else None

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """As ``Server.complete``."""
        return self._server.complete(request, on_text, self._send)

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._client.close()

    # `chat.completions.create` does the same for more CPU time, three times as much if streamed: it checks all
    # arguments first, and builds records of everything that the server sent, without checking them.

    def _send(self, call: Call, answer: Answer, on_text: OnText | None) -> None:
        arguments = self._arguments(call)
        if on_text is None:
            with self._server.faults(self._sdk):
                reply = _read(self._client.post(self._url, cast_to=self._web.Response, body=arguments))
            choice = _choice(reply)
            if choice is None:
                raise self._server.not_a_chat(reply)
            answer.usage = _usage(reply)
            _take(answer, choice, "message")
            return
        with closing(self._chunks(arguments)) as chunks:
            for chunk in chunks:
                if member(chunk, "usage"):
                    answer.usage = _usage(chunk)
                if piece := _take(answer, _choice(chunk), "delta"):
                    on_text(piece)

    def _arguments(self, call: Call) -> dict[str, Any]:  # Any: JSON
        options = {
            "temperature": call.sampling.temperature,
            "top_p": call.sampling.top_p,
            call.limit: call.sampling.max_tokens,
            "seed": call.sampling.seed,
            "service_tier": self._service_tier,
            "reasoning_effort": call.sampling.effort or None,
        }
        return {
            "model": self._server.card.name,
            "messages": call.chat(),
            **{name: value for name, value in options.items() if value is not None},
        }

    def _chunks(self, arguments: dict[str, Any]) -> Generator[object, None, None]:
        body = {**arguments, **self._streamed}
        with (
            self._server.faults(self._sdk),
            self._client.post(self._url, cast_to=object, body=body, stream=True, stream_cls=self._stream) as stream,
        ):
            yield from stream


def _read(reply: Any) -> object:  # Any: a response of httpx2
    """The JSON of an answer; None if it neither is JSON nor claims to be."""
    try:
        return cast("object", reply.json())
    except ValueError:
        if "json" in reply.headers.get("content-type", ""):
            raise
        return None


def _take(answer: Answer, choice: object, part: str) -> str:
    """Keep the text of a choice and return it. No client has checked what the server sent."""
    message = member(choice, part)
    refusal = text_of(message, "refusal")
    content = member(message, "content")
    sections = content if isinstance(content, list) else []  # as Mistral's server sends thoughts and texts
    piece = text_of(message, "content") or "".join(text_of(section, "text") for section in sections) or refusal
    thought = text_of(message, "reasoning_content") or text_of(message, "reasoning")
    answer.take(piece, thought or any(member(section, "thinking") for section in sections))
    answer.refused = answer.refused or bool(refusal)
    answer.reason = text_of(choice, "finish_reason") or answer.reason
    return piece


def _choice(reply: object) -> object:
    choices = member(reply, "choices")
    return choices[0] if isinstance(choices, list) and choices else None


def _usage(reply: object) -> Usage:
    # Some servers report 0 prompt tokens if they do not know them; no chat has an empty prompt.
    reported = member(reply, "usage")
    details = member(reported, "prompt_tokens_details")
    sent, received = count_of(reported, "prompt_tokens"), count_of(reported, "completion_tokens")
    reasoning = count_of(member(reported, "completion_tokens_details"), "reasoning_tokens")
    total = count_of(reported, "total_tokens") or 0
    if reasoning is None and sent and received is not None and total > sent + received:
        reasoning, received = total - sent - received, total - sent  # Google's server counts thoughts in the total only
    elif received is not None and reasoning:
        apart = received + (sent or 0) + reasoning == total
        received += reasoning if apart else 0  # some servers count reasoning apart from the answer, as xAI's does
    return Usage(
        input_tokens=sent or None,
        output_tokens=received,
        cache_read_tokens=count_of(details, "cached_tokens"),
        cache_write_tokens=count_of(details, "cache_write_tokens"),
        service_tier=tier_of(reply),
        reasoning_tokens=UNSET if reasoning is None else reasoning,
    )


def compatible(
    address: Callable[[Settings], str],
    advice: Advice,
    key: Key | None = None,
    **facts: Any,  # Any: further fields of ``Provider``
) -> Provider:
    """A provider whose server at ``address`` speaks OpenAI's protocol.

    With a ``home``, the names in ``facts`` are offered there, since a publisher's own list is long and mostly not for
    chat. Any other server is asked for its list.
    """

    def create(card: ModelCard, settings: Settings, _: Programs) -> OpenAICompatibleModel:
        api_key = key.value(settings) if key else None
        known = provider.names if provider.at_home(settings) else ()
        return OpenAICompatibleModel(card, provider, address(settings), api_key, settings, known)

    def lists(settings: Settings) -> ModelList | None:
        if provider.at_home(settings):
            return None
        return ModelList(f"{address(settings)}/models", bearer(key.value(settings) if key else None))

    def lack(_: str, settings: Settings) -> Lack | None:
        return key.lack(address(settings), settings) if key else None

    provider = Provider(create=create, address=address, lists=lists, lack=lack, advice=advice, key=key, **facts)
    return provider


_NO_KEY_SETTING = (
    "The server requires a key: set OPENAI_BASE_URL to the address of the server and OPENAI_API_KEY to the key, and "
    "use openai/MODEL."
)

LMSTUDIO = compatible(
    lambda settings: settings.lmstudio_base_url,
    Advice(
        start="Start LM Studio's server with `lms server start`",
        fetch="`lms ls` shows the downloaded models, and `lms get MODEL` downloads the model",
        key=_NO_KEY_SETTING,
        variable="LMSTUDIO_BASE_URL (ends in /v1)",
    ),
    memory=LMStudioMemory,
)

VLLM = compatible(
    lambda settings: settings.vllm_base_url,
    Advice(
        start="Start vLLM with `vllm serve MODEL`",
        fetch="`koderz models list` shows the model that vLLM serves",
        key=_NO_KEY_SETTING,
        variable="VLLM_BASE_URL (ends in /v1)",
    ),
)

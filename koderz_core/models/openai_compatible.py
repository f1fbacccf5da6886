"""Any server that speaks OpenAI's chat completions, through the official SDK: one attempt per call."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import Any, cast

from koderz_core.config import Settings
from koderz_core.models.answer import Answer, count_of, held, text_of, tier_of
from koderz_core.models.capabilities import OPENAI_HOME, capabilities_of, honoured
from koderz_core.models.connection import connection, is_at, redact, times
from koderz_core.models.faults import Server
from koderz_core.models.provider import Advice, ModelCard, key_text
from koderz_core.protocols import OnText
from koderz_core.records import Completion, Request, Sampling, Usage
from koderz_core.settings_fields import SecretStr

_PATH = "/chat/completions"


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
        self._sdk, self._web, self._pieces = openai, httpx2, openai.Stream[object]
        self._server = Server(card, redact(base_url), settings.timeout, advice, known)
        self._settings = settings
        at_home = is_at(base_url, OPENAI_HOME)
        self._service_tier = settings.openai_service_tier if at_home else None
        key = key_text(api_key, "OPENAI_API_KEY", "OpenAI", needed=at_home)
        web = connection(httpx2, base_url, *times(settings))
        http_client = openai.DefaultHttpxClient(**web)
        self._client = openai.OpenAI(
            base_url=base_url, api_key=key, max_retries=0, timeout=web["timeout"], http_client=http_client
        )
        self._url = str(self._client._prepare_url(_PATH))  # whole, since the SDK would put it together for each call
        self._say_only(settings if card.provider == "openai" else None)

    def _say_only(self, settings: Settings | None) -> None:
        """Take back what the SDK read in the environment: it would go to any server, and settings say what does."""
        self._client._custom_headers = {}
        self._client.platform_headers = dict  # type: ignore[method-assign] # what machine this is concerns no server
        self._client.organization = settings.openai_org_id if settings else None
        self._client.project = settings.openai_project_id if settings else None

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Ask once, streamed only if somebody listens. Raises ModelError, or OfflineError where that is forbidden."""
        self._settings.check_egress(self._server.url, f"an answer of {self.id}")
        takes = capabilities_of(self.id, self._settings)
        sent, streamed = honoured(request, takes), on_text is not None and takes.streaming
        arguments, answer = self._arguments(request, sent, takes.max_tokens_parameter), Answer()
        if on_text and streamed:
            with answer.in_time():
                self._listen(arguments, on_text, answer)
        else:
            self._wait(arguments, answer)
        if answer.reason is None or answer.failed:
            raise self._server.broke_off()
        return answer.completion(sent, streamed=streamed)

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._client.close()

    def _arguments(
        self, request: Request, sent: Sampling, limit: str
    ) -> dict[str, Any]:  # Any: the SDK's keyword arguments
        asked = {
            "temperature": sent.temperature,
            "top_p": sent.top_p,
            limit: sent.max_tokens,
            "seed": sent.seed,
            "service_tier": self._service_tier,
        }
        return {
            "model": self._server.card.name,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            **{name: value for name, value in asked.items() if value is not None},
        }

    # `chat.completions.create` does the same for more CPU, thrice as much if streamed: it walks through all arguments
    # first, and builds records of all that the server sent, unchecked.

    def _wait(self, arguments: dict[str, Any], answer: Answer) -> None:
        with self._server.faults(self._sdk):
            reply = _read(self._client.post(self._url, cast_to=self._web.Response, body=arguments))
        choice = _choice(reply)
        if choice is None:
            raise self._server.not_a_chat(reply)
        answer.usage = _usage(reply)
        _take(answer, choice, "message")

    def _listen(self, arguments: dict[str, Any], on_text: OnText, answer: Answer) -> None:
        with closing(self._chunks(arguments)) as chunks:
            for chunk in chunks:
                if held(chunk, "usage"):
                    answer.usage = _usage(chunk)
                if piece := _take(answer, _choice(chunk), "delta"):
                    on_text(piece)

    def _chunks(self, arguments: dict[str, Any]) -> Generator[object, None, None]:
        body = {**arguments, "stream": True, "stream_options": {"include_usage": True}}
        with (
            self._server.faults(self._sdk),
            self._client.post(self._url, cast_to=object, body=body, stream=True, stream_cls=self._pieces) as stream,
        ):
            yield from stream


def _read(reply: Any) -> object:  # Any: of httpx2
    """The JSON of an answer; None for what is neither that nor says so."""
    try:
        return cast("object", reply.json())
    except ValueError:
        if "json" in reply.headers.get("content-type", ""):
            raise
        return None


def _take(answer: Answer, choice: object, part: str) -> str:
    """Keep the text of a choice and return it. Nobody has checked what the server sent."""
    said = held(choice, part)
    refusal, thought = text_of(said, "refusal"), text_of(said, "reasoning_content") or text_of(said, "reasoning")
    piece = text_of(said, "content") or refusal
    answer.take(piece, thought)
    answer.refused = answer.refused or bool(refusal)
    answer.reason = text_of(choice, "finish_reason") or answer.reason
    return piece


def _choice(reply: object) -> object:
    choices = held(reply, "choices")
    return choices[0] if isinstance(choices, list) and choices else None


def _usage(reply: object) -> Usage:
    # Some servers report 0 prompt tokens when they do not know them; no chat has an empty prompt.
    reported = held(reply, "usage")
    details = held(reported, "prompt_tokens_details")
    return Usage(
        input_tokens=count_of(reported, "prompt_tokens") or None,
        output_tokens=count_of(reported, "completion_tokens"),
        cache_read_tokens=count_of(details, "cached_tokens"),
        cache_write_tokens=count_of(details, "cache_write_tokens"),
        service_tier=tier_of(reply),
    )

"""Models that Ollama serves, through its official SDK and its own protocol: one attempt per call.

Its OpenAI-compatible address would ignore ``num_ctx``, and cut long prompts without a word.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from typing import Any

from koderz_core.addresses import is_loopback
from koderz_core.config import Settings
from koderz_core.errors import ModelError
from koderz_core.models.answer import Answer, count_of, text_of
from koderz_core.models.capabilities import capabilities_of, honoured
from koderz_core.models.connection import connection, redact, times
from koderz_core.models.faults import Server
from koderz_core.models.provider import NO_KEY, Advice, ModelCard, ModelList, Programs, Provider, bearer
from koderz_core.protocols import OnText
from koderz_core.records import Completion, Request, Sampling, Usage

CLOUD = "https://ollama.com"
MOST_NANOSECONDS = 1 << 53


class OllamaModel:
    """A model of an Ollama server, with a context of ``settings.num_ctx`` tokens. How long it stays loaded is Ollama's.

    Not covered: an Ollama from before October 2025 cuts prompts that are too long without a word, as it does not know
    ``truncate``; a cut one then shows only by filling the context.

    ``seconds`` of a completion are those of the answer, without loading.
    """

    def __init__(self, card: ModelCard, settings: Settings) -> None:
        import httpx  # noqa: PLC0415 (heavy)
        import ollama  # noqa: PLC0415 (heavy)

        url = settings.ollama_base_url
        self.id = card.id
        self._server = Server(card, redact(url), settings.timeout, PROVIDER.advice)
        self._settings = settings
        self._client = ollama.Client(url, headers=_headers(settings), **connection(httpx, url, *times(settings)))

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Ask once, streamed only if somebody listens. Raises ModelError, or OfflineError where that is forbidden."""
        self._settings.check_egress(_away(self._server.card.name) or self._server.url, f"an answer of {self.id}")
        takes = capabilities_of(self.id, self._settings)
        sent, streamed = honoured(request, takes), on_text is not None and takes.streaming
        answer, last = Answer(), None
        arguments = self._arguments(request, sent, takes.max_tokens_parameter)
        with answer.in_time(), closing(self._parts(arguments, streamed=streamed)) as parts:
            for part in parts:
                last, said = part, getattr(part, "message", None)
                piece = text_of(said, "content")
                answer.take(piece, text_of(said, "thinking"))
                if on_text and streamed and piece:
                    on_text(piece)
        if answer.reason is None:
            self._end(answer, last, streamed=streamed)
        if answer.failed:
            raise self._server.broke_off()
        loading_seconds = (count_of(last, "load_duration", MOST_NANOSECONDS) or 0) / 1e9
        return answer.completion(sent, streamed=streamed, waited_seconds=loading_seconds)

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._client.close()  # type: ignore[no-untyped-call] # the SDK's own lack of types

    def _arguments(
        self, request: Request, sent: Sampling, limit: str
    ) -> dict[str, Any]:  # Any: the SDK's keyword arguments
        options = {
            "num_ctx": self._settings.num_ctx,
            "seed": sent.seed,
            "temperature": sent.temperature,
            "top_p": sent.top_p,
            limit: sent.max_tokens,
        }
        return {
            "model": self._server.card.name,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "options": {name: value for name, value in options.items() if value is not None},
            "truncate": False,  # a prompt that is longer than the context is an error, and
            "shift": False,  # a context that is full ends the answer: neither loses its beginning without a word
        }

    def _parts(self, arguments: dict[str, Any], *, streamed: bool) -> Generator[object, None, None]:
        import ollama  # noqa: PLC0415 (heavy)

        # What the SDK's own chat() does; but that takes neither truncate nor shift.
        body = {**arguments, "stream": streamed}
        with self._faults(streamed=streamed):
            reply = self._client._request(ollama.ChatResponse, "POST", "/api/chat", json=body, stream=streamed)
            if streamed:
                yield from reply
            else:
                yield reply

    def _end(self, answer: Answer, last: object, *, streamed: bool) -> None:
        if getattr(last, "done", None) is not True:
            raise self._senseless(streamed=streamed)
        # It reports no prompt tokens, or 0, when it took the prompt from its cache (its issue 2068).
        answer.usage = Usage(count_of(last, "prompt_eval_count") or None, count_of(last, "eval_count"))
        used = (answer.usage.input_tokens or 0) + (answer.usage.output_tokens or 0)
        # A full context is a cut answer, or one to a cut prompt, whatever reason is given.
        answer.reason = "length" if used >= self._settings.num_ctx else text_of(last, "done_reason")

    @contextmanager
    def _faults(self, *, streamed: bool) -> Iterator[None]:
        """Turns the SDK's errors into ModelError, without their cause, which may quote what was sent."""
        import httpx  # noqa: PLC0415 (heavy)
        import ollama  # noqa: PLC0415 (heavy)

        try:
            yield
        except httpx.TimeoutException as error:
            raise self._server.late(error) from None
        except (httpx.HTTPError, ConnectionError) as error:
            raise self._server.unreachable(error) from None
        except ollama.ResponseError as error:
            raise self._server.status(error.status_code, error=error) from None
        except (TypeError, AttributeError, ValueError):  # the SDK builds its records from whatever was sent
            raise self._senseless(streamed=streamed) from None

    def _senseless(self, *, streamed: bool) -> ModelError:
        return self._server.broke_off() if streamed else self._server.not_a_chat()


def _headers(settings: Settings) -> dict[str, str]:
    """A key goes to another machine only; without one the SDK would look for it in the environment."""
    local = is_loopback(settings.ollama_base_url)
    return {"Authorization": f"Bearer {NO_KEY}", **bearer(None if local else settings.ollama_api_key)}


def _away(name: str) -> str | None:
    """A local server hands what is asked of such a model on to Ollama's cloud, which its tag alone tells."""
    return CLOUD if name.lower().endswith(("-cloud", ":cloud")) else None


def _create(card: ModelCard, settings: Settings, _: Programs) -> OllamaModel:
    return OllamaModel(card, settings)


PROVIDER = Provider(
    create=_create,
    address=lambda settings: settings.ollama_base_url,
    lists=lambda settings: ModelList(f"{settings.ollama_base_url}/api/tags", _headers(settings)),
    names=("gpt-oss:20b", "gpt-oss:120b"),
    typed=r"[^\s:]+:[^\s:]+|gpt-oss",
    away=_away,
    advice=Advice(
        start="Start Ollama with `ollama serve`",
        fetch="`ollama list` shows its models, `ollama pull MODEL` fetches one",
        key="Set OLLAMA_API_KEY to a key that may use MODEL.",
        variable="OLLAMA_BASE_URL (without /v1)",
        context="--num-ctx, which the prompt must fit into",
    ),
)

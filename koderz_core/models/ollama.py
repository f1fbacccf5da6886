"""Models that Ollama serves, through its official SDK and its own protocol: one attempt per call.

Its OpenAI-compatible address would ignore ``num_ctx`` and cut long prompts silently.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from typing import Any

from koderz_core.addresses import is_loopback
from koderz_core.config import Settings
from koderz_core.errors import ModelError
from koderz_core.models.answer import Answer, Call, count_of, text_of
from koderz_core.models.capabilities import GPT_OSS, LEVELS, THINKERS, Capabilities, thinker
from koderz_core.models.connection import connection, redact, times
from koderz_core.models.provider import NO_KEY, Advice, ModelCard, ModelList, Provider, bearer
from koderz_core.models.server import Server
from koderz_core.models.server_memory import OllamaMemory
from koderz_core.protocols import OnText
from koderz_core.proxies import proxies
from koderz_core.records import Completion, Request, Usage
from koderz_core.records.completions import EFFORTS

CLOUD = "https://ollama.com"
MOST_NANOSECONDS = 1 << 53
_SOURCE = "Ollama's API reference, November 2026"
_THOUGHTS = 8_192
# Ollama silently ignores a value of ``think`` that a model does not have, so these are only the families of which it
# says that thinking can be switched off (its announcement of thinking, and its library).
_SWITCHED = r"(?:.*/)?(qwen3(?!-coder|-?next-80b-a3b-instruct|.*(instruct|thinking))|deepseek-(r1|v3\.1)).*"


class OllamaModel:
    """A model of an Ollama server, with a context of ``settings.num_ctx`` tokens. Ollama decides when to unload it.

    Models in Ollama's cloud ignore this setting and always have their full context (Ollama's issue 16598).

    Not covered: versions of Ollama before October 2025 do not know ``truncate`` and cut long prompts silently. The only
    sign of a cut prompt is then a full context.

    ``seconds`` of a completion are those of the answer, without loading.
    """

    def __init__(self, card: ModelCard, settings: Settings) -> None:
        import httpx  # noqa: PLC0415 (heavy)

        proxies()  # the import of the SDK makes a client, which needs them
        import ollama  # noqa: PLC0415 (heavy)

        url = settings.ollama_base_url
        self.id = card.id
        self._server = Server(card, PROVIDER, redact(url), settings)
        self._settings = settings
        self._client = ollama.Client(url, headers=_headers(settings), **connection(httpx, url, *times(settings)))

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """As ``Server.complete``."""
        return self._server.complete(request, on_text, self._send)

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._client.close()  # type: ignore[no-untyped-call] # the SDK's own lack of types

    def _send(self, call: Call, answer: Answer, on_text: OnText | None) -> None:
        last = None
        with closing(self._parts(self._arguments(call), streamed=on_text is not None)) as parts:
            for part in parts:
                last, message = part, getattr(part, "message", None)
                piece = text_of(message, "content")
                answer.take(piece, text_of(message, "thinking"))
                if on_text and piece:
                    on_text(piece)
        self._end(answer, last, streamed=on_text is not None)

    def _arguments(self, call: Call) -> dict[str, Any]:  # Any: JSON
        options = {
            "num_ctx": self._settings.num_ctx,
            "seed": call.sampling.seed,
            "temperature": call.sampling.temperature,
            "top_p": call.sampling.top_p,
            call.limit: call.sampling.max_tokens,
        }
        return {
            "model": self._server.card.name,
            "messages": call.chat(),
            "options": {name: value for name, value in options.items() if value is not None},
            "truncate": False,  # a prompt that exceeds the context is an error, and
            "shift": False,  # a full context ends the answer: neither loses its beginning silently
            **({"think": effort != EFFORTS[0] and effort} if (effort := call.sampling.effort) else {}),
        }

    def _parts(self, arguments: dict[str, Any], *, streamed: bool) -> Generator[object, None, None]:
        import ollama  # noqa: PLC0415 (heavy)

        # As the SDK's own chat(), which has no arguments truncate and shift.
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
        # Ollama reports no prompt tokens, or 0, if it took the prompt from its cache (its issue 2068).
        answer.usage = Usage(count_of(last, "prompt_eval_count") or None, count_of(last, "eval_count"))
        used = (answer.usage.input_tokens or 0) + (answer.usage.output_tokens or 0)
        # A full context means that the answer or the prompt was cut, whatever the reason says. Models in the cloud
        # have another context.
        full = used >= self._settings.num_ctx and not _away(self._server.card.name)
        answer.reason = "length" if full else text_of(last, "done_reason")
        answer.waited_seconds = (count_of(last, "load_duration", MOST_NANOSECONDS) or 0) / 1e9

    @contextmanager
    def _faults(self, *, streamed: bool) -> Iterator[None]:
        """Turns the SDK's errors into ModelError, without the cause, which may quote the request."""
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
        except (TypeError, AttributeError, ValueError, RecursionError):  # the SDK builds records from unchecked data
            raise self._senseless(streamed=streamed) from None

    def _senseless(self, *, streamed: bool) -> ModelError:
        return self._server.broke_off() if streamed else self._server.not_a_chat()


def _headers(settings: Settings) -> dict[str, str]:
    """The key is sent to other machines only. Without a header the SDK would look for a key in the environment."""
    local = is_loopback(settings.ollama_base_url)
    return {"Authorization": f"Bearer {NO_KEY}", **bearer(None if local else settings.ollama_api_key)}


def _away(name: str) -> str | None:
    """A local server passes requests for such a model on to Ollama's cloud. Only its tag shows that."""
    return CLOUD if name.lower().endswith(("-cloud", ":cloud")) else None


def _version(name: str, settings: Settings) -> str:
    """The digest of a model in the server's list; "" for a model in Ollama's cloud, of which it says nothing."""
    import httpx  # noqa: PLC0415 (heavy)

    proxies()  # as above
    import ollama  # noqa: PLC0415 (heavy)

    url = settings.ollama_base_url
    settings.check_egress(url, "the version of a model")
    if _away(name):
        return ""
    try:
        with closing(
            ollama.Client(url, headers=_headers(settings), **connection(httpx, url, *times(settings)))
        ) as client:
            listed = {str(model.model): text_of(model, "digest") for model in client.list().models}
    except (httpx.HTTPError, ConnectionError, ollama.ResponseError, TypeError, ValueError):
        raise ModelError(f"{redact(url)} does not list its models") from None  # the cause may contain a password
    digest = listed.get(name) or listed.get(f"{name}:latest")
    if not digest:
        raise ModelError(f"{redact(url)} does not list a digest of {name}")
    return digest


PROVIDER = Provider(
    create=lambda card, settings, _: OllamaModel(card, settings),
    address=lambda settings: settings.ollama_base_url,
    lists=lambda settings: ModelList(f"{settings.ollama_base_url}/api/tags", _headers(settings)),
    rows=(
        (GPT_OSS, thinker(_THOUGHTS, _SOURCE, "num_predict", LEVELS)),
        (_SWITCHED, thinker(_THOUGHTS, _SOURCE, "num_predict", EFFORTS[:1])),
        (THINKERS, thinker(_THOUGHTS, _SOURCE, "num_predict")),
        (".*", Capabilities(max_tokens_parameter="num_predict", source=_SOURCE)),
    ),
    context_set=True,
    version=_version,
    memory=lambda name, settings: OllamaMemory(name, settings, _headers(settings)),
    names=("gpt-oss:20b", "gpt-oss:120b"),
    typed=r"[^\s:]+:[^\s:]+|gpt-oss",
    away=_away,
    advice=Advice(
        start="Start Ollama with `ollama serve`",
        fetch="`ollama list` shows the installed models, and `ollama pull MODEL` downloads the model",
        key="Set OLLAMA_API_KEY to a key that may use MODEL.",
        variable="OLLAMA_BASE_URL (without /v1)",
        context="--num-ctx (the size of the context)",
    ),
)

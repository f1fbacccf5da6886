"""Any server that speaks OpenAI's chat completions, through the official SDK: one attempt per call."""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from json import JSONDecodeError
from typing import Any

from pydantic import SecretStr

from koderz_core.config import Settings, is_loopback
from koderz_core.errors import ModelError
from koderz_core.models.catalogue import PROVIDERS, ModelCard, is_openai, redact, restrict
from koderz_core.protocols import OnText
from koderz_core.records import Completion, Finish, Request, Sampling, Usage

LATER = "That may pass; if it does not, look at the server's log."


class OpenAICompatibleModel:
    """A model behind an OpenAI-compatible base URL. Raises ModelError if that is none, or OpenAI's without a key."""

    def __init__(self, card: ModelCard, base_url: str, api_key: SecretStr | None, settings: Settings) -> None:
        import httpx  # noqa: F401, PLC0415 (first: the SDK stumbles over one that another thread has half imported)
        from openai import DefaultHttpxClient, OpenAI  # noqa: PLC0415 (heavy)

        self.id = card.id
        self._server = _Server(card, redact(base_url), settings.timeout)
        self._settings = settings
        self._limit = "max_completion_tokens" if is_openai(base_url) else "max_tokens"
        key, timeout = _key(api_key, base_url), settings.timeout
        # No redirects: the address that the egress gate saw is the only one asked. No proxy on the way to loopback.
        web = DefaultHttpxClient(follow_redirects=False, trust_env=not is_loopback(base_url))
        self._client = OpenAI(base_url=base_url, api_key=key, max_retries=0, timeout=timeout, http_client=web)

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Ask once, streamed only if somebody listens. Raises ModelError, or OfflineError where that is forbidden."""
        self._settings.check_egress(self._server.url, f"an answer of {self.id}")
        started = time.monotonic()
        honoured = restrict(self._server.card, request.sampling)
        arguments = self._arguments(request, honoured)
        answer = self._listen(arguments, on_text, started) if on_text else self._wait(arguments)
        return Completion(
            text="".join(answer.pieces),
            finish=answer.finish,
            usage=_usage(answer.usage),
            seconds=time.monotonic() - started,
            honoured=honoured,
            first_token_seconds=answer.first_token_seconds,
        )

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

    def _wait(self, arguments: dict[str, Any]) -> _Answer:
        with self._server.faults():
            reply = self._client.chat.completions.create(**arguments)
        choice = _choice(reply)
        if choice is None:
            raise self._server.not_a_chat()
        answer = _Answer(usage=getattr(reply, "usage", None))
        answer.take(choice, "message")
        return answer

    def _listen(self, arguments: dict[str, Any], on_text: OnText, started: float) -> _Answer:
        answer = _Answer()
        with closing(self._chunks(arguments, started)) as chunks:
            for chunk in chunks:
                answer.usage = getattr(chunk, "usage", None) or answer.usage
                piece = answer.take(_choice(chunk), "delta")
                if answer.begun and answer.first_token_seconds is None:
                    answer.first_token_seconds = time.monotonic() - started
                if piece:
                    on_text(piece)
        if answer.reason is None:
            raise self._server.broke_off()
        return answer

    def _chunks(self, arguments: dict[str, Any], started: float) -> Generator[object, None, None]:
        """The parts of a streamed answer; a server that drips for longer than the timeout is cut off."""
        with self._server.faults():
            create = self._client.chat.completions.create
            with create(**arguments, stream=True, stream_options={"include_usage": True}) as stream:
                for chunk in stream:
                    if time.monotonic() - started > self._settings.timeout:
                        raise self._server.too_slow()
                    yield chunk


@dataclass(slots=True)
class _Answer:
    """What has come so far. The SDK builds its records without checking them, so every field is looked at twice."""

    usage: object = None
    reason: str | None = None
    refused: bool = False
    begun: bool = False
    first_token_seconds: float | None = None
    pieces: list[str] = field(default_factory=list)

    def take(self, choice: object, part: str) -> str:
        """Keep the text of a choice and return it; reasoning shows that the answer has begun and is left out."""
        said = getattr(choice, part, None)
        refusal, thought = _text(said, "refusal"), _text(said, "reasoning_content") or _text(said, "reasoning")
        piece = _text(said, "content") or refusal
        self.pieces.append(piece)
        self.refused = self.refused or bool(refusal)
        self.begun = self.begun or bool(piece or thought)
        self.reason = _text(choice, "finish_reason") or self.reason
        return piece

    @property
    def finish(self) -> Finish:
        if self.refused or self.reason == "content_filter":
            return "refused"
        if self.reason == "length":
            return "length"
        return "stop" if any(piece.strip() for piece in self.pieces) else "empty"


@dataclass(frozen=True, slots=True)
class _Server:
    """Who is asked, for messages about what went wrong; they hold neither keys nor anything the server wrote."""

    card: ModelCard
    url: str
    timeout_seconds: float

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Turns the SDK's errors into ModelError, without their cause: its text may hold a part of key or answer."""
        from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAIError  # noqa: PLC0415 (heavy)

        try:
            yield
        except APITimeoutError:
            raise self.too_slow() from None
        except APIConnectionError as error:
            nobody = type(error.__cause__).__name__ == "ConnectError"
            raise (self._no_connection() if nobody else self.broke_off()) from None
        except APIStatusError as error:
            raise self._status(error.status_code, error.code) from None
        except (OpenAIError, JSONDecodeError, UnicodeDecodeError):
            raise self.broke_off() from None

    def _status(self, status: int, code: str | None) -> ModelError:
        # A code is one word of the protocol; anything longer may quote the request.
        word = f" ({code})" if code and re.fullmatch(r"[a-z][a-z_]{2,40}", code) else ""
        message = f"{self._who} answered {status}{word}. {self._cure(status)}"
        return ModelError(message, retryable=_may_pass(status))

    def _cure(self, status: int) -> str:
        fetch = PROVIDERS[self.card.provider].fetch
        refused = f"It does not accept the request: check the model, its context length, and {self._variable}."
        cures = {
            401: self._key_cure(),
            403: self._key_cure(),
            404: f"It has no such model: {fetch}; or {self._variable} is wrong.",
            429: "Too many requests, or no credit left: wait, ask for less at once, or look at the account.",
        }
        return cures.get(status, LATER if _may_pass(status) else refused)

    def _key_cure(self) -> str:
        if self.card.provider == "openai":
            return f"Set OPENAI_API_KEY to a key that may use {self.card.name}."
        return f"It wants a key: set OPENAI_BASE_URL to it, OPENAI_API_KEY, and ask for openai/{self.card.name}."

    def _no_connection(self) -> ModelError:
        start = PROVIDERS[self.card.provider].start
        message = f"Nothing answers at {self.url}, asked for {self.card.id}. {start}, or correct {self._variable}."
        return ModelError(message, retryable=not is_loopback(self.url))

    def too_slow(self) -> ModelError:
        cure = "Raise KODERZ_TIMEOUT or use a faster model."
        return ModelError(f"{self._who} took longer than {self.timeout_seconds:g} s. {cure}", retryable=True)

    def broke_off(self) -> ModelError:
        return ModelError(f"{self._who} broke off before its answer was whole. {LATER}", retryable=True)

    def not_a_chat(self) -> ModelError:
        return ModelError(f"{self._who} sent no chat completion. Check {self._variable}.")

    @property
    def _who(self) -> str:
        return f"{self.url}, asked for {self.card.id},"

    @property
    def _variable(self) -> str:
        ending = "" if self.card.provider == "ollama" else " (it usually ends in /v1)"
        return f"{self.card.provider.upper()}_BASE_URL{ending}"


def _key(key: SecretStr | None, base_url: str) -> str:
    text = key.get_secret_value().strip() if key else ""
    if not text and is_openai(base_url):
        raise ModelError(
            "OPENAI_API_KEY is not set, and OpenAI answers nobody without a key. Set it in the environment or .env, "
            "or use a local model: `koderz models list` shows what is ready."
        )
    if not text.isascii():
        raise ModelError("OPENAI_API_KEY holds characters that no key has. Copy it anew.")
    return text or "local-servers-ask-for-none"


def _may_pass(status: int) -> bool:
    return status in (408, 409, 429) or status >= 500


def _choice(reply: object) -> object:
    choices = getattr(reply, "choices", None)
    return choices[0] if isinstance(choices, list) and choices else None


MOST_TOKENS = 1 << 53  # a count beyond this is a server's mistake


def _usage(reported: object) -> Usage:
    # Ollama reports 0 prompt tokens when it does not know them (its issue 2068); no chat has an empty prompt.
    details = getattr(reported, "prompt_tokens_details", None)
    return Usage(
        input_tokens=_count(reported, "prompt_tokens") or None,
        output_tokens=_count(reported, "completion_tokens"),
        cache_read_tokens=_count(details, "cached_tokens"),
        cache_write_tokens=_count(details, "cache_write_tokens"),
    )


def _count(record: object, name: str) -> int | None:
    value = getattr(record, name, None)
    return value if isinstance(value, int) and 0 <= value < MOST_TOKENS else None


def _text(record: object, name: str) -> str:
    """A text of a record of the SDK, "" if it is missing; lone surrogates, which no file can hold, become "?"."""
    value = getattr(record, name, None)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""

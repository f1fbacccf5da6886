"""The one door between models and the rest of koderz: no key comes in by it, and none gets out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from koderz_core.protocols import Model, OnText
from koderz_core.records import Completion, Request
from koderz_core.redaction import Redaction


class GuardedModel:
    """A model whose prompts, answers, streamed pieces and errors are redacted before anybody else has them."""

    def __init__(self, model: Model, redaction: Redaction) -> None:
        self._model, self._redaction = model, redaction

    @property
    def id(self) -> str:
        return self._model.id

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """As the model. ``on_text`` hears of every piece, of one that is held back as "": it may want to end the call.

        What is held back is heard with a later piece, or in the end.
        """
        stream = self._redaction.stream()
        try:
            completion = self._model.complete(
                self._sent(request), on_text and (lambda piece: on_text(stream.take(piece)))
            )
        except Exception as error:
            for one in _chain(error):
                one.args = tuple(self._redaction.text(part) if isinstance(part, str) else part for part in one.args)
            raise
        if on_text and (rest := stream.rest()):
            on_text(rest)
        tier = completion.usage.service_tier
        usage = replace(completion.usage, service_tier=tier and self._redaction.text(tier))
        return replace(completion, text=self._redaction.text(completion.text), usage=usage)

    def _sent(self, request: Request) -> Request:
        clean = (replace(message, content=self._redaction.prompt(message.content)) for message in request.messages)
        return replace(request, messages=tuple(clean))

    def close(self) -> None:
        """As the model."""
        self._model.close()


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and all that led to it, which a log shows too."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__

"""Finds prompts that cannot fit a model's context before they are sent, and paid for."""

from __future__ import annotations

from koderz_core.errors import ContextError
from koderz_core.records import Request

MOST_BYTES_PER_TOKEN = 8
"""No tokenizer gets more out of a whole prompt of prose and code, its runs of white space counted as one: they get 3
to 5. So what is refused surely would not fit; what is only nearly too long is the provider's to refuse."""


def check_fits(model: str, request: Request, context_tokens: int | None) -> None:
    """Raise ContextError if a prompt is surely longer than the context of ``model``; None: that is not known."""
    least = least_tokens(request)
    if context_tokens is not None and least > context_tokens:
        raise ContextError(
            f"The prompt for {model} has at least {least} tokens and its context {context_tokens}, so it was not sent. "
            "Use a strategy with shorter prompts, a model with more context, or raise --num-ctx where that sets it."
        )


def least_tokens(request: Request) -> int:
    """Fewer tokens than a prompt has, whatever the tokenizer."""
    return sum(len(" ".join(one.content.split()).encode()) for one in request.messages) // MOST_BYTES_PER_TOKEN

"""The specification that an experiment's prompts are built on: recalled where there is one, else asked for."""

from __future__ import annotations

from koderz_core.events import SpecWritten
from koderz_core.prompts import spec
from koderz_core.protocols import Context
from koderz_core.records import Query, Sampling

ADVICE_TEMPERATURE = 0.0
"""Of specs and reviews, whatever the coder's is: the coder's temperature is compared, and must not change them too."""
ADVICE_TOKENS = 2048
"""Of a spec or a review: more than is asked for, since models think first, yet a quarter of a context of 8,192."""


def specification(ctx: Context, prompt: str, tokens: int = ADVICE_TOKENS, *, reuse: bool = False) -> str:
    """Its text, noted with where it comes from. ``prompt``: one of ``spec.PROMPTS``; ``tokens``: the most of them."""
    note = (_recalled(ctx, prompt) if reuse else None) or _written(ctx, prompt, tokens)
    ctx.note(note)
    return note.text


def _recalled(ctx: Context, prompt: str) -> SpecWritten | None:
    for memory in ctx.recall(Query("spec", {"prompt": prompt}, limit=1)):
        if text := spec.text_of(memory.text):
            return SpecWritten(text, prompt, memory.origin)
    return None


def _written(ctx: Context, prompt: str, tokens: int) -> SpecWritten:
    reply = ctx.ask("spec", spec.write(ctx.problem, prompt), Sampling(ADVICE_TEMPERATURE, max_tokens=tokens))
    return SpecWritten(spec.text_of(reply.text), prompt, finish=reply.finish)

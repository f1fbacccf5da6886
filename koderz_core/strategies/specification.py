"""The specification that an experiment's prompts are built on: recalled where there is one, else asked for."""

from __future__ import annotations

from koderz_core.events import SpecWritten
from koderz_core.prompts import spec
from koderz_core.protocols import Context
from koderz_core.records import Query, Sampling


def specification(ctx: Context, prompt: str, sampling: Sampling, *, reuse: bool = False) -> str:
    """Its text, noted with where it comes from. ``prompt``: one of ``spec.PROMPTS``."""
    note = (_recalled(ctx, prompt) if reuse else None) or _written(ctx, prompt, sampling)
    ctx.note(note)
    return note.text


def _recalled(ctx: Context, prompt: str) -> SpecWritten | None:
    for memory in ctx.recall(Query("spec", {"prompt": prompt}, limit=1)):
        if text := spec.text_of(memory.text):
            return SpecWritten(text, prompt, memory.origin)
    return None


def _written(ctx: Context, prompt: str, sampling: Sampling) -> SpecWritten:
    return SpecWritten(spec.text_of(ctx.ask("spec", spec.write(ctx.problem, prompt), sampling).text), prompt)

"""A model's reply without what is not its answer: thoughts, control tokens, foreign line ends."""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
MAX_TOKENS_CUT = 8


def answer(reply: str) -> str:
    """The text behind ``<think>...</think>`` and between several of them; lines end in ``\\n``.

    A thought that is never closed hides all that follows. An end without a beginning hides all before it: chat
    templates often put the beginning into the prompt.
    """
    text = reply.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    return _without_end_tokens(_without_thoughts(text))


def _without_thoughts(text: str) -> str:
    kept: list[str] = []
    start, thinking = 0, False
    for tag in _TAG.finditer(text):
        closing = bool(tag[1])
        if not thinking and not _alone(text, tag.start(), tag.end(), closing):
            continue
        if closing:
            start = tag.end()
        elif not thinking:
            kept.append(text[start : tag.start()])
        thinking = not closing
    return "".join(kept if thinking else [*kept, text[start:]])


def _alone(text: str, start: int, end: int, closing: bool) -> bool:
    """Tags stand at the start of a line, closing ones perhaps at its end; others are part of a sentence or program."""
    before = text[max(0, start - 40) : start].rpartition("\n")[2]
    after = text[end : end + 40].partition("\n")[0]
    return not before.strip() or (closing and not after.strip())


def _without_end_tokens(text: str) -> str:
    """``<|im_end|>`` and its kin, which some servers leave at the end."""
    for _ in range(MAX_TOKENS_CUT):
        text = text.rstrip()
        if text.endswith("</s>"):
            text = text[:-4]
        elif text.endswith("|>") and (start := text.rfind("<|", len(text) - 60)) >= 0:
            text = text[:start]
        else:
            break
    return text

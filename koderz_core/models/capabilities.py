"""What a model accepts and how much fits into it, and the part of a request's sampling that it is sent."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from msgspec import UnsetType

from koderz_core.config import Settings
from koderz_core.errors import ModelError
from koderz_core.models.models_file import Thinking, stated
from koderz_core.records import Request, Sampling
from koderz_core.records.completions import EFFORTS


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model accepts. ``context_tokens``: prompt and answer together, None if unknown.

    ``both``: temperature and top_p in one request. ``effort``: the words for its reasoning effort, and ``TOKENS`` if it
    accepts a number of tokens. ``exclusive``: it accepts temperature and top_p only while it does not think.
    ``thinking_tokens``: added to the limit of an answer, because thoughts count towards that limit.
    ``default_tokens``: the limit if the request has none but the protocol requires one. ``cache``: the provider may
    read prompts from a cache and bill them accordingly.
    """

    context_tokens: int | None = None
    temperature: bool = True
    top_p: bool = True
    both: bool = True
    seed: bool = True
    effort: tuple[str, ...] = ()
    exclusive: bool = False
    max_tokens_parameter: str = "max_tokens"
    default_tokens: int | None = None
    thinking: Thinking = "never"
    thinking_tokens: int = 0
    streaming: bool = True
    cache: bool = False
    source: str = ""

    def accepts(self, effort: str) -> bool:
        """Whether the model accepts this reasoning effort."""
        fits = effort.isascii() and effort.isdigit() and FEWEST <= int(effort) <= MOST
        return effort in self.effort or (fits and TOKENS in self.effort)

    def under(self, effort: str | UnsetType) -> Capabilities:
        """What the model accepts under a reasoning effort that it accepts."""
        if not effort:
            return self
        calm = effort == EFFORTS[0]
        if calm:
            thoughts = 0
        elif effort.isdigit():
            thoughts = int(effort)
        else:
            thoughts = (self.thinking_tokens or THOUGHTS) * (DEEPER if effort in EFFORTS[-2:] else 1)
        sampled = calm if self.exclusive else self.temperature
        return replace(
            self,
            thinking="never" if calm else "always",
            thinking_tokens=thoughts,
            temperature=sampled,
            top_p=sampled if self.exclusive else self.top_p,
        )


TOKENS = "tokens"
"""Among the efforts of a model: it accepts a number of tokens, the most that it may think."""
FEWEST, MOST = 1_024, 32_000  # Anthropic accepts no smaller number, and advises batches for larger ones
THOUGHTS = 16_384  # room for the thoughts of a model that thinks only if asked to
DEEPER = 2  # times that room for the two highest efforts
LEVELS = ("low", "medium", "high")

Rows = tuple[tuple[str, Capabilities], ...]
"""Patterns of whole model names, each with what such models accept. The first pattern that matches counts."""

MILLION = 1_000_000

# Models that think unless asked not to; (?!...) excludes models of the same family that do not think. Some sellers
# write a dot as p, or put the publisher before the name. The last line matches names that state that the model thinks,
# such as deepseek-reasoner.
THINKERS = (
    r"(?:.*/)?(zai-|nvidia-)?(gpt-oss|qwen-?3(?!\d*b|-coder|-?next-80b-a3b-instruct|.*instruct)|qwq"
    r"|deepseek-(r1|v3[.p][1-9]|v4)|magistral|glm-(4[.p][5-9]|5)|nemotron-3|kimi-k[23]|minimax-m\d).*"
    r"|(?:.*/)?(?!.*(?<![a-z])non?[-_]?(reason|think))[^/]*(reason(er|ing)|think)[^/]*"
)

GPT_OSS = r"(?:.*/)?gpt-oss.*"
ASSUMED = "assumed from the defaults of OpenAI's protocol, because it is unknown which parameters this model supports"
_SERVED_THOUGHTS = 4_096  # such a server refuses a request that could exceed its context, which may be small


def thinker(thoughts: int, source: str, parameter: str = "max_tokens", effort: tuple[str, ...] = ()) -> Capabilities:
    """An open-weights model that thinks for up to ``thoughts`` tokens."""
    return Capabilities(
        max_tokens_parameter=parameter, thinking="optional", thinking_tokens=thoughts, effort=effort, source=source
    )


# Many servers silently ignore an effort for models whose template has none, so only gpt-oss accepts one here.
SERVED: Rows = (
    (GPT_OSS, thinker(_SERVED_THOUGHTS, ASSUMED, effort=LEVELS)),
    (THINKERS, thinker(_SERVED_THOUGHTS, ASSUMED)),
    (".*", Capabilities(source=ASSUMED)),
)
"""Models of any server that speaks OpenAI's protocol."""


def row_of(rows: Rows, name: str) -> Capabilities:
    """The first row that matches a model's name; the last row of every provider matches all names."""
    return next(row for pattern, row in rows if re.fullmatch(pattern, name, re.IGNORECASE))


def with_stated(row: Capabilities, model: str, settings: Settings) -> Capabilities:
    """``row``, corrected by what `models.toml` states of the model (by id). Raises ConfigError if the file is wrong."""
    table = stated(model, settings)
    changes = table.capabilities.model_dump(exclude_none=True)
    if not changes and table.context_tokens is None:
        return row
    if isinstance(efforts := changes.get("effort"), bool):
        changes["effort"] = LEVELS if efforts else ()
    return replace(
        row,
        **changes,
        exclusive=row.exclusive and "temperature" not in changes,
        context_tokens=table.context_tokens or row.context_tokens,
        source=f"{row.source}; models.toml",
    )


def honoured(request: Request, takes: Capabilities) -> Sampling:
    """The part of a request's sampling that a model accepts; its provider would refuse a request with the rest.

    The limit of an answer is raised by the tokens that the model may think, up to half of its context: the limit is
    koderz' own, and thoughts must not use it up. ``check_effort`` refuses an effort that the model does not accept.
    """
    wanted = request.sampling
    takes = takes.under(wanted.effort)
    temperature = wanted.temperature if takes.temperature else None
    top_p = wanted.top_p if takes.top_p and (takes.both or temperature is None) else None
    seed = request.seed if takes.seed else None
    return Sampling(temperature, top_p, _limit(wanted, takes), seed, wanted.effort)


def check_effort(request: Request, model: str, takes: Capabilities) -> None:
    """Raise ModelError for a reasoning effort that the model does not accept, which it might silently ignore."""
    if (effort := request.sampling.effort) and not takes.accepts(effort):
        raise ModelError(f"{model} cannot answer: {refusal(effort, takes)}")


def refusal(effort: str, takes: Capabilities) -> str:
    """Why a model refuses a reasoning effort, and what to do."""
    if not takes.effort:
        return (
            f"it does not accept a reasoning effort ({takes.source}), but the requested effort is {effort!r}. Omit "
            "the effort, choose another model, or, if the model's server accepts efforts, list them in models.toml "
            "(docs/models.md)."
        )
    return f"it does not accept the effort {effort} ({takes.source}). Use {efforts_text(takes)}."


def efforts_text(takes: Capabilities) -> str:
    """The efforts that a model accepts, in words; empty if it accepts none."""
    words = ", ".join(word for word in takes.effort if word != TOKENS)
    tokens = f"a number of tokens from {FEWEST} to {MOST}" if TOKENS in takes.effort else ""
    return " or ".join(filter(None, (words, tokens)))


def _limit(sampling: Sampling, takes: Capabilities) -> int | None:
    wanted, room = sampling.max_tokens, takes.thinking_tokens
    if wanted is None:
        wanted = takes.default_tokens
        if wanted is None or not sampling.effort:  # the default includes the usual thoughts, but not those of an effort
            return wanted
    if takes.context_tokens is not None:
        room = min(room, max(0, takes.context_tokens // 2 - wanted))
    return wanted + room

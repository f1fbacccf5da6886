"""OpenAI's models, and those of any other server that speaks its protocol at ``OPENAI_BASE_URL``."""

from __future__ import annotations

from koderz_core.config import Settings
from koderz_core.models.capabilities import ASSUMED, LEVELS, MILLION, SERVED, THOUGHTS, Capabilities, thinker
from koderz_core.models.connection import is_at
from koderz_core.models.openai_compatible import compatible
from koderz_core.models.provider import Advice, Key

# Context windows: genai-prices 0.2.3, November 2026. Accepted parameters: the API reference, read in November 2026.
# Newer models are assumed to be like the newest known.
_SOURCE = "OpenAI's API reference, November 2026"
_SOME = ("none", *LEVELS, "xhigh")
_THOUGHTS = 25_000  # OpenAI's guide to reasoning advises to leave at least this for thoughts and answer
# Those that always think: all that koderz does not know as models that think only if asked to (anthropic.py).
_CLAUDE = r"claude-(?!instant|[23]\b|(opus|sonnet|haiku)-4|opus-5(-\d{8})?$|(sonnet|haiku)-5([.-]5)?(-\d{8})?$).*"


def _gpt(context: int | None, effort: tuple[str, ...] = (), *, thinks: bool = False) -> Capabilities:
    """``thinks``: unless the ``effort`` is none, and refuses temperature and top_p while it thinks."""
    thinks = thinks or bool(effort)
    return Capabilities(
        context_tokens=context,
        temperature=not thinks,
        top_p=not thinks,
        effort=effort,
        exclusive=thinks,
        max_tokens_parameter="max_completion_tokens",
        thinking=("optional" if "none" in effort else "always") if thinks else "never",
        thinking_tokens=_THOUGHTS if thinks else 0,
        cache=True,
        source=_SOURCE,
    )


def _priciest_tier(settings: Settings) -> str | None:
    """Only OpenAI's own addresses are asked for a tier. Calls to all others have the standard price."""
    tier = "priority" if settings.openai_service_tier == "auto" else settings.openai_service_tier
    is_asked = [is_at(url, PROVIDER.home) for url in PROVIDER.urls(settings)]
    return tier if all(is_asked) or (tier == "priority" and any(is_asked)) else None


PROVIDER = compatible(
    address=lambda settings: settings.openai_base_url,
    advice=Advice(
        start="Check the network and proxy settings",
        fetch="`koderz models list` shows some models of OpenAI",
        key="Set OPENAI_API_KEY to a key that may use MODEL.",
        variable="OPENAI_BASE_URL (ends in /v1)",
    ),
    key=Key("OPENAI_API_KEY", "OpenAI"),
    home="api.openai.com",
    ready="OPENAI_API_KEY is set",
    # Names worth offering (the publisher's price page, November 2026). Other models of OpenAI work as well.
    names=(
        "gpt-6-astra",
        "gpt-6.1-sol",
        "gpt-6.1-terra",
        "gpt-6-luna",
        "gpt-5-mini",
        "gpt-5-nano",
        "gpt-4.1",
        "gpt-4.1-mini",
        "gpt-4.1-nano",
        "gpt-4o",
        "gpt-4o-mini",
    ),
    typed=r"(ft:)?(gpt-(?!oss)|chatgpt-|o\d)[^/\s]*",
    rows=(
        (r"(ft:)?gpt-5(\.[0-3])?-(chat|pro).*", _gpt(400_000, thinks=True)),  # few efforts, which differ by model
        (r"(ft:)?gpt-5\.4-(mini|nano).*", _gpt(400_000, _SOME)),
        (r"(ft:)?gpt-5\.4.*", _gpt(1_050_000, _SOME)),
        (r"(ft:)?gpt-5\.5.*", _gpt(MILLION, _SOME)),
        (r"(ft:)?gpt-(5\.[6-9]|6).*", _gpt(1_050_000, (*_SOME, "max"))),
        (r"(ft:)?gpt-5\.\d-codex.*", _gpt(400_000, LEVELS)),
        (r"(ft:)?gpt-5\.1.*", _gpt(400_000, ("none", *LEVELS))),
        (r"(ft:)?gpt-5\..*", _gpt(400_000, _SOME)),
        (r"(ft:)?gpt-5.*", _gpt(400_000, ("minimal", *LEVELS))),
        (r"(ft:)?gpt-([7-9]|\d\d).*", _gpt(None, (*_SOME, "max"))),
        (r"(ft:)?o1-(mini|preview).*", _gpt(128_000, thinks=True)),
        (r"(ft:)?o\d.*", _gpt(200_000, LEVELS)),
        (r"(ft:)?gpt-4\.1.*", _gpt(MILLION)),
        (r"(ft:)?gpt-4(o|-turbo).*", _gpt(128_000)),
        (r"(ft:)?gpt-3\.5.*", _gpt(16_385)),
        (r"(ft:)?(gpt-4|chatgpt-).*", _gpt(None)),
        # Other publishers' models that think by default, behind a router or at their own address.
        (r"gemini-(2\.5-(?!flash-lite)|[3-9]|(flash|pro)-latest).*", thinker(_THOUGHTS, ASSUMED)),
        (r"grok-(?!.*non-reasoning)([4-9]|3-mini|code).*", thinker(_THOUGHTS, ASSUMED)),
        (
            _CLAUDE,
            Capabilities(temperature=False, top_p=False, thinking="always", thinking_tokens=THOUGHTS, source=ASSUMED),
        ),
        *SERVED,
    ),
    priciest_tier=_priciest_tier,
)

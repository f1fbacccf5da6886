"""Removes keys from texts: the keys in the settings, and texts that have the form of an issuer's keys.

A key in the settings is found as it is, escaped as in JSON and addresses, and in Base64 at any position of the encoded
text. Not covered: a key in parts, in any other encoding, or shorter than ``SHORTEST`` characters, as words are.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

MASK = "[secret]"
SHORTEST = 8
SHORTEST_ISSUED = 7
"""The length of the shortest key that is recognised by its form alone, with its context: ``//:abc@``."""
MOST_HELD = 8192
"""The maximum number of characters of a streamed text that are held back because they may become a key."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """Keys of one issuer: how they start, what follows in a certain key, and what follows in a possible one."""

    starts: tuple[str, ...]
    certain: str
    guessed: str


_KINDS = (
    # OpenAI, Anthropic, OpenRouter and others that use the same form
    _Kind(("sk-",), r"(?:(?:proj|svcacct|admin|ant|or)-[\w-]{16,}|(?=[\w-]*\d)[\w-]{20,})", r"[\w-]{8,}"),
    _Kind(("sk_live_", "sk_test_", "rk_live_", "rk_test_"), r"[A-Za-z0-9]{16,}", r"\w{8,}"),  # Stripe
    _Kind(("xox",), r"[a-z]-(?=[\w-]*\d)[\w-]{16,}", r"[a-z]-[\w-]+"),  # Slack
    _Kind(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"[A-Za-z0-9]{30,}", r"\w{20,}"),  # GitHub
    _Kind(("github_pat_",), r"\w{30,}", r"\w+"),
    _Kind(("gsk_", "npm_"), r"[A-Za-z0-9]{30,}", r"\w{20,}"),  # Groq, npm
    _Kind(("xai-", "pplx-", "r8_"), r"[A-Za-z0-9]{30,}", r"\w{20,}"),  # xAI, Perplexity, Replicate
    _Kind(("nvapi-",), r"[\w-]{30,}", r"[\w-]{20,}"),  # NVIDIA
    _Kind(("pypi-AgE",), r"[\w-]{30,}", r"[\w-]+"),  # PyPI
    _Kind(("hooks.slack.com/",), r"(?:services|workflows|triggers)/[\w/-]{16,}", r"[\w/-]+"),
    _Kind(("glpat-",), r"[\w-]{20,}", r"[\w-]+"),  # GitLab
    _Kind(("hf_",), r"[A-Za-z0-9]{30,}", r"\w{20,}"),  # Hugging Face
    _Kind(("AKIA", "ASIA"), r"[0-9A-Z]{16}(?![0-9A-Za-z])", r"[0-9A-Z]{16}"),  # AWS
    _Kind(("AIza",), r"[\w-]{30,}", r"[\w-]{30,}"),  # Google
    _Kind(("eyJ",), r"[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*", r"[\w-]{10,}\.[\w-]+\.[\w-]*"),  # JSON web tokens
)
_STARTS = tuple(start for kind in _KINDS for start in kind.starts)
_WORDS = ("bearer", "authorization")  # in any case
_HINTS = (*_STARTS, "//", "-----BEGIN ")
_TOKEN = r"[\w.~+/=-]"  # noqa: S105 (the characters of a token)
_BASE64 = r"[A-Za-z0-9+/=_-]"
_QUOTE = r"\\?[\"']"
_LOGIN = r"[^\s/?#@'\"<>{}\[\]\\]"  # the letters of a user, a colon and a password in an address
_HEADER, _FOOTER = (rf"-----{word} [A-Z0-9 ]{{0,30}}PRIVATE KEY(?: BLOCK)?-----" for word in ("BEGIN", "END"))
_BOUND = r"(?<![^\W_])(?<!-)"  # no letter, digit or hyphen is before it


def _any(texts: Iterable[str]) -> str:
    """A pattern of any of the texts. The longest is first, because the first alternative that matches counts."""
    return "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))


def _beginnings(words: Iterable[str]) -> set[str]:
    return {word[:length] for word in words for length in range(1, len(word))}


_CERTAIN = re.compile(
    rf"{_BOUND}(?:{'|'.join(f'(?:{_any(kind.starts)}){kind.certain}' for kind in _KINDS)}"
    rf"|(?i:bearer)(?:\s+|{_QUOTE}\s*[:=]\s*{_QUOTE})(?={_TOKEN}*\d){_TOKEN}{{20,}}"
    rf"|(?P<kept>(?i:authorization)(?:{_QUOTE})?\s*[:=,]\s*(?:{_QUOTE})?)(?i:basic)\s+{_BASE64}{{6,}}(?!{_BASE64}))"
    rf"|(?<=://){_LOGIN}*:{_LOGIN}{{3,}}(?=@)"
    rf"|{_HEADER}(?:(?:(?!-----BEGIN )[\s\S]){{0,{MOST_HELD}}}?{_FOOTER}|(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{{40,}})*)"
)
_GUESSED = re.compile(rf"{_BOUND}(?:{'|'.join(f'(?:{_any(kind.starts)}){kind.guessed}' for kind in _KINDS)})")
_OPEN = re.compile(  # the end of a text that may continue as a key
    rf"{_BOUND}(?:(?:{_any(_STARTS)}){_TOKEN}*+|(?i:bearer)[\s\\\"':=]*+{_TOKEN}*+"
    rf"|(?i:authorization)[\s\\\"':=,]*+(?:[A-Za-z]++(?:\s++{_TOKEN}*+)?)?"
    rf"|{_any(_beginnings(_STARTS))}|(?i:{_any(_beginnings(_WORDS))}))\Z"
    rf"|//?\Z|//{_LOGIN}+\Z"
    rf"|(?:{_any(_beginnings(['-----BEGIN ']))}|-----BEGIN [A-Z0-9 ]{{0,50}}-{{0,5}})\Z"
    rf"|{_HEADER}(?:(?!{_FOOTER})[\s\S])*\Z"
)


class Redaction:
    """Masks given keys, and texts that certainly are keys. Thread-safe."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known = _in_all_forms(tuple(secret for secret in secrets if len(secret) >= SHORTEST))
        self._sorted = sorted(self._known)
        self._longest = max(map(len, self._known), default=0)
        self._heads = frozenset(form[:length] for form in self._known for length in (1, 2))
        self.prompt = lru_cache(maxsize=256)(self.text)
        """As ``text``, cached for texts that occur again and again."""

    def text(self, text: str, *, before: str = "") -> str:
        """The text without keys. ``before``: the character before the text."""
        text = _replaced(text, self._known) if len(text) >= SHORTEST else text
        if len(text) < SHORTEST_ISSUED or not _may_hold_a_key(text):
            return text  # the usual case, decided at a fraction of the cost
        before = "a" if re.match(r"[^\W_]|-", before) else before if before == ":" else ""
        return _CERTAIN.sub(_mask, before + text)[len(before) :]

    def stream(self) -> Stream:
        """For one text that arrives in pieces."""
        return Stream(self)

    def settled(self, text: str) -> int:
        """The length of the text's start that cannot become part of a key, whatever follows."""
        tails = range(max(0, len(text) - self._longest), len(text))
        end = next((at for at in tails if text[at : at + 2] in self._heads and self._may_go_on(text[at:])), len(text))
        unknown = _replaced(text, self._known, lambda key: "]" * len(key))
        open_ = _OPEN.search(unknown)
        if open_ and len(text) - open_.start() <= MOST_HELD:
            end = min(end, open_.start())
        end = self._between_keys(text, end)
        if end == len(text):
            return end
        within = (found.start() for found in _CERTAIN.finditer(unknown) if found.start() < end <= found.end())
        return self._between_keys(text, min(within, default=end))

    def _may_go_on(self, tail: str) -> bool:
        at = bisect_left(self._sorted, tail)
        return any(form != tail and form.startswith(tail) for form in self._sorted[at : at + 2])

    def _between_keys(self, text: str, end: int) -> int:
        """``end``, or the start of the key that contains it."""
        while end < len(text):
            within = [at for form in self._known if 0 <= (at := text.find(form, max(0, end - len(form) + 1))) < end]
            if not within:
                break
            end = min(within)
        return end


class Stream:
    """A text that arrives in pieces, shown as soon as it can no longer be part of a key."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._held = ""
        self._before = ""

    def take(self, piece: str) -> str:
        """The text that can be shown now; "" if the piece has to wait for the next one."""
        self._held += piece
        return self._let_out(self._redaction.settled(self._held))

    def rest(self) -> str:
        """The rest of the text, after the last piece."""
        return self._let_out(len(self._held))

    def _let_out(self, length: int) -> str:
        shown = self._redaction.text(self._held[:length], before=self._before)
        self._held = self._held[length:]
        self._before = shown[-1:] or self._before
        return shown


@lru_cache(maxsize=8)
def redaction_of(secrets: tuple[str, ...]) -> Redaction:
    """A redaction of these secrets, cached."""
    return Redaction(secrets)


def without(text: str, secrets: Iterable[str]) -> str:
    """The text with every occurrence of these secrets masked, even of short ones."""
    return _replaced(text, _in_all_forms(tuple(secrets)))


def without_shapes(text: str) -> str:
    """The text without possible keys, for texts in which a missing word does no harm."""
    return _GUESSED.sub(MASK, _CERTAIN.sub(_mask, text))


def _mask(found: re.Match[str]) -> str:
    return (found["kept"] or "") + MASK


def _may_hold_a_key(text: str) -> bool:
    small = text.lower()
    return any(hint in text for hint in _HINTS) or any(word in small for word in _WORDS)


def _replaced(text: str, secrets: Iterable[str], by: Callable[[str], str] = lambda _: MASK) -> str:
    """``secrets``: the longest first, because one may be the start of another."""
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, by(secret))
    return text


@lru_cache(maxsize=8)
def _in_all_forms(secrets: tuple[str, ...]) -> tuple[str, ...]:
    forms = {form for secret in secrets if secret for form in _forms(secret)}
    return tuple(sorted(forms, key=len, reverse=True))


def _forms(secret: str) -> Iterator[str]:
    """A secret as it is, and in the encodings of other texts."""
    yield secret
    if len(secret) >= SHORTEST:
        yield json.dumps(secret)[1:-1]
        yield quote(secret, safe="")
        for before in range(3):  # the number of bytes before it in its group of three
            raw = bytes(before) + secret.encode()
            encoded = b64encode(raw).decode()[(0, 2, 3)[before] : len(raw) * 8 // 6]
            yield encoded
            yield encoded.replace("+", "-").replace("/", "_")

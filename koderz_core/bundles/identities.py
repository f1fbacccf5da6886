"""Masks in texts what tells whose machine they come from: paths, hosts, user names, addresses of mail.

What looks like a path is a guess: two names behind slashes are one, a name alone is not. Loopback addresses stay, and
those of the two providers that everybody reaches at the same place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

PATH, HOST, USER = "[path]", "[host]", "[user]"
_COMMON = re.compile(  # names that tell nothing of anybody, and some are words of koderz
    "(?i)root|users?|admin|administrator|ubuntu|debian|home|tests?|guest|nobody|coder|local|localhost|frontier|embedded"
    "|ollama|openai|anthropic|koderz|python|node|app|dev|main"
)
_SHORTEST = 3  # letters: a shorter name is part of too many words
_PATHS = re.compile(
    r"file://[^\s\"'<>|]+"
    r"|(?<![\w./~\]])(?:~[\w-]*)?(?:/[\w.@+~%-]+){2,}/?"  # POSIX; what stands behind :// is a host
    r"|(?<!\w)~/[\w.@+~%-]+"
    r"|(?<!\w)/(?:root|home|Users|tmp|mnt|opt|srv|media|private)\b"
    r"|(?<!\w)[A-Za-z]:[\\/]{1,2}[\w.@+~%\\/-]+"
    r"|\\\\[\w.-]+\\[\w.$@+~%\\-]+"
)
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_OPEN = r"(?:localhost|127\.0\.0\.1|\[::1\]|api\.openai\.com|api\.anthropic\.com)(?![\w.-])"
_ADDRESSES = re.compile(rf"(?<=://)(?!{_OPEN})(?:\[[0-9a-fA-F:]+\]|[\w.-]+)(:\d+)?")
_NUMBERS = re.compile(r"(?<![\w.])(?!127\.0\.0\.1(?![\w.])|0\.0\.0\.0(?![\w.]))(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")


@dataclass(frozen=True, slots=True)
class Identities:
    """Whose machine this is, and the keys set on it: what must not be read out of a bundle."""

    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def masked(self, text: str) -> str:
        """The text without any of them but the secrets, which are the others' to mask."""
        for folder in sorted(self.folders, key=len, reverse=True):
            if len(folder) > _SHORTEST:
                text = re.sub(rf"{re.escape(folder)}[\w./@+~%-]*", PATH, text)
        text = _MAIL.sub(USER, _PATHS.sub(PATH, text))
        text = _NUMBERS.sub(HOST, _ADDRESSES.sub(HOST, text))
        return _named(_named(text, self.hosts, HOST), self.users, USER)


def _named(text: str, names: Iterable[str], mask: str) -> str:
    telling = [name for name in names if len(name) >= _SHORTEST and not _COMMON.fullmatch(name)]
    for name in sorted(telling, key=len, reverse=True):
        text = re.sub(rf"(?i)(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", mask, text)
    return text

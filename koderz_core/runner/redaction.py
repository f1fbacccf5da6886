"""Takes the user's keys out of what programs gave back, before it is journalled or shown to a model.

A program that finds a key (an unprivileged one cannot, root can) must not get it out through its answer.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from koderz_core.records import Verdict

_VERDICTS = msgspec.json.Decoder(Verdict)


class Redactor:
    """Replaces every occurrence of some secrets; without any it does nothing."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = tuple(secret.encode() for secret in secrets if len(secret) >= 8)  # shorter ones are words

    def verdict(self, verdict: Verdict) -> Verdict:
        """The verdict without the secrets in any of its texts."""
        if not self._secrets:
            return verdict
        raw = msgspec.json.encode(verdict)
        clean = raw
        for secret in self._secrets:
            clean = clean.replace(secret, b"[secret]")
        return verdict if clean == raw else _VERDICTS.decode(clean)


NOTHING_SECRET = Redactor(())

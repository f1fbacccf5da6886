"""The judge of this machine, opened when the first program is to be judged: the best tier that really holds here."""

from __future__ import annotations

import threading
from typing import Literal

from koderz_core.errors import SandboxError
from koderz_core.records import Isolation
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.tiers import Standing, probe

Wanted = Literal["auto", "hardened", "strong", "limited"]


class Sandbox:
    """Opens one judge. May be used from any thread."""

    def __init__(self, wanted: Wanted, bwrap: str | None, timeout_seconds: float) -> None:
        """``wanted``: a tier, or ``auto`` for the best but ``limited``, which takes consent. ``bwrap``: bubblewrap."""
        self._wanted, self._bwrap, self._timeout_seconds = wanted, bwrap, timeout_seconds
        self._guard = threading.Lock()  # guards the judge: two threads must not open two
        self._judge: BoxedJudge | None = None
        self._closed = False

    def judge(self) -> BoxedJudge:
        """Raises SandboxError if the tier that is wanted does not hold here, or none does without consent."""
        with self._guard:
            if self._closed:
                raise SandboxError("This workspace has been closed, so it judges nothing more. Open another one.")
            if self._judge is None:
                tier = choose(self._wanted, probe(self._bwrap))
                self._judge = BoxedJudge(tier, self._bwrap, timeout_seconds=self._timeout_seconds)
            return self._judge

    def close(self) -> None:
        """End every worker now; who waits for one gets a SandboxError. Idempotent."""
        with self._guard:
            self._closed = True
            if self._judge:
                self._judge.close()


def choose(wanted: Wanted, standings: tuple[Standing, ...]) -> Isolation:
    """The tier to judge in. Raises SandboxError, which says what is missing and what to do."""
    reasons = {standing.isolation: standing.reason for standing in standings}
    if wanted != "auto":
        if reasons[wanted]:
            raise SandboxError(f"The sandbox tier `{wanted}` does not hold here: {reasons[wanted]}.")
        return wanted
    for tier in ("hardened", "strong"):
        if not reasons[tier]:
            return tier
    raise SandboxError(
        f"No strong sandbox holds here (hardened: {reasons['hardened']}; strong: {reasons['strong']}). The programs "
        "that models write could read your files and use your network. If you consent to that, set "
        'KODERZ_SANDBOX=limited, or sandbox = "limited" in settings.toml; every result is marked with it.'
    )

"""The judge of this machine, opened when the first program is to be judged: the best tier that really holds here."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from koderz_core.errors import SandboxError
from koderz_core.records import Isolation, Problem
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.selftest import SelfTest, full, quick
from koderz_core.sandbox.tiers import Standing, probe

Wanted = Literal["auto", "hardened", "strong", "limited"]


@dataclass(frozen=True, slots=True)
class Examined:
    """What the sandbox is worth here: every tier, the one that is used, and its self-test.

    ``used`` None: none can be, and ``trouble`` says why and what to do; there is no self-test then.
    """

    tiers: tuple[Standing, ...]
    used: Isolation | None = None
    trouble: str = ""
    self_test: SelfTest | None = None


class Sandbox:
    """Opens one judge. May be used from any thread."""

    def __init__(self, wanted: Wanted, bwrap: str | None, timeout_seconds: float) -> None:
        """``wanted``: a tier, or ``auto`` for the best but ``limited``, which takes consent. ``bwrap``: bubblewrap."""
        self._wanted, self._bwrap, self._timeout_seconds = wanted, bwrap, timeout_seconds
        self._guard = threading.Lock()  # guards the judge: two threads must not open two
        self._judge: BoxedJudge | None = None
        self._self_test: SelfTest | None = None
        self._closed = False

    def judge(self) -> BoxedJudge:
        """A judge that has passed its self-test.

        Raises SandboxError if the tier that is wanted does not hold here, or none does without consent, or if the
        self-test fails.
        """
        with self._guard:
            if self._closed:
                raise SandboxError("This workspace has been closed, so it judges nothing more. Open another one.")
            if self._judge is None:
                judge = self._opened(choose(self._wanted, probe(self._bwrap)))
                self._self_test = quick(judge)
                if not self._self_test.passed:
                    judge.close()
                    raise SandboxError(refusal(self._self_test))
                self._judge = judge
            return self._judge

    def self_test(self) -> SelfTest:
        """What the judge came through when it was opened. Raises as ``judge``."""
        self.judge()
        assert self._self_test
        return self._self_test

    def examined(self, problems: Sequence[Problem] = ()) -> Examined:
        """All that can be told of the sandbox here, with a judge of its own; nothing is raised.

        With ``problems`` the self-test is the long one, on their canonical solutions too.
        """
        tiers = probe(self._bwrap)
        try:
            judge = self._opened(choose(self._wanted, tiers))
        except SandboxError as error:
            return Examined(tiers, trouble=str(error))
        try:
            return Examined(tiers, judge.isolation, self_test=full(judge, problems) if problems else quick(judge))
        finally:
            judge.close()

    def close(self) -> None:
        """End every worker now; who waits for one gets a SandboxError. Idempotent."""
        with self._guard:
            self._closed = True
            if self._judge:
                self._judge.close()

    def _opened(self, tier: Isolation) -> BoxedJudge:
        return BoxedJudge(tier, self._bwrap, timeout_seconds=self._timeout_seconds)


def choose(wanted: Wanted, standings: tuple[Standing, ...]) -> Isolation:
    """The tier to judge in. Raises SandboxError, which says what is missing and what to do."""
    reasons = {standing.isolation: standing.reason for standing in standings}
    if wanted != "auto":
        if reasons[wanted]:
            raise SandboxError(
                f"The sandbox tier `{wanted}` does not hold here: {reasons[wanted]}. "
                "Mend that, or unset KODERZ_SANDBOX: the best tier that holds is taken then."
            )
        return wanted
    for tier in ("hardened", "strong"):
        if not reasons[tier]:
            return tier
    raise SandboxError(
        f"No strong sandbox holds here (hardened: {reasons['hardened']}; strong: {reasons['strong']}). The programs "
        "that models write could read your files and use your network. If you consent to that, set "
        'KODERZ_SANDBOX=limited, or sandbox = "limited" in settings.toml; every result is marked with it.'
    )


def refusal(self_test: SelfTest) -> str:
    """Why a judge that has failed its self-test judges nothing."""
    first = self_test.failures[0]
    return (
        f"The grader failed its self-test ({self_test.isolation}, {self_test.score}): {first.group}: {first.name}: "
        f"{first.seen[:300]}. Its verdicts cannot be trusted, so nothing is judged. Run `koderz doctor --grader`."
    )

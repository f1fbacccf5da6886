"""The judge of this machine, opened for the first program, at the best tier that this machine supports."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from koderz_core.errors import SandboxError
from koderz_core.records import Isolation, Problem
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.selftest import SelfTest, full, quick
from koderz_core.sandbox.tiers import TierStatus, probe

Wanted = Literal["auto", "hardened", "strong", "limited"]


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """The state of the sandbox on this machine: every tier, the tier in use, and its self-test.

    Without a tier in use there is no self-test, and ``trouble`` says why and what to do.
    """

    tiers: tuple[TierStatus, ...]
    used: Isolation | None = None
    trouble: str = ""
    self_test: SelfTest | None = None


class Sandbox:
    """Opens one judge. May be used from any thread."""

    def __init__(self, wanted: Wanted, bwrap: str | None, timeout_seconds: float) -> None:
        """``wanted``: a tier, or ``auto`` for the best one except ``limited``, which needs the user's consent.

        ``bwrap``: the path of bubblewrap.
        """
        self._wanted, self._bwrap, self._timeout_seconds = wanted, bwrap, timeout_seconds
        self._guard = threading.Lock()  # guards the judge: two threads must not open two
        self.programs_at_once: int | None = None  # None: one per core
        self._judge: BoxedJudge | None = None
        self._self_test: SelfTest | None = None
        self._closed = False

    def judge(self) -> BoxedJudge:
        """A judge that has passed its self-test.

        Raises SandboxError if this machine does not support the tier or the self-test fails.
        """
        with self._guard:
            if self._closed:
                raise SandboxError("This workspace is closed, so it cannot grade programs. Open another workspace.")
            if self._judge is None:
                judge = self._open(choose(self._wanted, probe(self._bwrap, _possible(self._wanted))))
                self._self_test = quick(judge)
                if not self._self_test.passed:
                    judge.close()
                    raise SandboxError(refusal(self._self_test))
                self._judge = judge
            return self._judge

    def self_test(self) -> SelfTest:
        """The self-test that the judge passed when it was opened. Raises as ``judge``."""
        self.judge()
        assert self._self_test
        return self._self_test

    def examine(self, problems: Sequence[Problem] = ()) -> SandboxReport:
        """Examine the sandbox with a separate judge. Raises nothing.

        With ``problems``, the self-test is the long form, which also runs their canonical solutions.
        """
        tiers = probe(self._bwrap)
        try:
            judge = self._open(choose(self._wanted, tiers))
        except SandboxError as error:
            return SandboxReport(tiers, trouble=str(error))
        try:
            return SandboxReport(tiers, judge.isolation, self_test=full(judge, problems) if problems else quick(judge))
        finally:
            judge.close()

    def close(self) -> None:
        """End every worker now. Waiting calls raise SandboxError. Idempotent."""
        with self._guard:
            self._closed = True
            if self._judge:
                self._judge.close()

    def _open(self, tier: Isolation) -> BoxedJudge:
        return BoxedJudge(tier, self._bwrap, timeout_seconds=self._timeout_seconds, workers=self.programs_at_once)


def _possible(wanted: Wanted) -> tuple[Isolation, ...]:
    """The tiers that ``choose`` can return. Each tier that is tested takes a process."""
    return ("hardened", "strong") if wanted == "auto" else (wanted,)


def choose(wanted: Wanted, tiers: tuple[TierStatus, ...]) -> Isolation:
    """The tier to use. Raises SandboxError, which says what is missing and what to do."""
    reasons = {tier.isolation: tier.reason for tier in tiers}
    if wanted != "auto":
        if reasons[wanted]:
            raise SandboxError(
                f"The sandbox tier `{wanted}` does not work on this machine: {reasons[wanted]}. "
                "Fix the cause, or unset KODERZ_SANDBOX to use the strongest tier that works."
            )
        return wanted
    for tier in ("hardened", "strong"):
        if not reasons[tier]:
            return tier
    raise SandboxError(
        "The sandbox tiers hardened and strong do not work on this machine "
        f"(hardened: {reasons['hardened']}; strong: {reasons['strong']}). "
        "Without them, the programs that models write could read your files and use your network. If you accept this "
        'risk, set KODERZ_SANDBOX=limited, or sandbox = "limited" in settings.toml. koderz then marks every result '
        "with the sandbox tier limited."
    )


def refusal(self_test: SelfTest) -> str:
    """The error message for a judge that has failed its self-test."""
    first = self_test.failures[0]
    return (
        f"The grader passed only {self_test.score} checks of its self-test (sandbox tier {self_test.isolation}). The "
        f"first failed check is {first.name!r} in the group {first.group!r}: {first.seen[:300]}. koderz does not use "
        "this grader, because its verdicts cannot be trusted. Run `koderz doctor --grader`."
    )

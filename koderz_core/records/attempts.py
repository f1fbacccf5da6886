"""Recorded attempts and the policies that are replayed on them, without a new call of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain

import msgspec

from koderz_core.records.verdicts import ErrorClass


class CoderCall(msgspec.Struct, frozen=True, gc=False):
    """A call that wrote a program: what it was asked with, and what it used. None: unknown.

    ``prompt``: equal for equal messages and options, apart from the temperature. ``first``: no other role was asked
    before it. With an answer from the response cache (``cached``), dollars and seconds are unknown.
    """

    experiment: str
    model: str
    temperature: float | None
    prompt: str
    first: bool
    usd: float | None
    seconds: float | None
    tokens: int | None
    cached: bool = False


class GateMarks(msgspec.Struct, frozen=True, gc=False):
    """How many of the tests of a gate a program passed."""

    passed: bool
    tests_passed: int
    tests_total: int

    @property
    def share(self) -> float:
        return self.tests_passed / self.tests_total if self.tests_total else float(self.passed)


class RecordedAttempt(msgspec.Struct, frozen=True, gc=False):
    """One program of an experiment (``place`` 1, 2, ... in its chain), with its marks and what it cost.

    ``gates``: the marks by gate (``examples``, ``tests``, ``split:0.5``), also those that the same program got in other
    experiments on the problem. ``right``: whether it passes all tests that score; None: not scored. ``code``: SHA-256,
    None without a program. ``fresh``: its prompt contains nothing of earlier attempts, reviews or specs, so it is a
    draw of its model. ``usd``, ``seconds`` and ``tokens``: of its call; if it is not fresh, of all calls and tests
    since the previous attempt. None: unknown. ``prompt`` (empty if unknown) and ``cached``: as in
    ``CoderCall``. ``reported``: an imported file stated the result, so the program may be unknown.
    """

    benchmark: str
    configuration: str
    experiment: str
    problem: str
    repeat: int
    place: int
    model: str
    temperature: float | None
    code: str | None
    gates: Mapping[str, GateMarks]
    right: bool | None
    error: ErrorClass | None
    fresh: bool
    usd: float | None
    seconds: float | None
    tokens: int | None
    prompt: str = ""
    cached: bool = False
    reported: bool = False

    @property
    def submits(self) -> bool:
        """Whether there is a program."""
        return self.code is not None or self.reported


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """What one way through a policy solved and used. Shares and means are over several of them. None: unknown.

    ``accepted_wrong``: a wrong program was accepted.
    """

    solved: float
    accepted_wrong: float
    attempts: float
    usd: float | None
    seconds: float | None
    tokens: float | None


Chain = tuple[RecordedAttempt, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """What a stage of a policy draws its attempts from.

    A model at one temperature and prompt (``independent``), or the chains of one configuration, whose later prompts
    depend on earlier attempts. ``problems``: on which it was asked, whatever came out. ``fixed``: by problem, draws
    whose number was decided beforehand, in any order. ``chains``: by problem, draws that ended because of their results
    and are replayed in the recorded order. ``greedy``: a further draw would be the same answer. ``why``: why the
    attempts are not independent draws; empty if they are. ``recorded``: by problem, how the experiments of a
    configuration ended; empty for a model.
    """

    name: str
    model: str
    temperature: float | None
    configurations: tuple[tuple[str, str], ...]
    problems: tuple[str, ...]
    fixed: Mapping[str, Chain] = field(default_factory=dict)
    chains: Mapping[str, tuple[Chain, ...]] = field(default_factory=dict)
    greedy: bool = False
    why: str = ""
    recorded: Mapping[str, tuple[Outcome, ...]] = field(default_factory=dict)

    @property
    def independent(self) -> bool:
        return not self.why

    @property
    def attempts(self) -> Chain:
        """All of its attempts."""
        chains = chain.from_iterable(self.chains.values())
        return tuple(chain.from_iterable((*self.fixed.values(), *chains)))


AS_RECORDED = 0


@dataclass(frozen=True, slots=True)
class Stage:
    """At most ``tries`` attempts of a source (by name); ``AS_RECORDED``: the experiments exactly as they ran."""

    source: str
    tries: int = 1


@dataclass(frozen=True, slots=True)
class Policy:
    """Stages one after the other until a program is accepted; ``name``: how it is shown.

    ``gate``: whose marks accept a program; None: nothing is tested, so the first attempt is submitted. ``threshold``:
    the share of its tests that must pass. ``patience``: a stage ends after this many attempts that passed no more tests
    than an earlier one; None: never. If no program is accepted, the one that passed the most tests is submitted, the
    latest among equals.
    """

    name: str
    stages: tuple[Stage, ...]
    gate: str | None = None
    threshold: float = 1.0
    patience: int | None = None


@dataclass(frozen=True, slots=True)
class Mixture:
    """On each problem, one of the policies by chance, with these weights (which add up to 1)."""

    name: str
    parts: tuple[tuple[float, Policy], ...]

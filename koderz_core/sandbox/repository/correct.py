"""The correct program of a task: which of its tests observations can decide, and which of them it passes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from koderz_core.sandbox.repository.instrument import instrument
from koderz_core.sandbox.repository.profiles import profile_of
from koderz_core.sandbox.repository.reports import Reports, Transcript
from koderz_core.sandbox.repository.states import State
from koderz_core.sandbox.repository.verdicts import Profile, marks

RunTests = Callable[[Mapping[str, str], Sequence[str] | None], Transcript]
"""Runs tests with the correct program and these files changed: those with the ids, or all of the task's test files."""


@dataclass(frozen=True, slots=True)
class Correct:
    """The profile of the correct program. ``broken``: the tests that it fails, with the reasons."""

    profile: Profile
    seconds: float = 0.0
    broken: Mapping[str, str] = field(default_factory=dict)


def correct_of(state: State, ids: Sequence[str], run: RunTests, lot: random.Random) -> Correct:
    """Learn the profile from several runs, and confirm it with one more.

    A run that was stopped shows nothing about the tests that it did not reach, so nothing is learned from it.
    """

    def reports(changed: Mapping[str, str]) -> Reports:
        found = run(changed, None)
        if found.stopped:
            raise _StoppedError(found.end())
        return found.reports

    try:
        profile = profile_of(state.tests, ids, reports, lot)
    except _StoppedError as error:
        return Correct(Profile(), broken=dict.fromkeys(ids, str(error)))
    made = instrument(state.tests, ids, lot, profile.plain, (), profile.opaque)
    found = run(made.files, ids)
    decided = marks(made.key, found.reports, profile, ids)
    reasons = {failure.index: failure.message for failure in decided.failures}
    broken = {
        test: reasons.get(index) or found.end() or "the correct program does not pass it"
        for index, test in enumerate(ids)
        if decided.marks[index] != "P"
    }
    return Correct(profile, found.seconds, broken)


class _StoppedError(Exception):
    """A run of the tests with the correct program was stopped."""


def files_for(
    state: State,
    change: Mapping[str, bytes | None],
    tests: Mapping[str, str] | None = None,
    ids: Sequence[str] = (),
) -> dict[str, bytes]:
    """The files of a copy: those of the state, changed by a patch, with rewritten tests.

    With ``ids``, files with other tests only are left out, unless a test file names them.
    """
    left_out = unused(state, ids)
    files = {path: content for path, content in state.files.items() if path not in left_out}
    for path, content in change.items():
        if content is None:
            files.pop(path, None)
        else:
            files[path] = content
    return files | {path: text.encode("utf-8", "surrogatepass") for path, text in (tests or {}).items()}


def unused(state: State, ids: Sequence[str]) -> frozenset[str]:
    """The files with tests that the tests ``ids`` do not need; none without ids."""
    chosen = {test.partition("::")[0] for test in ids}
    others = state.cases - chosen if chosen else frozenset[str]()
    if not others:
        return frozenset()
    words = {word for path, text in state.tests.items() if path not in others for word in re.findall(r"\w+", text)}
    return frozenset(path for path in others if path.rpartition("/")[2].removesuffix(".py") not in words)

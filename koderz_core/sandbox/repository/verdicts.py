"""Decides which tests of a repository passed, from what the process of the tests reported.

A report is hostile. A test counts as passed only if its process says so and each of its observations is right, in the
order in which the correct program makes them. A test that cannot be observed is *plain*: its process is believed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from koderz_core.records import TestFailure
from koderz_core.sandbox.inside.faults import excerpt
from koderz_core.sandbox.inside.values import decode
from koderz_core.sandbox.inside.wire import Json, WireError
from koderz_core.sandbox.repository.instrument import Key
from koderz_core.sandbox.repository.reports import PASSED, Reports, TestReport
from koderz_core.sandbox.repository.sites import END, Finding, Site, finding

MAX_SOURCE = 1500  # characters of the source of a failed test
MAX_MESSAGE = 500
MAX_FAILURES = 50
_MOST_RECORDS = 200_000  # of one test
_LINE = re.compile(r"[0-9]{1,7}")
_TWINS = 2
_COMPARED = {"pair": None, "kind": None, "raises": 3}  # parts of a record that must be as with the correct program
_SURE = 3  # truths that are wrong in one copy only, after which no accident explains them


@dataclass(frozen=True)
class Profile:
    """How the tests of a tree behave with the correct program.

    ``sequences``: the places of the sites that each test reaches, in order. ``plain``: ids of tests and helper
    functions that stay as they are. ``opaque``: places of values that are not plain data. ``single``: ids of tests that
    cannot run as two copies. ``known``: for each place in a sequence, the report that all runs made of both sides of a
    comparison or of the classes of an object or exception; "" if the site has another form or the runs differ.
    """

    sequences: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    plain: frozenset[str] = frozenset()
    opaque: frozenset[str] = frozenset()
    single: frozenset[str] = frozenset()
    known: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def is_protected(self, test: str) -> bool:
        """Whether observations decide about a test, not only its process."""
        return test not in self.plain and bool(self.sequences.get(test))


@dataclass(frozen=True)
class Marked:
    """The marks of tests in order, with their failures.

    ``protected``: the tests about which observations decided. ``faked``: a sentence that names a test whose report was
    not computed, empty if none was found.
    """

    marks: str
    failures: tuple[TestFailure, ...]
    protected: frozenset[str]
    faked: str


@dataclass(frozen=True)
class Seen:
    """One copy of a test: the sites that it reached with the findings. ``forged``: a record that no test makes.

    ``reports``: as ``Profile.known``, of the sites that are no controls.
    """

    steps: tuple[tuple[Site, Finding], ...] = ()
    forged: bool = False
    reports: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[str, ...]:
        return tuple(site.place for site, _ in self.steps if not site.is_control)

    @property
    def wrong(self) -> tuple[Site, Finding] | None:
        wrong = [(site, found) for site, found in self.steps if not found.right]
        return next((pair for pair in wrong if pair[0].is_control), wrong[0] if wrong else None)


@dataclass(frozen=True)
class _Fault:
    message: str
    expected: str | None = None
    actual: str | None = None


def seen_in(key: Key, reported: TestReport) -> Seen:
    """What the records of one copy show."""
    steps: list[tuple[Site, Finding]] = []
    reports: list[str] = []
    for record in reported.records[:_MOST_RECORDS]:
        site = key.sites.get(record[1]) if _is_record(record) else None
        if site is None or record[0] != site.form or (site.form == END and site.is_control):
            return Seen(tuple(steps), forged=True)
        steps.append((site, finding(site, record[2:])))
        if not site.is_control:
            reports.append(json.dumps(record[2 : _COMPARED[site.form]]) if site.form in _COMPARED else "")
    return Seen(tuple(steps), reports=tuple(reports))


def marks(key: Key, reports: Reports, profile: Profile, ids: Sequence[str]) -> Marked:
    """The verdict on some tests that ran as ``key`` says."""
    order = {run: place for place, run in enumerate(reports)}
    found, failures, twins = list[str](), list[TestFailure](), _Twins()
    for index, test in enumerate(ids):
        runs = sorted(key.runs.get(test, (test,)), key=lambda run: order.get(run, 0))
        copies = [(reports[run], seen_in(key, reports[run])) for run in runs if run in reports]
        faults = [fault for fault in (_fault(test, *copy, profile) for copy in copies) if fault]
        if len(copies) < len(runs):
            faults.append(_Fault("the process did not report this test"))
        found.append("P" if not faults else "F" if copies else "-")
        if faults and copies and len(failures) < MAX_FAILURES:
            source = excerpt(key.sources.get(test, test), MAX_SOURCE)
            fault = faults[0]
            failures.append(TestFailure(index, source, fault.expected, fault.actual, fault.message))
        twins.add(test, copies)
    protected = frozenset(test for test in ids if profile.is_protected(test))
    return Marked("".join(found), tuple(failures), protected, twins.faked())


def with_places(
    failures: Sequence[TestFailure], ids: Sequence[str], key: Key, reports: Reports, files: Collection[str]
) -> tuple[TestFailure, ...]:
    """The failures, whose messages name the line of one of ``files`` that raised the error, if the process says so."""

    def placed(failure: TestFailure) -> TestFailure:
        runs = (reports[run] for run in key.runs.get(ids[failure.index], ()) if run in reports)
        place = next((run.place for run in runs if run.message == failure.message), "")
        path, _, line = place.rpartition(":")
        known = path in files and _LINE.fullmatch(line)
        return replace(failure, message=f"{failure.message} (raised in {place})") if known else failure

    return tuple(map(placed, failures))


def lacking_values(key: Key, reports: Reports, profile: Profile, ids: Iterable[str]) -> frozenset[str]:
    """The tests with a value that the judge compares with its literal, and that the process did not report right.

    Truth values and None do not count: they can be guessed.
    """
    literal = {site.place for site in key.sites.values() if site.form == "value" and not _is_guessed(site)}
    lacking = set[str]()
    for test in ids:
        right = {
            site.place
            for run in key.runs.get(test, (test,))[:1]
            if run in reports
            for site, found in seen_in(key, reports[run]).steps
            if found.right
        }
        if literal.intersection(profile.sequences.get(test, ())) - right:
            lacking.add(test)
    return frozenset(lacking)


def _is_guessed(site: Site) -> bool:
    return site.is_control or site.expected is None or isinstance(site.expected, bool)


def _fault(test: str, reported: TestReport, seen: Seen, profile: Profile) -> _Fault | None:
    if seen.wrong and seen.wrong[0].is_control:
        return _Fault("the process reported another value than the test gave it")
    if seen.wrong:
        site, found = seen.wrong
        line = site.place.split(":")[1]
        message = f"line {line}: {excerpt(' '.join(site.source.split()), 300)}"
        return _Fault(message, found.expected, found.actual)
    if reported.outcome != PASSED:
        return _Fault(excerpt(reported.message or reported.outcome, MAX_MESSAGE))
    if seen.forged:
        return _Fault("the process reported an observation that the test does not make")
    wanted = profile.sequences.get(test, ())
    if test not in profile.plain and seen.places != wanted:
        place = next((step for step, (own, other) in enumerate(zip(seen.places, wanted, strict=False)) if own != other),
                     min(len(seen.places), len(wanted)))  # fmt: skip
        return _Fault(f"the test made other observations than with the correct program, from number {place + 1} on")
    return _other_report(profile.known.get(test, ()), seen.reports) if test not in profile.plain else None


def _other_report(known: Sequence[str], reports: Sequence[str]) -> _Fault | None:
    for number, (report, own) in enumerate(zip(known, reports, strict=False), 1):
        if report and not same_values(report, own):
            return _Fault(f"observation number {number} differs from that with the correct program")
    return None


def same_values(report: str, other: str) -> bool:
    """Whether two reports have equal values: for example, dictionaries may be written in another order."""
    try:
        return report == other or bool(report and other and _values(report) == _values(other))
    except WireError:  # such as the digest of a large value
        return False


def _values(report: str) -> list[object]:
    return [decode(value) for value in json.loads(report)]


class _Twins:
    """Looks for reports that no computation makes: of controls, and of copies with opposite directions.

    A process that answers without computing is wrong at random sites of both copies. A program with a fault that lasts,
    such as a full cache, is wrong in the copy that ran later only: that is no proof.
    """

    def __init__(self) -> None:
        self._all = _Contrast()
        self._first, self._sentence = "", ""

    def add(self, test: str, copies: Sequence[tuple[TestReport, Seen]]) -> None:
        """``copies``: in the order in which they ran."""
        if any(seen.forged for _, seen in copies):
            self._say(f"The process reported an observation that the test {test} does not make.")
        if any(seen.wrong and seen.wrong[0].is_control for _, seen in copies):
            self._say(f"The process reported another value than the test {test} gave it.")
        if len(copies) == _TWINS and all(reported.outcome == PASSED for reported, _ in copies):
            contrast = _contrast(copies[0][1], copies[1][1])
            self._all = _Contrast(*(own + more for own, more in zip(self._all, contrast, strict=True)))
            self._first = self._first or (test if contrast.earlier or contrast.later else "")
            if contrast.is_proof:
                self._say(_twin_sentence(test))

    def faked(self) -> str:
        return self._sentence or (_twin_sentence(self._first) if self._all.is_proof else "")

    def _say(self, sentence: str) -> None:
        self._sentence = self._sentence or sentence


class _Contrast(NamedTuple):
    """How many truths were wrong in the earlier copy only, in the later copy only, and alike in both."""

    earlier: int = 0
    later: int = 0
    alike: int = 0

    @property
    def is_proof(self) -> bool:
        return not self.alike and bool(self.earlier and self.later) and self.earlier + self.later >= _SURE


def _twin_sentence(test: str) -> str:
    return f"The test {test} and its twin, which expects the opposite, received the same answers."


def _contrast(first: Seen, second: Seen) -> _Contrast:
    if first.places != second.places:
        return _Contrast()
    steps = [[step for step in seen.steps if not step[0].is_control] for seen in (first, second)]
    truths = [(own.right, other.right) for (site, own), (_, other) in zip(*steps, strict=True) if site.form == "truth"]
    return _Contrast(
        truths.count((False, True)), truths.count((True, False)), sum(own is other for own, other in truths)
    )


def _is_record(record: Json) -> bool:
    return isinstance(record, list) and len(record) > 2 and all(isinstance(part, str) for part in record[:2])

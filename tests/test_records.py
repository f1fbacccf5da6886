"""Plans, their identities, and the form of events in a journal."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from koderz_core.errors import JournalError
from koderz_core.events import KINDS, Entry, SpecWritten, decode, encode
from koderz_core.records import Configuration, DatasetOrigin, Plan, TestFailure, Verdict, fingerprint

DIRECT = Configuration("direct", {"coder": ("scripted/weak",)}, {"spec": False})
PLAN = Plan(DatasetOrigin("d", "0" * 64, "MIT"), ("p/0", "p/1"), (DIRECT, replace(DIRECT, gate="none")), repeats=2)


def test_a_plan_has_every_configuration_on_every_problem_every_time() -> None:
    experiments = PLAN.experiments()
    assert len({(e.configuration, e.problem, e.repeat) for e in experiments}) == len(experiments) == 8
    assert len({e.id for e in experiments}) == len({e.seed for e in experiments}) == 8


def test_the_same_plan_finds_its_own_benchmark_and_experiments() -> None:
    again = replace(PLAN, problems=tuple(PLAN.problems))
    assert (again.id, again.experiments()) == (PLAN.id, PLAN.experiments())


@pytest.mark.parametrize(
    "change",
    [{"seed": 1}, {"problems": ("p/0",)}, {"repeats": 3}, {"name": "x"}, {"conditions": {"test_timeout": 1.0}}],
)
def test_another_plan_is_another_benchmark(change: dict[str, object]) -> None:
    assert replace(PLAN, **change).id != PLAN.id  # type: ignore[arg-type]


def test_a_named_plan_keeps_its_identity_when_it_grows() -> None:
    named = replace(PLAN, name="mine")
    grown = replace(named, problems=("p/0", "p/1", "p/2"))
    assert grown.id == named.id
    assert set(named.experiments()) < set(grown.experiments())


def test_the_order_of_parameters_makes_no_other_configuration() -> None:
    one = Configuration("s", {}, {"a": 1, "b": 2})
    assert one.id == Configuration("s", {}, {"b": 2, "a": 1}).id != Configuration("s", {}, {"a": 2, "b": 2}).id


@pytest.mark.parametrize(
    ("marks", "completed", "error", "passed"),
    [
        ("PP", True, None, True),
        ("PF", True, "assertion", False),
        ("PP", False, "exception", False),
        ("PP", True, "timeout", False),
        ("P-", True, None, False),
        ("", True, None, False),
    ],
)
def test_only_all_tests_to_their_end_are_a_pass(marks: str, completed: bool, error: str | None, passed: bool) -> None:
    verdict = Verdict(marks, (), completed, error, "", 0.1, "limited")  # type: ignore[arg-type]
    assert verdict.passed is passed


def test_an_entry_comes_back_as_it_was_written() -> None:
    entry = Entry(1.5, SpecWritten('line\nbreak "quoted" \u2028 \U0001f600 \x1b[31m'), "exp_1", 3)
    line = encode(entry)
    assert decode(line) == entry
    assert line.count(b"\n") == 1


def test_a_line_of_an_older_schema_is_brought_up_and_a_newer_one_beside_it_is_not() -> None:
    line = encode(Entry(1.0, SpecWritten("text")))
    older = line.replace(b'"v":1', b'"v":0')
    upcasters = {("spec_written", 0): lambda payload: {"text": payload["text"].upper()}}
    assert [decode(item, upcasters).event.text for item in (older, line)] == ["TEXT", "text"]  # type: ignore[union-attr]


def test_a_field_that_a_later_version_adds_changes_no_identity() -> None:
    @dataclass(frozen=True)
    class Later(Configuration):
        feedback: str = "full"

    later = Later(DIRECT.strategy, DIRECT.models, DIRECT.parameters)
    assert fingerprint(later) == fingerprint(DIRECT) != fingerprint(replace(later, feedback="none"))


def test_the_order_in_which_things_are_named_makes_no_other_benchmark() -> None:
    turned = replace(PLAN, problems=PLAN.problems[::-1], configurations=PLAN.configurations[::-1])
    assert turned.id == PLAN.id
    assert {experiment.id for experiment in turned.experiments()} == {
        experiment.id for experiment in PLAN.experiments()
    }


def test_every_kind_has_one_name() -> None:
    assert len(set(KINDS.values())) == len(KINDS)


@pytest.mark.parametrize("line", [b"", b"{}", b"[1]", b'{"v":1,"at":1,"kind":"spec_written","event":{}}', b"\xff\xfe"])
def test_what_is_no_line_of_a_journal_says_so(line: bytes) -> None:
    with pytest.raises(JournalError, match="not in the format of a line of koderz' journals"):
        decode(line)


def test_a_failure_keeps_what_was_seen_and_what_was_expected() -> None:
    failure = TestFailure(2, "candidate(1) == 2", "2", "3")
    verdict = Verdict("PPF", (failure,), True, "assertion", "", 0.1, "limited")
    assert (verdict.tests_passed, verdict.tests_total) == (2, 3)

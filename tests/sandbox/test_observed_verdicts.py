"""Twins, random directions and controls of rewritten tests, and the verdicts on processes that change their reports."""

import random
import re
from types import SimpleNamespace
from typing import cast

import pytest
from observed import HEAD, PATH, Suite, reported, reports, test_of

from koderz_core.sandbox.inside import observe
from koderz_core.sandbox.repository.correct import correct_of
from koderz_core.sandbox.repository.instrument import instrument
from koderz_core.sandbox.repository.reports import Transcript, transcript_of
from koderz_core.sandbox.repository.sites import Site, finding
from koderz_core.sandbox.repository.states import State
from koderz_core.sandbox.repository.verdicts import Profile, marks
from koderz_core.sandbox.repository.workspace import Run

TRUTHS = ("assert seen(1)", "assert not seen(0)", "assert seen(2)", "assert seen(3) is not None")
CORRECT = "def seen(x): return x\n"
WRONG = "def seen(x): return 1\n"


def names_in(text: str) -> list[str]:
    return re.findall(r"def (\w+)\(", text)


def test_a_twinned_test_is_two_copies_with_random_names_in_random_order() -> None:
    suite = Suite(f"def test_before(): assert seen(1)\n{test_of(*TRUTHS)}def test_after(): assert seen(1)\n", CORRECT)
    orders = set()
    for seed in range(12):
        made = instrument(suite.files, suite.ids, random.Random(seed), twinned=[f"{PATH}::test_it"])
        names = names_in(made.files[PATH])
        assert [names[0], names[3]] == ["test_before", "test_after"]
        assert all(re.fullmatch(r"test_[0-9a-f]{16}", name) for name in names[1:3])
        copies = [made.key.names[name][1] for name in names[1:3]]
        assert [f"{PATH}::{name}" for name in names[1:3]] == [
            made.key.runs[f"{PATH}::test_it"][copy] for copy in copies
        ]
        orders.add(copies[0])
    assert orders == {0, 1}


def test_copies_ask_each_truth_in_opposite_directions_and_verdicts_do_not_depend_on_them() -> None:
    suite = Suite(test_of("assert seen(1)"), CORRECT)
    texts = {suite.text(seed) for seed in range(20)}
    assert {"(not (seen(1)))" in text or "not (seen(1))" in text for text in texts} == {True, False}
    assert {suite.judge(CORRECT, seed).marks for seed in range(10)} == {"P"}
    assert {suite.judge("def seen(x): return 0\n", seed).marks for seed in range(10)} == {"F"}
    for seed in range(10):
        twins = suite.text(seed, twins=True)
        assert (twins.count("(not (seen(1)))") + twins.count(", not (seen(1))")) == 1


@pytest.mark.parametrize("answer", [True, False])
def test_a_process_that_gives_every_truth_the_same_answer_is_faked(
    answer: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = Suite(test_of(*TRUTHS * 3), CORRECT)
    monkeypatch.setattr(observe, "truth", lambda site, seen: observe._emit(["truth", site, answer]))
    for seed in range(6):
        verdict = suite.judge(WRONG, seed)
        assert verdict.marks == "F"
        assert "test_it" in verdict.faked


def test_a_process_that_makes_pairs_equal_is_faked_by_a_control(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(f"def test_{n}():\n    x = seen({n})\n    assert x == seen({n})\n" for n in range(12))
    suite = Suite(lines, CORRECT)
    monkeypatch.setattr(observe, "pair", lambda site, a, b: observe._emit(["pair", site, 1, 1]))
    verdict = suite.judge(WRONG)
    assert "test_" in verdict.faked


def test_a_process_that_always_reports_an_exception_is_faked_by_a_control(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "    x = 0\n    with pytest.raises(ValueError): seen()\n"
    suite = Suite("".join(f"def test_{n}():\n{body}" for n in range(12)), "def seen(): raise ValueError\n")
    assert suite.judge("def seen(): pass\n").faked == ""

    def leave(self: observe.raises, *error: object) -> bool:
        observe._emit(["raises", self._site, ["builtins.ValueError"], ""])
        return True

    monkeypatch.setattr(observe.raises, "__exit__", leave)
    assert "test_" in suite.judge("def seen(): pass\n").faked


COUNTING = "calls = []\ndef seen(x):\n    calls.append(x)\n    return len(calls) < 3\n"
BROKEN = ("def seen(x): return 0\n", "def seen(x): raise ValueError\n")


@pytest.mark.parametrize("program", [CORRECT, WRONG, COUNTING, *BROKEN])
def test_programs_that_change_no_report_are_never_faked(program: str) -> None:
    suite = Suite(test_of(*TRUTHS) + "def test_more():\n    assert seen(5) == 5\n", CORRECT)
    assert {suite.judge(program, seed).faked for seed in range(8)} == {""}


def test_a_fault_that_lasts_from_one_copy_to_the_other_is_not_faked() -> None:
    lines = [f"assert not known({n})" for n in range(6)]
    program = "kept = set()\ndef add(x): kept.add(x) if LASTS else None\ndef known(x): return x in kept\n"
    suite = Suite(test_of(*lines, "for n in range(6): add(n)"), f"LASTS = False\n{program}")
    for seed in range(8):
        verdict = suite.judge(f"LASTS = True\n{program}", seed)
        assert (verdict.marks, verdict.faked) == ("F", "")


def test_a_test_without_assertions_passes_only_if_it_reaches_its_end() -> None:
    suite = Suite("def test_it(): seen(1)\n\n\n" + "def test_more():\n    for x in (1, 2):\n        seen(x)\n", CORRECT)
    assert suite.profile.is_protected(suite.ids[0])
    assert suite.judge(CORRECT).marks == "PP"
    made = suite.made(twins=False)
    found = reports(made.files[PATH], "def seen(x): raise ValueError\n")
    claimed = {name: reported("passed", report.records) for name, report in found.items()}
    assert marks(made.key, claimed, suite.profile, suite.ids).marks == "FF"
    both = {name: reported("passed", [["end", site, None] for site in made.key.sites]) for name in found}
    assert "test_" in marks(made.key, both, suite.profile, suite.ids).faked


def test_a_test_without_its_observations_or_with_others_does_not_pass() -> None:
    suite = Suite(test_of("for x in range(1, 3): assert seen(x)"), CORRECT)
    made = suite.made(twins=False)
    ((name, whole),) = reports(made.files[PATH], CORRECT).items()
    for records in ([], whole.records[:-1], [*whole.records, whole.records[-1]]):
        assert marks(made.key, {name: reported("passed", records)}, suite.profile, suite.ids).marks == "F"
    assert marks(made.key, {}, suite.profile, suite.ids).marks == "-"
    assert marks(made.key, {name: reported("failed", whole.records)}, suite.profile, suite.ids).marks == "F"
    other = marks(made.key, {name: reported("passed", [["truth", "0" * 16, True]])}, suite.profile, suite.ids)
    assert (other.marks, "test_it" in other.faked) == ("F", True)


@pytest.mark.parametrize("record", [None, 1, [], ["truth"], ["truth", 1, True], ["value", {}, 1], "x", [[], [], []]])
def test_records_that_are_none_do_not_pass(record: object) -> None:
    suite = Suite(test_of("assert seen(1)"), CORRECT)
    made = suite.made(twins=False)
    found = {suite.ids[0]: reported("passed", [record])}
    assert marks(made.key, found, suite.profile, suite.ids).marks == "F"


MIXIN = """
class Mixin:
    def test_own(self): self.assertEqual(self.seen(1), 1)
class OneTest(Mixin, unittest.TestCase):
    def seen(self, x): return seen(x)
class TwoTest(Mixin, unittest.TestCase):
    def seen(self, x): return seen(x)
    def test_two(self): self.assertTrue(self.seen(2))
"""


def test_inherited_tests_are_judged_in_each_class_under_the_names_of_one_pair_of_copies() -> None:
    suite = Suite(MIXIN, CORRECT)
    made = suite.made()
    one, two = (made.key.runs[f"{PATH}::{name}Test::test_own"] for name in ("One", "Two"))
    assert [run.rpartition("::")[2] for run in one] == [run.rpartition("::")[2] for run in two]
    assert suite.judge(CORRECT).marks == "PPP"
    assert suite.judge(WRONG).marks == "PPP"
    failed = suite.judge("def seen(x): return 2\n")
    assert failed.marks == "FFP"
    assert "def test_own" in failed.failures[0].source


def test_ids_with_parameters_map_to_the_copies_and_back() -> None:
    files = {PATH: HEAD + "@pytest.mark.parametrize('x', ['[a]', '::'])\ndef test_it(x): assert seen(x) == 'b'\n"}
    ids = [f"{PATH}::test_it[[a]]", f"{PATH}::test_it[::]"]
    key = instrument(files, ids, random.Random(1), twinned=ids[:1]).key
    for test in ids:
        first, second = key.runs[test]
        assert (key.published(first), key.published(second)) == ((test, 0), (test, 1))


@pytest.mark.parametrize("further", ["def use(): return test_it\n", "names = ['test_it']\n", "def test_it(): pass\n"])
def test_a_name_that_is_used_elsewhere_stays(further: str) -> None:
    files = {PATH: f"{HEAD}{test_of('assert seen(1)')}{further}"}
    key = instrument(files, [f"{PATH}::test_it"], random.Random(1), twinned=[f"{PATH}::test_it"]).key
    assert (set(key.single), key.runs[f"{PATH}::test_it"]) == ({f"{PATH}::test_it"}, (f"{PATH}::test_it",))


def test_an_overridden_test_has_no_twin() -> None:
    source = MIXIN.replace("def test_two", "def test_own")
    key = instrument({PATH: HEAD + source}, [f"{PATH}::OneTest::test_own"], random.Random(1)).key
    assert key.single == {f"{PATH}::OneTest::test_own"}


@pytest.mark.parametrize(
    "lines",
    [
        ("try: check(seen(0))", "except AssertionError: pass", "else: raise ValueError"),
        ("import sys", "sys.turn = not getattr(sys, 'turn', False)", "if sys.turn: assert seen(1)", "assert seen(1)"),
    ],
)
def test_a_test_that_cannot_be_observed_stays_as_it_is_and_is_not_protected(lines: tuple[str, ...]) -> None:
    suite = Suite(f"def check(x):\n    assert x\n{test_of(*lines)}", CORRECT)
    assert suite.ids[0] in suite.profile.plain
    assert (suite.judge(CORRECT).marks, suite.judge(CORRECT).protected) == ("P", frozenset())


def test_a_helper_reports_for_each_test_that_calls_it() -> None:
    suite = Suite("def check(x, y):\n    assert seen(x) == y\n    assert seen(x)\n"
                  "def test_1(): check(1, 1)\ndef test_2(): check(2, 2)\n", CORRECT)  # fmt: skip
    assert suite.judge(CORRECT).protected == set(suite.ids)
    assert (suite.judge(CORRECT).marks, suite.judge(WRONG).marks) == ("PP", "PF")


def test_a_failure_shows_the_published_test_with_both_values() -> None:
    suite = Suite(test_of("# the sum", "assert seen(4) == 4, 'wrong'"), CORRECT)
    (failure,) = suite.judge(WRONG).failures
    assert "# the sum" in failure.source
    assert "assert seen(4) == 4, 'wrong'" in failure.source
    assert (failure.expected, failure.actual) == ("4", "1")
    assert failure.message == "line 5: assert seen(4) == 4, 'wrong'"


def test_assertions_that_tests_catch_and_fixtures_stay_as_they_are() -> None:
    source = HEAD + (
        "@pytest.fixture\ndef ready():\n    assert seen(1)\n"
        "def test_it():\n    with pytest.raises(AssertionError):\n        assert seen(0)\n"
        "    try:\n        assert seen(0)\n    except Exception:\n        pass\n"
        "class Own(unittest.TestCase):\n    def assertEqual(self, a, b): return check(a, b)\n"
        "    def test_own(self): self.assertEqual(1, seen(2))\n"
    )
    ids = [f"{PATH}::test_it", f"{PATH}::Own::test_own"]
    made = instrument({PATH: source}, ids, random.Random(1))
    assert {site.form for site in made.key.sites.values() if not site.is_control} == {"raises", "end"}


def test_no_control_shows_a_value_that_a_test_expects() -> None:
    lines = ("x = seen(12)", "expected = '4711'.join(['x', 'y'])", "assert str(x) != expected", "assert x != 4711")
    suite = Suite("".join(test_of(*lines).replace("test_it", f"test_{n}") for n in range(6)), CORRECT)
    texts = [suite.text(seed) for seed in range(10)]
    assert not any("4711" in text for text in texts)
    assert any(text.count("12") > 6 for text in texts)  # an argument of a call is in a control


def test_the_same_tests_are_rewritten_with_other_names_in_each_verdict() -> None:
    suite = Suite(test_of(*TRUTHS), CORRECT)
    keys = [suite.made(seed).key for seed in range(2)]
    assert not keys[0].sites.keys() & keys[1].sites.keys()
    assert {site.place for site in keys[0].sites.values()} == {site.place for site in keys[1].sites.values()}


def test_without_a_profile_no_test_is_protected() -> None:
    suite = Suite(test_of("assert seen(1)"), CORRECT)
    assert not Profile().is_protected(suite.ids[0])


@pytest.mark.parametrize(
    ("other", "marks"),
    [
        ("def seen(x): return {'b': 2, 'a': 1}\n", "P"),
        ("def seen(x): return {'a': 1.0, 'b': 2}\n", "P"),
        ("def seen(x): return {'a': 1, 'b': 3}\n", "F"),
    ],
)
def test_equal_values_need_not_be_written_alike(other: str, marks: str) -> None:
    suite = Suite(test_of("first = seen(1)", "assert first == seen(2)"), "def seen(x): return {'a': 1, 'b': 2}\n")
    assert suite.judge(other).marks == marks


def test_nothing_is_learned_from_a_run_that_was_stopped() -> None:
    """Otherwise the tests that it did not reach would count as tests without observations from then on."""
    state = cast(State, SimpleNamespace(tests={PATH: HEAD + test_of("assert seen(1)")}))
    stopped = Transcript(finished=False, stopped="timeout", seconds=60.0)
    found = correct_of(state, [f"{PATH}::test_it"], lambda *_: stopped, random.Random(1))
    assert found.broken == {f"{PATH}::test_it": "the tests were stopped after 60 s"}


def test_no_pattern_is_searched_in_a_text_that_is_longer_than_an_honest_one() -> None:
    """The time of a search is quadratic in the length of the text, and nothing can stop it."""
    site = Site("place", "test", "raises", "", "raises", expected=("ValueError",), pattern="expected .* got")
    found = [finding(site, [["builtins.ValueError"], f"expected {'x' * length} got"]) for length in (4000, 20_000)]
    assert [each.right for each in found] == [True, False]


def test_a_digest_beside_a_literal_that_has_none_is_not_right() -> None:
    site = Site("place", "test", "value", "", "==", expected=range(3))
    assert not finding(site, [{"digest": ["0", "[0, 1, 2]"]}]).right


@pytest.mark.parametrize("stated", [float("nan"), float("inf"), -1, -0.5, 10**400, 1e9])
def test_a_time_that_no_test_takes_counts_as_zero(stated: float) -> None:
    run = Run((["start", "t"], ["phase", "t", "setup", "passed", 0.5], ["phase", "t", "call", "passed", stated]),
              finished=True, stopped="", seconds=1.0)  # fmt: skip
    report = transcript_of(run).tests["t"]
    assert (report.seconds, report.phases) == (0.5, [("setup", "passed"), ("call", "passed")])


@pytest.mark.parametrize("record", [["internal"], ["raised", "file.py", "exception"], ["raised", "t", "exception"]])
def test_texts_of_errors_are_cut_and_can_be_encoded(record: list[object]) -> None:
    text = "\ud800" + "a" * 1_000_000
    run = Run((["start", "t"], [*record, text, *[""] * (len(record) > 1)]), finished=True, stopped="", seconds=1.0)
    found = transcript_of(run)
    message = found.message or found.tests["t"].message
    assert 0 < len(message.encode()) < 2000

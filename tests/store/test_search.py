"""The search by words over everything recorded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koderz_core.errors import UsageError
from koderz_core.events import CallFailed, CheckpointReviewed, CodeTested, ExperimentStarted
from koderz_core.records import Verdict
from koderz_core.records.search import SearchQuery
from koderz_core.store.index import Index, Writers
from koderz_core.store.search import SNIPPET, search

CLOSE = "def has_close_elements(numbers):\n    return sorted(numbers)[0]\n"
FAILED = Verdict("PF", (), True, "type", "TypeError: 'int' object is not iterable", 0.1, "limited")


@pytest.fixture
def find(store):
    def found(words, **narrowed):
        with store.latest() as latest:
            return search(Index(latest.con, Writers(store.journals_dir)), SearchQuery(words, **narrowed))

    return found


@pytest.fixture
def recorded(journal, plan):
    """One experiment with two iterations, of which the first fails, and a failed call."""
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    for iteration, (program, verdict) in enumerate([(CLOSE, FAILED), ("def f(): ...", FAILED)], 1):
        journal.ask(experiment, 3 * iteration)
        journal.answer(experiment, 3 * iteration, f"Here it is:\n```python\n{program}```")
        tested = CodeTested(iteration, "hash", journal.text(program), "fence", verdict)
        journal.say(tested, experiment.id, 3 * iteration + 1)
    journal.ask(experiment, 9)
    journal.say(CallFailed("The server answered 503: overloaded", 0.5, True, status=503), experiment.id, 9)
    return experiment


def kinds(result):
    return {hit.kind for hit in result.hits}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("has_close_elements", {"answer", "program"}),
        ("has_close", {"answer", "program"}),
        ("ELEMENTS numbers", {"answer", "program"}),
        ("lements", set()),
        ("elements nowhere", set()),
        ('"return sorted"', {"answer", "program"}),
        ('"sorted return"', set()),
        ('"numbers return"', set()),
        ('"return sort"', set()),
        ("sorted(numbers)[0]", {"answer", "program"}),
        ("write", {"prompt"}),
        ("iterable", {"error"}),
        ("overloaded", {"error"}),
        ("qwen2.5-coder", {"name"}),
        ("HumanEval/0", {"name", "prompt"}),
        ("%", set()),
        (".*", set()),
    ],
)
def test_all_words_must_occur_where_words_begin(find, recorded, words, expected):
    assert kinds(find(words)) == expected


@pytest.mark.parametrize("words", ["", "  ", '""', "\x00"])
def test_a_query_without_a_word_is_an_error(find, recorded, words):
    with pytest.raises(UsageError, match="at least one word"):
        find(words)


def test_a_match_names_its_experiment_and_its_step(find, recorded):
    places = [(hit.experiment, hit.step, hit.problem) for hit in find("has_close_elements").hits]
    assert places == [(recorded.id, 1, recorded.problem)] * 2
    assert [hit.step for hit in find("overloaded").hits] == [3]


def test_the_snippet_marks_every_match_on_one_line(find, recorded):
    (hit,) = find("return numbers", kind="program").hits
    assert hit.snippet[1::2] == ("numbers", "return", "numbers")
    assert "".join(hit.snippet) == " ".join(CLOSE.split()) + " "


def test_a_snippet_of_a_long_text_is_short(find, journal, recorded):
    journal.say(CallFailed("a " * 500 + "needle" + " b" * 500, 0.5, False), recorded.id, 9)
    (hit,) = find("needle").hits
    assert len("".join(hit.snippet)) == SNIPPET + 2
    assert (hit.snippet[0][0], hit.snippet[1], hit.snippet[2][-1]) == ("…", "needle", "…")


def test_kind_benchmark_and_limit_narrow_a_search(find, write, journal, plan, recorded):
    other = write(replace(plan, name="another"))
    other.tell(other.plan.experiments()[0])
    assert kinds(find("def", kind="program")) == {"program"}
    assert {hit.benchmark for hit in find("def", benchmark=other.plan.id).hits} == {other.plan.id}
    limited = find("def", limit=1)
    assert (len(limited.hits), limited.more) == (1, True)
    assert [hit.benchmark_name for hit in find("another").hits] == ["another"]


def test_names_come_first_and_then_the_newest(find, journal, plan):
    for experiment in plan.experiments()[:3]:
        journal.tell(experiment)
    hits = find("HumanEval/0").hits
    assert [hit.kind == "name" for hit in hits] == sorted((hit.kind == "name" for hit in hits), reverse=True)
    times = [hit.at for hit in find("def").hits]
    assert times == sorted(times, reverse=True)


def test_equal_texts_are_one_match_at_the_latest_experiment(find, journal, plan):
    first, second = plan.experiments()[:2]
    for experiment in (first, second):
        journal.say(ExperimentStarted(experiment), experiment.id)
        journal.say(CodeTested(1, "hash", journal.text(CLOSE), "fence", FAILED), experiment.id, 1)
    (hit,) = find("has_close", kind="program").hits
    assert (hit.experiments, hit.experiment) == (2, second.id)


def test_the_newest_texts_are_searched_first_and_then_all(find, journal, plan, monkeypatch):
    for experiment in plan.experiments()[:3]:
        journal.tell(experiment)
    full = find("def", kind="program", limit=10), find("Write", limit=1), find("write 0")
    monkeypatch.setattr("koderz_core.store.search.RECENT", 1)
    assert (find("def", kind="program", limit=10), find("Write", limit=1), find("write 0")) == full


def test_a_frequent_part_of_words_does_not_hide_a_rare_word(find, journal, plan):
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    programs = ["turn = 1", *(f"return {number}" for number in range(400))]
    for iteration, program in enumerate(programs, 1):
        tested = CodeTested(iteration, "hash", journal.text(program), "fence", FAILED)
        journal.say(tested, experiment.id, iteration)
    (hit,) = find("turn").hits
    assert hit.snippet == ("", "turn", " = 1")


def test_new_events_are_found_and_a_rebuilt_index_finds_the_same(find, store, journal, recorded, reindexed):
    assert not find("wombat").hits
    journal.say(CheckpointReviewed(1, 2, "Look at the wombat"), recorded.id, 10)
    journal.ask(recorded, 11)
    journal.answer(recorded, 11, "a wombat")
    before = find("wombat")
    assert [(hit.kind, hit.step) for hit in before.hits] == [("answer", 4)]
    assert store.dump() == reindexed()
    store.reindex()
    assert find("wombat") == before

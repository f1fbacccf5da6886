"""The Memory page: what is remembered, found, shown with its origin, and retired."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from reading import said
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from koderz_core import open_workspace
from koderz_core.config import load_settings
from koderz_core.memory.cortex.write_tools import remember
from koderz_core.memory.lessons import Evidence, Lesson
from koderz_core.memory.memory_file import MemoryQuery, open_memory_file

Visit = Callable[..., AppTest]
HOSTILE = "<script>alert(1)</script> ![x](https://elsewhere.example/a.png) [l](javascript:alert(2)) \u202e\x1b[31m"
EXPERIMENT, BENCHMARK = "exp_0123456789ab", "bench_0123456789ab"
LESSON = Lesson("name", "KeyError", tuple(Evidence(f"HumanEval/{at}", "humaneval", 2) for at in range(4)))


@pytest.fixture
def _remembered() -> None:
    """Memories 1 to 3: a spec and an iteration of one experiment, and one that wants to be more than text."""
    origin = {"experiment_id": EXPERIMENT, "benchmark_id": BENCHMARK, "problem_id": "HumanEval/3"}
    with open_memory_file(load_settings(), make=True) as cortex:
        assert cortex is not None
        for kind in ("spec", "iteration"):
            tags = [kind, EXPERIMENT]
            remember(cortex, title=f"The {kind}", content="words", tags=tags, category="custom", metadata=origin)
        hostile = {"experiment_id": HOSTILE, "benchmark_id": "bench_<b>", "lesson": {"error": HOSTILE}}
        remember(cortex, title=HOSTILE, content=HOSTILE, tags=[HOSTILE], category="note", metadata=hostile)


def links(app: AppTest) -> Sequence[str]:
    assert not app.exception
    return [f"{element.proto.page} {element.proto.query_string}" for element in app.get("page_link")]


def button(app: AppTest, label: str) -> Button:
    return next(button for button in app.button if button.label == label)


def test_an_empty_memory_says_what_fills_it(visit: Visit) -> None:
    app = visit("memory")
    assert not app.exception
    assert "No memories are stored yet" in app.info[0].value


@pytest.mark.usefixtures("_remembered")
def test_a_memory_links_to_where_it_comes_from_and_to_what_it_has_to_do_with() -> None:
    with open_workspace() as workspace:
        shown = workspace.memories.show(1)
    assert [(memory.how, memory.memory.title) for memory in shown.related] == [("same experiment", "The iteration")]


@pytest.mark.usefixtures("_remembered")
def test_its_links_stand_on_the_page(visit: Visit) -> None:
    found = " ".join(links(visit("memory", memory="1")))
    for part in (f"experiment={EXPERIMENT}", f"benchmarks={BENCHMARK}", "problem=HumanEval%2F3", "memory=2"):
        assert part in found


@pytest.mark.usefixtures("_remembered")
def test_filters_are_part_of_the_address_and_an_asked_memory_is_shown_beside_what_they_find(visit: Visit) -> None:
    app = visit("memory", kind="iteration")
    assert list(app.dataframe[0].value["memory"]) == [2]
    assert "when (UTC)" in app.dataframe[0].value
    assert list(visit("memory", kind="iteration", memory="1").dataframe[0].value["memory"]) == [1, 2]
    app.text_input(key="text of words").set_value("zzz").run()
    assert app.query_params["words"] in ("zzz", ["zzz"])
    assert "No matching memories" in said(app)


@pytest.mark.usefixtures("_remembered")
def test_hostile_memories_are_shown_as_text_and_lead_nowhere(visit: Visit) -> None:
    app = visit("memory", memory="3")
    assert "<script>alert(1)</script>" in "".join(element.value for element in app.text)
    assert not [link for link in links(app) if "exp_" in link or "bench_" in link]
    assert not [element for element in app.markdown if "script" in element.value or "elsewhere" in element.value]
    assert "\x1b" not in said(app)


@pytest.mark.usefixtures("_remembered")
def test_what_is_retired_is_found_on_demand_only_and_can_be_restored(visit: Visit) -> None:
    app = visit("memory", memory="2")
    button(app, "Retire").click().run()
    assert 2 not in list(visit("memory").dataframe[0].value["memory"])
    again = visit("memory", faded="with", memory="2")
    assert "RETIRED" in said(again)
    button(again, "Restore").click().run()
    assert 2 in list(visit("memory").dataframe[0].value["memory"])


@pytest.mark.usefixtures("_remembered")
def test_the_memory_on_the_screen_is_retired_although_a_newer_one_was_stored_since(visit: Visit) -> None:
    app = visit("memory")
    shown = int(app.dataframe[0].value["memory"].iloc[0])
    with open_memory_file(load_settings(), make=True) as cortex:
        assert cortex is not None
        remember(cortex, title="newer", content="other words", tags=["spec"], category="custom", metadata={})
    newer = int(visit("memory").dataframe[0].value["memory"].iloc[0])
    assert newer != shown
    button(app, "Retire").click().run()
    assert not app.error
    with open_workspace() as workspace:
        assert [workspace.memories.show(number).retired for number in (shown, newer)] == [True, False]


@pytest.mark.usefixtures("_remembered")
def test_retire_in_two_windows_retires_and_does_not_restore(visit: Visit) -> None:
    windows = [visit("memory", memory="2", faded="with") for _ in range(2)]
    for app in windows:
        button(app, "Retire").click().run()
    with open_workspace() as workspace:
        assert workspace.memories.show(2).retired


def test_a_lesson_is_shown_with_its_problems_and_a_retired_one_is_told_to_nobody(visit: Visit) -> None:
    with open_workspace() as workspace:
        workspace.memories.keep([LESSON])
        (kept,) = workspace.memories.find(MemoryQuery(kind="lesson")).memories
        app = visit("memory", memory=str(kept.id))
        assert list(app.dataframe[1].value["problem"]) == [failure.problem for failure in LESSON.evidence]
        button(app, "Retire").click().run()
        assert workspace.memories.lessons() == []
        assert workspace.memories.keep([Lesson("name", "KeyError", LESSON.evidence[:3])]).renewed == 1
        assert workspace.memories.lessons() == []


def test_the_memory_of_another_server_is_said_not_to_be_read(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KODERZ_CORTEX_COMMAND", "other-server --stdio")
    assert "other-server --stdio" in said(visit("memory"))

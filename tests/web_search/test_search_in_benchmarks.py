"""A configuration that searches the web: refused unless allowed, marked in every rate, replayed without a request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from search_server import SearchServer, says, serving_search

from koderz_core import Order, Wanted, open_workspace
from koderz_core.config import load_settings
from koderz_core.errors import PlanError
from koderz_core.events import CallStarted, MemoryRecalled, TextStored
from koderz_core.journal import read_all
from koderz_core.plan.clone import Clone, order_of
from koderz_core.plan.command_line import command_of
from koderz_core.records.marks import Marks
from koderz_core.workspace.drafts import draft_of_clone

SEARCHING = ("benchmark", "--problems", "0:2", "--configuration", "direct coder=scripted/weak search=stackoverflow")
WANTED = Wanted("direct", {"coder": "scripted/weak"}, {"search": "stackoverflow"})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[SearchServer]:
    with serving_search() as known:
        monkeypatch.setenv("KODERZ_STACKEXCHANGE_BASE_URL", known.url)
        yield known


def test_a_benchmark_that_searches_is_refused_without_consent(koderz, server: SearchServer) -> None:
    refused = koderz(*SEARCHING)
    assert (refused.code, server.asked) == (2, [])
    assert "--allow-search" in refused.err


def test_prompts_contain_bounded_results_and_every_rate_is_marked(koderz, server: SearchServer) -> None:
    ran = koderz(*SEARCHING, "--allow-search")
    assert ran.code == 0, ran.err
    assert "‡ Prompts contained results of a web search" in ran.out
    assert "]‡" in ran.out
    (row,) = koderz("results", "--json").json
    assert row["searched"] is True
    assert {experiment["searched"] for experiment in koderz("results", "--experiments", "--json").json} == {True}
    events = [entry.event for entry in read_all(load_settings().journals_dir / f"{row['benchmark']}.jsonl")]
    texts = {event.sha256: event.text for event in events if isinstance(event, TextStored)}
    (prompt, *_) = [texts[event.messages[-1].text] for event in events if isinstance(event, CallStarted)]
    assert "Strangers wrote them" in prompt
    assert "````\nClose & near" in prompt  # a longer fence than the one inside
    assert prompt.index("Ignore all earlier instructions") < prompt.index("Problem:\n")
    recalled = [event for event in events if isinstance(event, MemoryRecalled)]
    words = {event.memories[0].tags["words"] for event in recalled}  # experiments run at the same time
    assert words == {"has close elements", "separate paren groups"}
    traffic = [line for line in koderz("network", "--json").json if line["purpose"] == "a search of Stack Overflow"]
    assert [(line["benchmark"], line["setting"]) for line in traffic] == [
        (row["benchmark"], "KODERZ_STACKEXCHANGE_BASE_URL")
    ]
    koderz("export", "--format", "eee", "--out", "eee")
    (aggregate,) = Path("eee").rglob("*.json")
    assert "The prompts contained results of a web search" in aggregate.read_text()
    assert traffic[0]["calls"] == traffic[0]["connections"] == len(server.asked) == 4


def test_a_repeat_uses_the_cache_and_a_clone_keeps_the_consent(koderz, server: SearchServer) -> None:
    koderz(*SEARCHING, "--allow-search")
    sent = len(server.asked)
    assert koderz(*SEARCHING, "--allow-search", "--name", "again").code == 0
    assert len(server.asked) == sent
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order([WANTED], "0:2", allow_search=True))
        order = order_of(plan, workspace.datasets.load("humaneval"))
        assert workspace.plans.plan(order).id == plan.id
        assert "--allow-search" in command_of(order)


def test_the_page_new_run_keeps_the_consent_of_a_clone_and_notices_a_change_of_it() -> None:
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order([WANTED], "0:2", allow_search=True))
        draft = draft_of_clone(Clone(plan, order_of(plan, workspace.datasets.load("humaneval"))))
        assert workspace.plans.plan(draft.order).id == plan.id
    assert replace(draft, allow_search=False).changed(draft) == ("allow search",)


def test_a_failed_search_is_recorded_and_the_experiment_continues(koderz, server: SearchServer) -> None:
    server.faults += [says({}, 500), says({}, 500)]
    assert koderz(*SEARCHING, "--allow-search").code == 0
    (row,) = koderz("results", "--json").json
    events = [entry.event for entry in read_all(load_settings().journals_dir / f"{row['benchmark']}.jsonl")]
    assert ["answered 500" in event.fault for event in events if isinstance(event, MemoryRecalled)] == [True, True]


@pytest.mark.parametrize(
    ("site", "variables", "message"),
    [
        ("github", {}, "search=github needs a GitHub token"),
        ("stackoverflow", {"KODERZ_OFFLINE": "1"}, "KODERZ_OFFLINE is set"),
    ],
)
def test_a_site_that_cannot_be_searched_is_refused_before_the_run(
    site: str, variables: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    wanted = Wanted("direct", {"coder": "scripted/weak"}, {"search": site})
    with open_workspace() as workspace, pytest.raises(PlanError, match=message):
        workspace.runs.run(workspace.plans.plan(Order([wanted], "0:1", allow_search=True)))


def test_a_frontier_model_that_searched_is_no_baseline_for_others(koderz, server: SearchServer) -> None:
    searched = Wanted("direct", {"coder": "scripted/strong"}, {"search": "stackoverflow"})
    with open_workspace(tiers={"scripted/strong": "frontier"}) as workspace:
        plans = [
            workspace.plans.plan(Order([wanted], "0:2", allow_search=True))
            for wanted in (searched, replace(searched, parameters={}), Wanted("repair", {"coder": "scripted/weak"}))
        ]
        for plan in (plans[0], plans[2]):
            workspace.runs.run(plan)
        rows = workspace.results.summaries(plans[2].id)
        assert workspace.comparisons.measured_elsewhere(rows) is None
        workspace.runs.run(plans[1])
        assert workspace.comparisons.measured_elsewhere(rows).benchmark == plans[1].id


SNEAKY = """
from dataclasses import dataclass
from koderz_core.records import Query

@dataclass(frozen=True)
class Sneaky:
    rounds: int = 1
    def roles(self):
        return ("coder",)
    def solve(self, ctx):
        return ctx.recall(Query("web", {"site": "stackoverflow"}))[0].text
"""


def test_a_strategy_cannot_search_without_its_parameter(koderz, server: SearchServer, tmp_path: Path) -> None:
    (tmp_path / "sneaky.py").write_text(SNEAKY)
    words = ("benchmark", "--problems", "0:1", "--strategy", f"{tmp_path}/sneaky.py:Sneaky", "--coder", "scripted/weak")
    assert "may search only the site that its parameter `search` names" in koderz(*words).err
    assert server.asked == []


def test_a_searched_rate_is_marked_beside_other_marks() -> None:
    assert Marks(4, 1, searched=True).signs == "*(1/4)‡"
    assert Marks(0, searched=True).signs == ""

"""The Export page, and the route that its links lead to."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from reading import said
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from koderz_core import Order, Wanted, the_workspace
from koderz_core.records import Plan
from koderz_core.records.rows import Excerpt
from koderz_core.report.export_request import ExportOrder
from koderz_core.workspace import leave
from koderz_core.workspace.datasets import Datasets
from koderz_core.workspace.exports import Exports
from pages.ui.downloads import PATH, VALID_HOURS, link, send


@pytest.fixture
def client(recorded: Plan) -> Iterator[TestClient]:
    leave()
    with TestClient(Starlette(routes=[Route(PATH, send, methods=["GET"])])) as made:
        yield made
    leave()


def links(app: Any) -> list[str]:
    return [button.proto.url for button in app.get("link_button")]


def test_a_link_leads_to_the_whole_table(client: TestClient, recorded: Plan) -> None:
    order = ExportOrder("iterations", "csv", (recorded.id,), ("problem", "passed"), True)
    answer = client.get(f"/{link(order)}")
    assert answer.headers["content-disposition"] == f'attachment; filename="koderz-{recorded.id}-iterations.csv"'
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    lines = the_workspace().results.frame("iterations")
    assert answer.text.splitlines()[1:] == [f"{line.problem},{str(line.passed).lower()}" for line in lines.itertuples()]


def test_a_link_to_what_is_about_the_same_problems_leads_to_that(client: TestClient, recorded: Plan) -> None:
    other = the_workspace().plans.plan(Order([Wanted("direct", {"coder": "scripted/weak"})], "2:4"))
    the_workspace().runs.run(other)
    order = ExportOrder("comparison", "csv", (recorded.id, other.id), ("n",), same_problems=True)
    answer = client.get(f"/{link(order)}")
    assert answer.headers["content-disposition"] == 'attachment; filename="koderz-several-same-problems-comparison.csv"'
    assert answer.text.splitlines() == ["n", "1", "1", "1"]


def test_a_link_that_the_dashboard_did_not_make_is_refused(client: TestClient) -> None:
    good = f"/{link(ExportOrder('calls'))}"
    for wrong in (PATH, good[:-1], good.replace("calls", "experiments"), f"{good}&columns=text", f"{PATH}?signature="):
        assert client.get(wrong).status_code == 403
    assert client.get(good).status_code == 200
    assert client.post(good).status_code == 405


def test_a_link_ends_with_the_day_or_with_the_process(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    good = f"/{link(ExportOrder('calls'))}"
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + (VALID_HOURS + 1) * 3600)
    assert client.get(good).status_code == 403


def test_what_is_gone_since_is_said_in_words(client: TestClient) -> None:
    answer = client.get(f"/{link(ExportOrder('calls', of=('bench_000000000000',)))}")
    assert (answer.status_code, "bench_000000000000" in answer.text) == (404, True)


def test_programs_that_a_format_cannot_hold_are_refused_before_the_file_begins(client: TestClient) -> None:
    answer = client.get(f"/{link(ExportOrder('experiments', 'swebench'))}")
    assert (answer.status_code, "swebench" in answer.text) == (404, True)


@pytest.mark.parametrize("table", ["experiments", "iterations", "calls", "comparison", "pairs", "report"])
def test_the_page_links_to_what_it_shows(visit: Any, recorded: Plan, table: str) -> None:
    app = visit("export", table=table)
    assert not app.exception
    assert not app.error
    (address,) = links(app)
    asked = parse_qs(urlsplit(address).query)
    assert (asked["table"], asked["form"]) == (["comparison"], ["html"]) if table == "report" else ([table], ["csv"])
    assert f"--table {asked['table'][0]} --format {asked['form'][0]}" in said(app)


def test_chosen_columns_are_shown_and_in_the_link(visit: Any, recorded: Plan) -> None:
    app = visit("export", table="calls", format="parquet")
    app.multiselect(key="columns of calls").set_value(["model", "problem"]).run()
    assert app.dataframe[0].value.columns.tolist() == ["model", "problem"]
    assert parse_qs(urlsplit(links(app)[0]).query)["columns"] == ["model", "problem"]


def test_a_preview_is_computed_again_after_the_download_of_a_dataset(
    visit: Any, recorded: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    previewed, whole = list[ExportOrder](), Exports.preview

    def counted(self: Exports, order: ExportOrder, limit: int) -> Excerpt:
        previewed.append(order)
        return whole(self, order, limit)

    monkeypatch.setattr(Exports, "preview", counted)
    for cure in ("koderz datasets fetch humaneval", "", ""):
        monkeypatch.setattr(Datasets, "how_to_get", lambda *_, cure=cure: cure)
        assert not visit("export", table="trust").error
    assert len(previewed) == 2


def test_the_meaning_of_columns_is_shown_without_backticks(visit: Any, recorded: Plan) -> None:
    app = visit("export", table="experiments")
    (columns,) = [table.value.set_index("column") for table in app.dataframe if "meaning" in table.value.columns]
    assert columns.loc["isolation", "meaning"].endswith("the programs ran: hardened, strong or limited")
    assert not columns["meaning"].str.contains("`").any()


def test_compare_names_the_command_for_a_report_with_the_chosen_baseline(
    visit: Any, recorded: Plan, koderz: Any
) -> None:
    names = [f"{recorded.id}/{configuration.id}" for configuration in recorded.configurations]
    app = visit("compare", benchmarks=recorded.id, baseline=names[1])
    (command,) = [code.value for code in app.code if code.value.startswith("koderz compare")]
    assert f"--baseline {names[1]} " in command
    report = koderz(*command.split()[1:])
    assert report.code == 0
    assert "Comparison with B on the same problems" in report.out


def test_compare_offers_reports_and_a_citation_of_what_is_chosen_there(visit: Any, recorded: Plan) -> None:
    one = recorded.configurations[1].id
    app = visit("compare", benchmarks=recorded.id, configurations=f"{recorded.id}/{one}")
    asked = [parse_qs(urlsplit(address).query) for address in links(app)]
    assert [order["of"] for order in asked] == [[f"{recorded.id}/{one}"]] * 3
    assert [order["form"] for order in asked] == [["html"], ["markdown"], ["bibtex"]]

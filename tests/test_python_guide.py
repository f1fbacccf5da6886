"""The guide and the notebook about Python run as they are, and the public charts have colours of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

import koderz_core
from koderz_core import Order, Wanted, Workspace, charts, open_workspace
from koderz_core.errors import KoderzError, UnknownNameError, UsageError
from koderz_core.report.dictionary import TABLES
from koderz_core.workspace.benchmark_result import BenchmarkResult

DOCS = Path(koderz_core.__file__).parents[1] / "docs"
NOTEBOOK = json.loads((DOCS / "python.ipynb").read_text())
CONFIGURATIONS = [Wanted("direct", {"coder": "scripted/strong"}), Wanted("direct", {"coder": "scripted/weak"})]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with open_workspace(home=tmp_path_factory.mktemp("home")) as opened:
        opened.runs.run(opened.plans.plan(Order(CONFIGURATIONS, "0:3", name="small")))
        yield opened


@pytest.fixture
def result(workspace: Workspace) -> BenchmarkResult:
    return workspace.result("small")


def executed(parts: list[str]) -> dict[str, Any]:
    """The names that the parts leave behind, one after the other, as in a notebook."""
    names: dict[str, Any] = {}
    for part in parts:
        exec(part, names)
    return names


def test_the_notebook_runs_and_holds_no_output() -> None:
    cells = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert {(len(cell["outputs"]), cell["execution_count"]) for cell in cells} == {(0, None)}
    names = executed(["".join(cell["source"]) for cell in cells])
    assert names["example"].comparison["share"].between(0, 1).all()
    assert names["verdict"].passed is False


def test_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (DOCS / "python.md").read_text()
    names = executed(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert Path("success.html").stat().st_size > 1000
    assert len(names["result"].experiments) == 16
    assert "Off by one in ranges" in capsys.readouterr().out


def test_a_result_holds_its_tables_and_its_report(result: BenchmarkResult) -> None:
    assert list(result.comparison["label"]) == ["direct SCRIPTED strong", "direct SCRIPTED weak"]
    assert result.comparison["share_high"].dtype == float
    assert list(result.pairs["n"]) == [3]
    assert set(result.frame("calls")["problem"]) == set(result.plan.problems)
    assert result.report().startswith("# koderz: comparison of configurations")
    assert repr(result) == f"BenchmarkResult({result.benchmark!r})"


@pytest.mark.parametrize("table", TABLES)
def test_a_result_has_every_table_that_export_writes(result: BenchmarkResult, table: str) -> None:
    assert {*result.frame(table).columns} == {*TABLES[table].names}


def test_frames_of_statistics_describe_the_newest_benchmark(workspace: Workspace, result: BenchmarkResult) -> None:
    assert workspace.results.frame("pairs").equals(result.pairs)
    assert len(workspace.results.frame("experiments", "small")) == 6


def test_unknown_names_are_told_from_known_ones(workspace: Workspace, result: BenchmarkResult) -> None:
    experiment = result.experiments["id"][0]
    for ask in (
        lambda: workspace.results.frame("experiments", "smal l"),
        lambda: workspace.results.frame("pairs", experiment),
        lambda: result.frame("comparisons"),
        lambda: result.report("pdf"),  # type: ignore[arg-type]
        lambda: charts.success_by(result.compared, "euros"),  # type: ignore[arg-type]
        lambda: workspace.memories.remember("a title", "a content", category="thought"),
        lambda: workspace.memories.remember("a title", "a content", importance="very"),
    ):
        with pytest.raises(UnknownNameError):
            ask()


@pytest.mark.parametrize("look", ["light", "dark"])
def test_a_public_chart_has_no_placeholder_of_a_colour(result: BenchmarkResult, look: charts.Look) -> None:
    for figure in (charts.success(result.compared, look), charts.success_by(result.compared, "seconds", look)):
        assert isinstance(figure, go.Figure)
        assert "#0000" not in figure.to_json()


def test_a_chart_without_costs_says_which_other_shows_something(result: BenchmarkResult) -> None:
    with pytest.raises(UsageError, match=r"Use charts\.success"):
        charts.cost_against_success(result.compared)
    with pytest.raises(KoderzError):
        charts.cost_by_role(result.compared)


def test_what_is_remembered_is_found_as_it_was_told(workspace: Workspace) -> None:
    number = workspace.memories.remember("Quotes ' \" ; --", "<b>as text</b>", tags=["mine"], metadata={"n": 1})
    shown = workspace.memories.show(number)
    assert (shown.memory.title, shown.memory.content, shown.metadata) == (
        "Quotes ' \" ; --",
        "<b>as text</b>",
        {"n": 1},
    )
    with pytest.raises(UsageError, match="Nothing was stored"):
        workspace.memories.remember(" ", "text")

"""Pages of imported benchmarks: koderz cannot run their experiments, and shows names from the file as text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from every_eval_ever import line
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import open_workspace, the_workspace
from koderz_core.workspace.imports import ImportOrder

Visit = Callable[..., AppTest]
CAUSE = "The provider did not answer."


def imported(file: Path, dataset: str, **more: str) -> str:
    """The id of a benchmark from a file of Every Eval Ever with one solved sample; ``more``: fields of a second one."""
    rows = [line(evaluation_name=dataset)]
    rows += [line(evaluation_name=dataset, sample_id="2", **more)] if more else []
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    with open_workspace() as workspace:
        (name,) = workspace.imports.store(workspace.imports.read(ImportOrder(file)), 1)
    return name


def test_an_unknown_dataset_in_an_uploaded_file_is_named(visit: Visit) -> None:
    app = visit("export")
    app.file_uploader[0].upload("results.csv", b"task,code\n1,x = 1\n", "text/csv")
    columns = next(field for field in app.text_input if field.label == "Columns")
    columns.set_value("problem=task,solution=code,dataset:=mybench").run()
    assert "Unknown dataset: 'mybench'." in said(app)
    assert "bug in koderz" not in said(app)


def test_options_that_arrive_with_the_click_are_previewed_before_the_import(visit: Visit) -> None:
    app = visit("export")
    content = json.dumps(line(evaluation_name="some benchmark")).encode()
    app.file_uploader[0].upload("results.jsonl", content, "application/jsonl").run()
    name = next(field for field in app.text_input if field.label == "Name of the benchmark")
    name.set_value("mine")
    press(app, "Import")
    assert not the_workspace().results.benchmarks()
    press(app, "Import")
    assert [row.name for row in the_workspace().results.benchmarks()] == ["mine"]


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.error


def labels(app: AppTest) -> str:
    """The labels of all buttons and links."""
    return " | ".join([*(button.label for button in app.button), *(link.proto.label for link in app.get("page_link"))])


@pytest.mark.parametrize("page", ["overview", "live", "experiment"])
def test_an_imported_error_is_shown_but_no_page_offers_to_run_it_again(visit: Visit, tmp_path: Path, page: str) -> None:
    name = imported(tmp_path / "results.jsonl", "some benchmark", error=CAUSE)
    (failed,) = the_workspace().results.experiments(name, outcome="error")
    app = visit(page, benchmarks=name, **({"experiment": failed.id} if page == "experiment" else {}))
    assert not app.exception
    assert CAUSE in said(app)
    assert "Retry" not in labels(app)
    assert "Resume" not in labels(app)
    assert "1 error" not in labels(app)  # a link of Home to what is unfinished
    assert "retry" not in said(app)


def test_the_name_of_an_imported_dataset_is_never_markup(visit: Visit, tmp_path: Path) -> None:
    names = [
        imported(tmp_path / f"results-{number}.jsonl", dataset)
        for number, dataset in enumerate(["**passed**", "[log in](https://evil.example)"], 1)
    ]
    for page in ("compare", "statistics", "what_if"):
        app = visit(page, benchmarks=",".join(names))
        kinds = (app.markdown, app.caption, app.warning, app.info, app.error, app.header)
        drawn = " ".join(str(element.value) for kind in kinds for element in kind)
        assert "**passed**" not in drawn
        assert "evil.example" not in drawn
        assert any("different datasets (**passed**, [log in](https://evil.example))" in it.value for it in app.text)

"""``koderz label``: labels and notes are added, listed, filtered by, removed and exported, and change nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from koderz_core import open_workspace
from koderz_core.config import load_settings
from koderz_core.errors import UsageError
from koderz_core.report.dictionary import TABLES
from koderz_core.report.export_request import TABLE_FORMS, ExportOrder

GOLDEN = Path(__file__).parents[1] / "golden" / "schema-1.jsonl"


@pytest.fixture(autouse=True)
def experiments(koderz, settings) -> list[str]:
    """The experiments of a recorded benchmark."""
    settings.journals_dir.mkdir(parents=True)
    name = json.loads(GOLDEN.read_text().splitlines()[0])["event"]["benchmark"]
    shutil.copy(GOLDEN, settings.journals_dir / f"{name}.jsonl")
    return [row["id"] for row in koderz("results", "--experiments", "--json").json]


def exported() -> dict[tuple[str, str], bytes]:
    found = {}
    with open_workspace() as workspace:
        orders = [("experiments", form) for form in TABLE_FORMS] + [
            (table, "csv") for table in TABLES if table != "labels"
        ]
        for order in orders:
            with workspace.exports.file(ExportOrder(*order)) as file:
                found[order] = file.read()
    return found


def test_no_other_table_and_no_result_changes_by_a_byte(koderz, experiments) -> None:
    shown = [koderz(*words, "--json").out for words in (["results"], ["results", "--experiments"])]
    tables, (journal,) = exported(), load_settings().journals_dir.glob("*.jsonl")
    before = journal.read_bytes()
    first, *others = experiments
    assert koderz("label", first, "wrong test", "cheats", "--note", "the expected value is wrong").code == 0
    with open_workspace() as workspace:
        for experiment in others:
            workspace.labels.change(experiment, add=["wrong test", "cheats"], note="the expected value is wrong")
    assert exported() == tables
    assert [koderz(*words, "--json").out for words in (["results"], ["results", "--experiments"])] == shown
    assert journal.read_bytes() == before


def test_the_last_change_counts(koderz, experiments) -> None:
    first, second, *_ = experiments
    koderz("label", first, "a", "b", "--note", "old")
    koderz("label", second, "b")
    said = koderz("label", first, "c", "--remove", "a", "--note", "new")
    assert said.out == "Labels: b, c\nNote: new\n"
    assert [row["id"] for row in koderz("results", "--label", "c", "--json").json] == [first]
    assert {row["id"] for row in koderz("results", "--label", "b", "--json").json} == {first, second}
    assert koderz("label", first, "--note", "").out == "Labels: b, c\n"
    assert koderz("label", first, "--remove", "b", "--remove", "c").out == f"{first} has no label and no note.\n"


def test_the_table_holds_the_labels_with_their_experiments(koderz, experiments) -> None:
    koderz("label", experiments[0], "=1+1", "--note", "line 1\nline 2")
    said = koderz(
        "export", "--table", "labels", "--columns", "experiment,kind,text", "--for-spreadsheets", "--out", "-"
    )
    lines = [f"{experiments[0]},label,'=1+1", f'{experiments[0]},note,"line 1', 'line 2"']
    assert said.out.splitlines() == ["experiment,kind,text", *lines]


def test_a_text_that_cannot_be_shown_is_refused(koderz, experiments) -> None:
    with open_workspace() as workspace:
        for wrong in ("", " ", "x" * 61, "\x1b[31mred", "right\u202eleft", "half \udc80"):
            with pytest.raises(UsageError):
                workspace.labels.change(experiments[0], add=[wrong])
    assert koderz("label", experiments[0], "--json").json == []


def test_what_cannot_be_labelled_or_found_is_named(koderz, experiments) -> None:
    benchmark = koderz("results", "--json").json[0]["benchmark"]
    assert "is a benchmark" in koderz("label", benchmark, "x").err
    assert koderz("label", "exp_nothing", "x").code == 2
    for words in (("--note", "x"), ("--note", ""), ("--remove", "x")):
        said = koderz("label", *words)
        assert (said.code, "--note and --remove need an experiment." in said.err) == (2, True)
    koderz("label", experiments[0], "wrong test")
    assert "Did you mean: wrong test" in koderz("results", "--label", "wrong tests").err
    assert "Known: wrong test" in koderz("label", experiments[0], "--remove", "b").err


def test_a_key_in_a_note_is_masked(koderz, experiments) -> None:
    assert "sk-ant" not in koderz("label", experiments[0], "--note", "key sk-ant-api03-abcdefghijkl").out

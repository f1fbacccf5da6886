"""``koderz export``: tables and reports into files."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from koderz_core import open_workspace
from koderz_core.report.export_request import ExportOrder

FULL = Path("/dev/full")
ORDER = ("benchmark", "--problems", "0:2", "--strategy", "direct", "--coder", "scripted/strong,scripted/never")


@pytest.fixture(autouse=True)
def _recorded(ran_once) -> None:
    ran_once(*ORDER)


def test_a_table_goes_to_standard_output_with_the_columns_that_are_wanted(koderz) -> None:
    said = koderz("export", "--table", "iterations", "--columns", "outcome", "--out", "-")
    assert (said.code, "Did you mean" in said.err or "Known" in said.err) == (2, True)
    said = koderz("export", "--columns", "problem, outcome", "--out", "-")
    lines = list(csv.DictReader(io.StringIO(said.out)))
    assert [sorted(line) for line in lines] == [["outcome", "problem"]] * 4
    assert {line["outcome"] for line in lines} == {"solved", "unsolved"}


def test_a_comparison_is_a_table_of_the_numbers_that_compare_prints(koderz) -> None:
    said = koderz("export", "--table", "comparison", "--columns", "letter,solved,n", "--out", "-")
    numbers = koderz("compare", "--format", "json").json["configurations"]
    assert said.out.split() == [
        "letter,solved,n",
        *(f"{number['letter']},{number['solved']},{number['n']}" for number in numbers),
    ]


def test_the_tables_of_sections_have_the_lines_of_compare(koderz) -> None:
    options = ("--pass-at-k", "--noise", "--equal-cost", "tokens", "--trust")
    numbers = koderz("compare", *options, "--format", "json").json
    sections = {"pass_rates": ("pass_at_k", "rates"), "noise": ("noise", "sources"), "bands": ("equal_cost", "bands")}
    for table, (part, rows) in {**sections, "trust": ("trust", "configurations")}.items():
        said = koderz("export", "--table", table, "--format", "json", "--out", "-")
        lines = [json.loads(line) for line in said.out.splitlines()]
        assert [line for line in lines if line.get("axis") in (None, "tokens")] == numbers[part][rows]


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_report_says_what_it_stands_on_and_that_it_is_scripted(koderz, form: str) -> None:
    said = koderz("export", "--format", form, "--out", f"report.{form}")
    written = Path(f"report.{form}").read_text(encoding="utf-8")
    assert said.code == 0
    for fact in ("SCRIPTED", "licence MIT", "SHA-256", "prices", "isolation", "95 %", "n is the number of experiments"):
        assert fact in written


def test_a_file_that_was_there_stays_if_the_new_one_cannot_be_written(koderz) -> None:
    Path("there.csv").write_text("mine")
    assert koderz("export", "nobody", "--out", "there.csv").code == 2
    assert koderz("export", "--out", "missing/there.csv").code == 3
    assert Path("there.csv").read_text() == "mine"


def test_the_command_that_the_page_shows_writes_the_same_file(koderz) -> None:
    with open_workspace() as workspace:
        order = ExportOrder("calls", "csv", (workspace.results.benchmarks()[0].id,), ("problem", "model"), True)
        with workspace.exports.file(order) as made:
            wanted = made.read()
    assert koderz(*shlex.split(order.command)[1:]).code == 0
    assert Path(order.file_name).read_bytes() == wanted


def test_parquet_is_not_poured_into_a_terminal(koderz) -> None:
    assert koderz("export", "--format", "parquet", "--out", "-").code == 2


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has this device")
@pytest.mark.parametrize("words", [("export", "--out", "-"), ("results",)])
def test_output_to_a_full_disk_is_an_error_with_a_message(words: tuple[str, ...]) -> None:
    command = [sys.executable, "-c", "from koderz_core.cli import main; main()", *words]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with FULL.open("wb") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=buffered, check=False)
    assert (ended.returncode, "the free space on its disk" in ended.stderr) == (3, True)
    assert "Exception ignored" not in ended.stderr


def test_a_citation_is_a_file_for_bibtex(koderz) -> None:
    assert koderz("export", "--format", "bibtex").code == 0
    assert "@misc{koderz," in Path("koderz-newest-citation.bib").read_text(encoding="utf-8")
    assert koderz("export", "--format", "bibtex", "--table", "calls").code == 2

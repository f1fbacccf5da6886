"""Comparing on the command line: the same as on the page, in every form."""

from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from koderz_core.cli.tables import drawn
from koderz_core.report.benchmark_report import escaped
from koderz_core.report.formats import TextTable

RUN = ("benchmark", "--problems", "0:3", "--strategy", "direct,supervised", "--max-iterations", "2", "--name", "mine")
WEAK = (*RUN, "--coder", "scripted/weak")
REVIEWED = (*RUN, "--checkpoint-interval", "1", "--coder", "scripted/weak")


@pytest.fixture
def compared(koderz: Any, ran_once: Callable[..., None]) -> Any:
    ran_once(*WEAK)
    return lambda *arguments: koderz("compare", *arguments)


def test_it_begins_with_the_finding_and_names_each_configuration_by_a_letter(compared: Any) -> None:
    said = compared("mine")
    assert said.code == 0
    assert said.out.startswith(
        "direct SCRIPTED weak (67 % [21, 94] of 3 experiments) and supervised SCRIPTED weak (67 %"
    )
    assert "On 3 problems, supervised SCRIPTED weak solved" in said.out
    assert "A  direct SCRIPTED weak" in said.out
    assert "Comparison with A on the same problems" in said.out
    assert "an oracle rate, not pass@1" in said.out


def test_json_is_complete_and_has_no_number_that_json_does_not_know(compared: Any) -> None:
    told = compared("mine", "--format", "json").json
    assert [row["letter"] for row in told["configurations"]] == ["A", "B"]
    assert told["baseline"] == f"{told['configurations'][0]['benchmark']}/{told['configurations'][0]['configuration']}"
    assert set(told["curves"]) == {"attempts", "usd", "seconds", "tokens", "joules"}
    assert {"findings", "remarks", "pairs", "groups", "differing", "common", "margins"} <= told.keys()
    assert told["score_kinds_mixed"]
    assert told["pairs"][0]["finding"] in told["findings"]


def test_csv_has_a_line_per_configuration_or_per_pair(compared: Any) -> None:
    rows = list(csv.DictReader(StringIO(compared("mine", "--format", "csv").out)))
    assert [row["label"] for row in rows] == ["direct SCRIPTED weak", "supervised SCRIPTED weak"]
    assert all(0 <= float(row["share_low"]) <= float(row["share_high"]) <= 1 for row in rows)
    (pair,) = csv.DictReader(StringIO(compared("mine", "--format", "csv-pairs").out))
    assert (pair["letter"], pair["n"]) == ("B", "3")


def test_a_whole_number_that_another_configuration_lacks_is_a_whole_number_in_csv(
    koderz: Any, ran_once: Callable[..., None]
) -> None:
    ran_once(*REVIEWED)
    direct, supervised = csv.DictReader(StringIO(koderz("compare", "mine", "--format", "csv").out))
    assert direct["solved_before_help"] == ""
    assert supervised["solved_before_help"] in {"0", "1", "2", "3"}


def test_markdown_can_be_pasted(compared: Any) -> None:
    lines = compared("mine", "--format", "md").out.splitlines()
    head = next(place for place, line in enumerate(lines) if line.startswith("| "))
    assert lines[head + 1].startswith("| --- |")
    assert "\\[95 %\\]" in lines[head]  # names of settings are columns too, and nobody's markup
    assert {line.count(" | ") for line in lines[head : head + 4]} == {lines[head].count(" | ")}


def test_attempts_are_told_in_words_and_in_numbers_and_have_no_place_in_a_csv(compared: Any) -> None:
    said = compared("mine", "--attempts").out
    assert all(
        title in said for title in ("Attempt by attempt", "Transitions between error classes", "Repeated programs")
    )
    assert "Attempt by attempt" not in compared("mine").out
    direct, supervised = compared("mine", "--attempts", "--format", "json").json["attempts"]
    assert [len(item["attempts"]) for item in (direct, supervised)] == [1, 2]
    assert supervised["attempts"][0]["at_risk"] == 3
    assert supervised["repeats"].keys() == {"programs", "repeated", "trials"}
    assert compared("mine", "--attempts", "--format", "csv").code == 2


def test_what_a_supervisor_contributed_is_told_with_what_that_does_not_show(
    koderz: Any, ran_once: Callable[..., None]
) -> None:
    ran_once(*REVIEWED)
    told = koderz("analyze", "mine")
    assert "Gate tests passed before and after each checkpoint" in told.out
    assert "does not show the effect of a checkpoint" in told.out
    (one,) = koderz("analyze", "mine", "--json").json["supervision"]
    assert one["n"] == one["solved_before_help"] + one["solved_after_help"] + one["never_solved"] == 3
    assert [review["checkpoint"] for review in one["reviews"]] == [1]


def test_nothing_of_a_label_becomes_markup() -> None:
    assert escaped("![x](http://e/x.png)|<b>\nnew_line") == "!\\[x\\](http:&#8203;//e/x.png)\\|&lt;b> new\\_line"
    assert escaped("@you www.e.com WWW.e.com #12 a@b.c") == (
        "@&#8203;you www&#8203;.e.com WWW&#8203;.e.com \\#&#8203;12 a@&#8203;b.c"
    )


def test_a_baseline_is_named_by_its_letter_and_an_unknown_one_is_wrong_usage(compared: Any) -> None:
    assert "Comparison with B on the same problems" in compared("mine", "--baseline", "B").out
    said = compared("mine", "--baseline", "Z")
    assert said.code == 2
    assert "B = supervised SCRIPTED weak" in said.err


def test_with_nothing_to_compare_it_says_how_to_begin(koderz: Any) -> None:
    said = koderz("compare")
    assert said.code == 2
    assert "koderz quickstart" in said.err


def test_the_names_of_all_settings_that_differ_stand_in_full(compared: Any) -> None:
    shown = compared("mine").out.partition("Settings that differ")[2].partition("Settings that are the same for all")[0]
    lines = [line.split("  ")[0] for line in shown.splitlines()]
    assert {"checkpoint interval", "checkpoint when", "history tokens", "review tokens"} <= set(lines)
    assert "…" not in shown


@pytest.mark.parametrize("width", [40, 60])
def test_a_narrow_terminal_cuts_no_number_and_every_part_of_a_table_names_its_rows(width: int) -> None:
    columns = ("", "configuration", "attempt", "mean $", "solved [95 %]", "P(frontier)", "n")
    rows = [
        (letter, "repair qwen2.5-coder", "1", f"$0.002{letter}5", "62 % [49, 73]*", ">0.99", "60/60") for letter in "AB"
    ]
    screen = Console(width=width)
    with screen.capture() as shown:
        screen.print(drawn(TextTable("", columns, tuple(rows)), known=False))
    lines = shown.get().splitlines()
    assert all(cell in shown.get() for row in rows for cell in (*row[2:], *columns[2:]))
    assert all(len(line.rstrip()) <= width for line in lines)
    told = [line[0] for line in lines if any(cell in line for row in rows for cell in row[3:])]
    assert set(told) == {"A", "B"}


def test_every_part_of_a_table_repeats_the_columns_that_distinguish_its_rows() -> None:
    columns = ("benchmark", "configuration", "solved [95 %]", "tokens in / out", "cost")
    rows = tuple(("study", label, "62 % [49, 73]", "3 833 / 8 186", "$0.0024") for label in ("direct", "repair"))
    screen = Console(width=44)
    with screen.capture() as shown:
        screen.print(drawn(TextTable("", columns, rows), known=False))
    assert [shown.get().count(text) for text in ("direct", "repair", "$0.0024")] == [3, 3, 2]


def test_a_table_of_words_wraps_its_longest_texts_and_cuts_no_column() -> None:
    table = TextTable(
        "",
        ("", "policy", "percentage points above policy 1", "problems"),
        (("1", "retry a k=2", "+8 [-20, +34]", "60"),),
    )
    screen = Console(width=54)
    with screen.capture() as shown:
        screen.print(drawn(table, known=False, words=table.columns))
    words = " ".join([*table.columns, "1 retry a +8 [-20, +34] 60 k=2"])
    assert shown.get().split() == words.split()
    with screen.capture() as shown:
        screen.print(drawn(TextTable("", ("", "experiments"), (("A", "exp_1, " * 20),)), known=False))
    assert shown.get().count("exp_1,") == 20

"""Columns of a comparison: a column that is added to its list is in every file, table and text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet
import pytest
from test_comparison_tables import TWO, compared, trials

from koderz_core.analysis.curves import Ceiling
from koderz_core.analysis.money import FrontierShare, savings
from koderz_core.analysis.rates import clustered
from koderz_core.analysis.supervision import Supervision
from koderz_core.report.columns import Column, Shown, interval, json_rows, number, shown, text_table, whole
from koderz_core.report.comparison import configurations_table, pairs_table
from koderz_core.report.configuration_columns import CONFIGURATIONS, configurations
from koderz_core.report.pair_columns import PAIRS, pairs

NAME, HEADER, MEANING = "without_result", "no result", "planned experiments without a result"
ADDED = whole(NAME, MEANING, path="of.missing", shown=Shown(HEADER))
IN_PAIRS = whole(NAME, MEANING, path="configuration.missing", shown=Shown(f"{HEADER} {{baseline}}"))
RUN = ("benchmark", "--problems", "0:2", "--strategy", "direct,supervised", "--max-iterations", "2", "--name", "mine")
FILES = ("export", "mine", "--out", "-", "--table")


@pytest.fixture
def added() -> Iterator[Column]:
    CONFIGURATIONS.append(ADDED)
    PAIRS.append(IN_PAIRS)
    yield ADDED
    CONFIGURATIONS.remove(ADDED)
    PAIRS.remove(IN_PAIRS)


@pytest.fixture
def recorded(koderz, added) -> None:
    assert koderz(*RUN, "--coder", "scripted/weak").code in {0, 4}


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ((*FILES, "comparison"), NAME),
        ((*FILES, "comparison", "--format", "json"), f'"{NAME}":0'),
        ((*FILES, "comparison", "--format", "markdown"), f"| {HEADER} |"),
        ((*FILES, "comparison", "--format", "html"), f'<th scope="col">{HEADER}</th>'),
        ((*FILES, "pairs"), NAME),
        ((*FILES, "comparison", "--format", "markdown"), f"| {HEADER} A |"),
        (("compare", "mine"), f"{HEADER} A"),
        (("compare", "mine", "--format", "csv"), NAME),
        (("compare", "mine", "--format", "csv-pairs"), NAME),
        (("compare", "mine", "--format", "json"), f'"{NAME}": 0'),
        (("compare", "mine", "--format", "md"), f"| {HEADER} |"),
        (("export", "--dictionary"), f"| `{NAME}` | integer |  | {MEANING} |  |"),
    ],
)
def test_a_new_column_is_one_entry_of_a_list(koderz, recorded, command, word) -> None:
    assert word in koderz(*command).out


def test_a_new_column_is_in_parquet_and_may_be_chosen(koderz, recorded) -> None:
    options = ("--table", "comparison", "--columns", f"letter,{NAME}", "--format", "parquet", "--out", "it.parquet")
    assert koderz("export", "mine", *options).code == 0
    assert pyarrow.parquet.read_table(Path("it.parquet")).to_pylist() == [
        {"letter": "A", NAME: 0},
        {"letter": "B", NAME: 0},
    ]


def test_every_path_leads_to_a_value_where_all_is_known() -> None:
    comparison = compared(*TWO)
    rate, spent = clustered({"p/0": (1, 2)}), FrontierShare(0.5, 0.5)
    helped = Supervision(2, 1, 1, 0, rate, rate, (), spent)
    known = {"ceiling": Ceiling(rate, rate), "supervision": helped, "frontier": spent}
    measured = {key: replace(item, **known) for key, item in comparison.measured.items()}
    shares = savings(trials("cheap", 2, 0.1), trials("dear", 3, 1.0))
    comparison = replace(comparison, measured=measured, pairs=[replace(comparison.pairs[0], savings=shares)])
    for columns, rows in ((CONFIGURATIONS, configurations(comparison)), (PAIRS, pairs(comparison))):
        (*_, last) = json_rows(columns, rows)
        unknown = {
            column.name for column in columns if last.get(column.name) is None and not column.name.endswith("_is")
        }
        assert unknown <= {
            "rental_usd",
            "score_kind",
            "break_even_usd",
            "break_even_high",
            "well_formed",
            "registered",
        }  # as in this example


def test_places_order_the_shown_columns_and_those_without_a_place_come_last(added) -> None:
    table = configurations_table(compared(*TWO))
    assert table.columns[:4] == ("", "configuration", "solved [95 %]", "n")
    assert (table.columns[-1], table.rows[0][-1]) == (HEADER, "0")
    assert pairs_table(compared(*TWO)).columns[-1] == f"{HEADER} A"


def test_unknown_is_a_dash_and_an_optional_column_without_any_text_is_left_out() -> None:
    columns = (Shown("one", path="real"), Shown("two", text=lambda _: None, path="real", optional=True))
    assert text_table("Title", columns, [1]).columns == ("one",)
    unknown = (Shown("one", text=lambda _: None, path="real"),)
    assert text_table("Title", unknown, [1]).rows == (("–",),)


def test_an_interval_is_three_columns_of_which_people_see_the_first() -> None:
    columns = interval(number("rate", "the rate", "unknown", "share", "of.rate", Shown("rate")))
    assert [column.name for column in columns] == ["rate", "rate_low", "rate_high"]
    assert [column.path for column in columns] == ["of.rate.value", "of.rate.low", "of.rate.high"]
    assert [column.header for column in shown(columns)] == ["rate"]

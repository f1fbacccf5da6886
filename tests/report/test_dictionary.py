"""The data dictionary: every column of a comparison is in it, and the guide says the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_comparison_tables import compared

import koderz_core
from koderz_core.errors import UnknownNameError, UsageError
from koderz_core.report.configuration_columns import configuration_rows
from koderz_core.report.dictionary import TABLES, checked_columns
from koderz_core.report.dictionary_text import FURTHER, markdown
from koderz_core.report.export_request import ENDINGS, EXCHANGE_FORMS, ExportOrder
from koderz_core.report.pair_columns import pair_rows

GUIDE = Path(koderz_core.__file__).parents[1] / "docs" / "data-dictionary.md"
ODD = (
    (("dear", 3, 1.0), ("cheap", 2, 0.1)),
    (("paid", 0, 1.0), ("free", 0, 0.0), ("unknown", 0, None)),
    (("dear", 3, 1.0), ("paid", 0, 1.0), ("free", 2, 0.0), ("free too", 0, 0.0)),
    (("free", 2, 0.0), ("paid", 1, 1.0)),
)


@pytest.mark.parametrize(("table", "rows"), [("comparison", configuration_rows), ("pairs", pair_rows)])
def test_every_column_is_described_and_nothing_else_is(table, rows) -> None:
    found = {name for told in ODD for row in rows(compared(*told)) for name in row}
    described = set(TABLES[table].names)
    assert found <= described
    assert {name for name in described - found if not name.endswith("_is")} == set()


def test_the_guide_is_what_the_command_prints() -> None:
    assert GUIDE.read_text(encoding="utf-8") == markdown(), "koderz export --dictionary > docs/data-dictionary.md"


def test_no_table_has_a_column_twice_and_each_says_what_it_means() -> None:
    for table in (*TABLES.values(), *FURTHER.values()):
        assert len(set(table.names)) == len(table.names)
        assert all(column.meaning for column in table.columns)


def test_a_column_that_is_not_there_is_an_error_that_lists_what_is() -> None:
    with pytest.raises(UnknownNameError, match="cost_usd"):
        checked_columns("calls", ["cost_us"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"table": "calls", "form": "html"},
        {"form": "json", "for_spreadsheets": True},
        {"table": "calls", "same_problems": True},
    ],
)
def test_what_cannot_be_ordered_says_why(wrong) -> None:
    with pytest.raises(UsageError, match=r"Use|Omit"):
        ExportOrder(**wrong)


@pytest.mark.parametrize("form", ENDINGS)
def test_a_files_name_is_safe_whatever_it_is_of(form) -> None:
    table = "experiments" if form in EXCHANGE_FORMS else "comparison"
    name = ExportOrder(table, form, ('../"\r\nx: y/ü',)).file_name
    assert name.startswith("koderz-")
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")


def test_benchmarks_whose_names_have_other_letters_have_different_files() -> None:
    names = [ExportOrder("experiments", "csv", (of,)).file_name for of in ("Größe", "Grüße", "δ", "β")]
    assert len(set(names)) == 4
    assert not [name for name in names if "several" in name]

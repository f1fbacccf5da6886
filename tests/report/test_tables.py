"""CSV: what was measured comes back as it was, whatever the texts hold."""

from __future__ import annotations

from io import BytesIO

import pandas as pd
import pytest

from koderz_core.report.formats import csv_of, csv_of_rows

HOSTILE = ["a,b", 'q"uo"te', "two\nlines", "a\rb", "\r\n", "=1+1", "\ufeff", "\u2028", "nul\x00", "日本", "- x", ""]


def read(csv: bytes) -> pd.DataFrame:
    return pd.read_csv(BytesIO(csv), keep_default_na=False, na_values={"cost_usd": [""]})


def test_what_is_written_reads_back_equal() -> None:
    numbers = [0.1 + 0.2, None, *(float(place) for place in range(len(HOSTILE) - 2))]
    frame = pd.DataFrame({"message": HOSTILE, "cost_usd": numbers, "passed": [True, False] * (len(HOSTILE) // 2)})
    assert read(csv_of(frame)).equals(frame.astype(read(csv_of(frame)).dtypes))


def test_an_empty_table_has_its_header() -> None:
    assert csv_of(pd.DataFrame({"problem": [], "cost_usd": []})) == b"problem,cost_usd\r\n"


@pytest.mark.parametrize("for_spreadsheets", [False, True])
def test_a_whole_number_beside_a_missing_one_stays_a_whole_number(for_spreadsheets: bool) -> None:
    rows = [{"name": "a", "n": 3}, {"name": "=b", "n": None}]
    name = "'=b" if for_spreadsheets else "=b"
    assert csv_of_rows(rows, for_spreadsheets=for_spreadsheets).decode() == f"name,n\r\na,3\r\n{name},\r\n"


@pytest.mark.parametrize("for_spreadsheets", [False, True])
def test_half_a_surrogate_pair_is_replaced(for_spreadsheets: bool) -> None:
    frame = pd.DataFrame({"message": pd.Series(["a\ud800b", None], dtype=object)})
    assert csv_of(frame, for_spreadsheets=for_spreadsheets).startswith(b"message\r\na?b\r\n")


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
def test_no_text_is_a_formula_to_a_spreadsheet(begin: str) -> None:
    frame = pd.DataFrame({"message": [f"{begin}cmd|' /C calc'!A0", "harmless = 1", None], "cost_usd": [-1.0, 2.0, 3.0]})
    found = read(csv_of(frame, for_spreadsheets=True))
    assert found["message"].tolist() == [f"'{begin}cmd|' /C calc'!A0", "harmless = 1", ""]
    assert found["cost_usd"].tolist() == [-1.0, 2.0, 3.0]

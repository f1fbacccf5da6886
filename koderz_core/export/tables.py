"""Data frames as CSV, whatever their texts hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types

_FORMULA_BEGINS = ("=", "+", "-", "@", "\t", "\r")  # owasp.org/www-community/attacks/CSV_Injection


def csv_of(frame: DataFrame, *, for_spreadsheets: bool = False) -> bytes:
    """The frame as CSV (RFC 4180) in UTF-8 with a header; unknown is an empty cell, half a surrogate pair a ``?``.

    ``for_spreadsheets``: a text that a spreadsheet would take for a formula gets an apostrophe before it.
    """
    if for_spreadsheets:
        texts = frame.select_dtypes(include=["str", "object"])
        frame = frame.assign(**{name: texts[name].map(_defused, na_action="ignore") for name in texts})
    # Line ends of one character would leave a lone carriage return in a text unquoted, which readers take for the end.
    written: str = frame.to_csv(index=False, lineterminator="\r\n")
    return written.encode(errors="replace")


def _defused(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    text = cell.encode(errors="replace").decode()  # a column of texts cannot be made anew with half a surrogate pair
    return f"'{text}" if text.startswith(_FORMULA_BEGINS) else text

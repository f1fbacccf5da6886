"""An export: which table or report, of which benchmarks, in which format."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, get_args

from koderz_core.errors import UnknownNameError, UsageError
from koderz_core.report.dictionary import checked_columns, table_named
from koderz_core.store.frames import ExchangeName, FormName

ReportForm = Literal["bibtex", "markdown", "html"]
LogForm = Literal["inspect", "eee", "atif", "otlp"]
ENDINGS: Mapping[str, str] = {
    "csv": "csv",
    "parquet": "parquet",
    "json": "jsonl",
    "bibtex": "bib",
    "markdown": "md",
    "html": "html",
    "samples": "jsonl",
    "swebench": "jsonl",
    "eval-arena": "jsonl",
    "inspect": "zip",
    "eee": "zip",
    "atif": "zip",
    "otlp": "jsonl",
}
MEDIA_TYPES: Mapping[str, str] = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "jsonl": "application/jsonl; charset=utf-8",
    "bib": "text/x-bibtex; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "zip": "application/zip",
}
"""By the ending of the file's name."""
TABLE_FORMS: tuple[FormName, ...] = get_args(FormName)
REPORT_FORMS: tuple[ReportForm, ...] = get_args(ReportForm)
LOG_FORMS: tuple[LogForm, ...] = get_args(LogForm)
"""The formats of other tools that hold every call; those with the ending ``zip`` consist of several files."""
EXCHANGE_FORMS: tuple[ExchangeName | LogForm, ...] = (*get_args(ExchangeName), *LOG_FORMS)
"""All formats of other tools."""
_NAMED: Mapping[str, str] = {
    "bibtex": "citation",
    "markdown": "report",
    "html": "report",
    **{form: form for form in EXCHANGE_FORMS},
}  # the others by their table
COMPARED = ("comparison", "pairs", "pass_rates", "noise", "bands", "trust")
"""The tables of configurations; the others hold recorded rows."""


@dataclass(frozen=True, slots=True)
class ExportOrder:
    """A table; with ``markdown`` or ``html`` the report of a comparison, with ``bibtex`` its citation.

    A form in ``EXCHANGE_FORMS`` is a file for another tool, in which neither a table nor columns can be chosen.

    ``of``: benchmarks, named as in ``koderz results``; empty: all. For comparisons also configurations, named as in
    ``koderz compare``; empty: the newest benchmark. ``columns``: empty for all. ``for_spreadsheets``: put an apostrophe
    before texts that a spreadsheet would treat as formulas. ``same_problems``: compare only on problems that all
    configurations were given.
    """

    table: str = "experiments"
    form: str = "csv"
    of: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    for_spreadsheets: bool = False
    same_problems: bool = False

    def __post_init__(self) -> None:
        """Raise UnknownNameError or UsageError for impossible combinations."""
        if self.form not in ENDINGS:
            raise UnknownNameError("format", self.form, ENDINGS)
        table_named(self.table)
        if self.is_report and (self.table != "comparison" or self.columns):
            raise UsageError(
                f"A file in the format {self.form} always contains a whole comparison, so you cannot choose columns or "
                "another table. Use the table 'comparison' without --columns, or one of the formats "
                f"{', '.join(TABLE_FORMS)}."
            )
        if self.is_exchange and (self.table != "experiments" or self.columns):
            raise UsageError(
                f"The format {self.form} has fixed fields. Omit --table and --columns, or use one of the formats "
                f"{', '.join(TABLE_FORMS)}."
            )
        if self.for_spreadsheets and self.form != "csv":
            raise UsageError(
                f"The option --for-spreadsheets works only with the format csv, not with {self.form}. "
                "Omit the option, or use csv."
            )
        if self.same_problems and self.table not in COMPARED:
            raise UsageError(
                f"The table {self.table} cannot be limited to problems that all configurations ran on. Omit "
                f"--same-problems, or use one of the tables {', '.join(COMPARED)}."
            )
        checked_columns(self.table, self.columns)

    @property
    def is_report(self) -> bool:
        return self.form in REPORT_FORMS

    @property
    def is_exchange(self) -> bool:
        return self.form in EXCHANGE_FORMS

    @property
    def is_log(self) -> bool:
        return self.form in LOG_FORMS

    @property
    def file_name(self) -> str:
        """Return the name of the file: only ASCII letters, digits, ``-``, ``_`` and a dot."""
        name = _ascii_name(self.of[0]) if len(self.of) == 1 else ""
        kind = f"{'same-problems-' if self.same_problems else ''}{_NAMED.get(self.form, self.table)}"
        among = name or ("several" if self.of else "newest" if self.table in COMPARED else "all")
        return f"koderz-{among}-{kind}.{ENDINGS[self.form]}"

    @property
    def media_type(self) -> str:
        return MEDIA_TYPES[ENDINGS[self.form]]

    @property
    def command(self) -> str:
        """Return the command line that writes the same file, for a POSIX shell."""
        table = [] if self.is_exchange else ["--table", self.table]
        words = ["koderz", "export", *self.of, *table, "--format", self.form]
        words += ["--columns", ",".join(self.columns)] if self.columns else []
        words += ["--for-spreadsheets"] if self.for_spreadsheets else []
        words += ["--same-problems"] if self.same_problems else []
        return shlex.join([*words, "--out", self.file_name])


def _ascii_name(benchmark: str) -> str:
    """The name of a benchmark for a file. If it is not ASCII, a hash is added: two files must not have one name."""
    name = re.sub(r"[^A-Za-z0-9_]+", "-", benchmark).strip("-")[:60]
    if benchmark.isascii():
        return name
    return f"{name}-{sha256(benchmark.encode(errors='replace')).hexdigest()[:8]}".lstrip("-")

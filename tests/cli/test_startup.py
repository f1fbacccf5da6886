"""Start-up: a command imports what it needs and no more, counted in modules, since time depends on the machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from koderz_core.cli import COMMANDS, commands, summary

HEAVY = {
    *("anthropic", "openai", "ollama", "mcp", "httpx", "httpx2", "pandas", "pyarrow", "numpy", "plotly", "streamlit"),
    *("pydantic", "jsonschema", "yaml", "genai_prices", "tomlkit", "apprise"),
}
COUNTED = """
import sys
from koderz_core.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
print(*sys.modules, file=sys.stderr)
"""


def imported_by(*arguments: str) -> set[str]:
    """The modules that a process holds when the command has ended."""
    command = [sys.executable, "-c", COUNTED, *arguments]
    root = Path(__file__).parents[2]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(root)}
    )
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(("arguments", "most"), [(("--help",), 190), (("results",), 430)])
def test_a_command_imports_few_modules_and_no_library_that_it_does_not_use(
    arguments: tuple[str, ...], most: int
) -> None:
    modules = imported_by(*arguments)
    assert {name.partition(".")[0] for name in modules} & HEAVY == set()
    assert len(modules) <= most


def test_help_opens_no_database_and_reads_no_settings() -> None:
    assert {name.partition(".")[0] for name in imported_by("--help")} & {"duckdb", "pydantic", "rich"} == set()


def test_reading_results_loads_no_strategy_no_prompt_and_no_model() -> None:
    parts = {name.split(".")[1] for name in imported_by("results") if name.startswith("koderz_core.")}
    assert parts & {"strategies", "prompts", "models", "runner", "sandbox", "grading", "memory", "bundles"} == set()


def test_the_help_lists_each_command_that_can_be_loaded_under_that_name_with_its_own_first_sentence() -> None:
    context = click.Context(commands)
    for name in COMMANDS:
        command = commands.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert " ".join((command.help or "").split()).startswith(summary(name))

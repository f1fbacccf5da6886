"""The help of commands with many options: short with ``--help``, complete with ``--help-all``."""

from __future__ import annotations

import re
from typing import Any

import click
import pytest

from koderz_core.cli import commands

GROUPED = ("run", "benchmark", "resume")


def listed(text: str) -> list[str]:
    """The options that a help text describes, by what begins a line below its first heading.

    A sentence above the headings may wrap before an option that it names.
    """
    first = re.search(r"^\w.*:$", text, re.MULTILINE)
    assert first is not None
    return re.findall(r"^  (-\S.*?)(?:  |$)", text[first.end() :], re.MULTILINE)


def names(command: str) -> list[str]:
    """How click writes every option of a command."""
    found = commands.get_command(click.Context(commands), command)
    assert found is not None
    context = click.Context(found, help_option_names=["-h", "--help"], terminal_width=80)
    options = (parameter for parameter in found.get_params(context) if isinstance(parameter, click.Option))
    records = (option.get_help_record(context) for option in options)
    return [record[0] for record in records if record]


@pytest.mark.parametrize("command", GROUPED)
def test_the_help_has_at_most_80_lines_and_says_how_many_options_it_hides(koderz: Any, command: str) -> None:
    lines = koderz(command, "--help").out.splitlines()
    assert len(lines) <= 80
    assert max(map(len, lines)) <= 80
    assert lines[-1] == f"--help-all shows {len(names(command)) - len(listed(chr(10).join(lines)))} more options."


@pytest.mark.parametrize("command", GROUPED)
def test_every_option_is_in_the_whole_help_once(koderz: Any, command: str) -> None:
    said = koderz(command, "--help-all")
    assert said.code == 0
    assert sorted(listed(said.out)) == sorted(names(command))
    assert "more options" not in said.out


def test_the_whole_help_has_the_groups_in_order_and_then_the_advanced_options(koderz: Any) -> None:
    groups = ["Problems", "Models and roles", "Strategy", "Budget and limits", "Output"]
    said = koderz("benchmark", "--help-all").out
    assert re.findall(r"^(\w.*):$", said, re.MULTILINE) == [
        *groups,
        *(f"Advanced: {group.lower()}" for group in groups),
    ]

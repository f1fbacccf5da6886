"""``koderz strategies``: the strategies with their roles, parameters and calls."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict

import click

from koderz_core.cli.options import as_json, print_json
from koderz_core.cli.tables import console, terminal_table
from koderz_core.errors import UsageError
from koderz_core.plan.command_line import strategy_named
from koderz_core.plan.forms import (
    StrategyForm,
    calls_of,
    faults_of_installed,
    roles_of,
    strategies_markdown,
    strategy_form,
    strategy_forms,
    value_text,
    values_of,
)
from koderz_core.report.formats import plain


@click.command()
@click.argument("name", required=False)
@click.option("--markdown", is_flag=True, help="Print Markdown, as in docs/strategies.md.")
@as_json
def strategies(name: str | None, markdown: bool, as_json: bool) -> None:
    """List the strategies, or show one with its roles and parameters.

    NAME may also be a class in your own file, in the form FILE.py:CLASS. koderz executes this file, so use only
    files that you trust.
    """
    if markdown and as_json:
        raise UsageError("--markdown and --json cannot be combined. Omit one of these options.")
    forms = strategy_forms() if name is None else (strategy_form(strategy_named(name)),)
    if as_json:
        print_json([asdict(form) for form in forms])
    elif markdown:
        click.echo(strategies_markdown(forms))
    elif name is None:
        _list(forms)
    else:
        _show(forms[0], name)


def _list(forms: Sequence[StrategyForm]) -> None:
    table = terminal_table("strategy", "description", "roles", "calls")
    for form in forms:
        table.add_row(*map(plain, (form.name, form.doc, roles_of(form), form.calls or "?")))
    console().print(table)
    console().print(
        "* The role can have several models. For the parameters of a strategy: koderz strategies NAME", style="dim"
    )
    for fault in filter(None, faults_of_installed().values()):
        click.echo(f"Warning: {plain(fault)}", err=True)


def _show(form: StrategyForm, name: str) -> None:
    """``name``: as the user typed it."""
    out = console()
    for line in (form.name, form.doc, calls_of(form)):
        out.print(plain(line))
    roles = terminal_table("role", "task", "models")
    for role in form.roles:
        roles.add_row(role.name, role.doc, "one or more" if role.several else "one")
    parameters = terminal_table("parameter", "default", "values", "effect")
    for parameter in form.parameters:
        parameters.add_row(
            *map(plain, (parameter.name, value_text(parameter.default), values_of(parameter), parameter.doc))
        )
    for table in (roles, parameters):
        out.print()
        out.print(table)
    out.print()
    example = shlex.join(["koderz", "benchmark", "--configuration", f"{name} coder=MODEL"])
    out.print(f"Example: {plain(example)}", style="dim")

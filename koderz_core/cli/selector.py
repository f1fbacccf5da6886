"""``koderz selector``: fit a selector of models to recorded benchmarks, show its model card and its value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from koderz_core.cli.options import Whole, advised, as_json, data_dir, print_json, report_faults, workspace
from koderz_core.cli.tables import console, terminal_table
from koderz_core.records.selectors import Selector
from koderz_core.report.formats import TextTable, plain
from koderz_core.report.selector import card_sentences, card_table, value_table


@click.group()
def selector() -> None:
    """Fit a selector, which chooses a model for each problem, and show its quality."""


@selector.command()
@click.argument("benchmarks", nargs=-1, required=True, metavar="BENCHMARK...")
@click.option("--name", required=True, help="Name of the selector, for use as coder=select:learned=NAME.")
@click.option(
    "--seed",
    type=Whole(0, 2**31 - 1),
    default=0,
    show_default=True,
    help="Random seed for the folds of the cross-validation.",
)
@as_json
@data_dir
def fit(benchmarks: Sequence[str], name: str, seed: int, as_json: bool, data_dir: Path | None) -> int:
    """Fit a selector to recorded benchmarks, and show its model card.

    The benchmarks must contain results of at least two models on the same problems, all with the strategy `direct`.
    koderz also fits a predictor of the probability P(right) that a tested program is right. The predictor learns from
    the tested programs of all strategies. Needs scikit-learn: pip install 'koderz[learn]'.
    """
    with workspace(data_dir) as opened:
        _show(opened.selectors.fit(benchmarks, name, seed), as_json=as_json)
        return report_faults(opened)


@selector.command()
@click.argument("name", required=False)
@as_json
@data_dir
def show(name: str | None, as_json: bool, data_dir: Path | None) -> None:
    """Show the data, folds, calibration and baselines of a selector. Without NAME, list all selectors."""
    with workspace(data_dir) as opened:
        if name is not None:
            _show(opened.selectors.load(name), as_json=as_json)
        elif as_json:
            print_json(opened.selectors.names())
        else:
            names = opened.selectors.names()
            none = advised("There is no selector. To fit one: koderz selector fit BENCHMARK --name NAME")
            click.echo("\n".join(names) if names else none)


@selector.command()
@click.argument("name")
@click.argument("benchmarks", nargs=-1, required=True, metavar="BENCHMARK...")
@as_json
@data_dir
def value(name: str, benchmarks: Sequence[str], as_json: bool, data_dir: Path | None) -> int:
    """Estimate the success rate of a selector from benchmarks that used the strategy `router` with explore=true."""
    with workspace(data_dir) as opened:
        found = opened.selectors.value(name, benchmarks)
        if as_json:
            print_json({rule: asdict(worth) for rule, worth in found.items()})
        else:
            _print(value_table(found))
        return report_faults(opened)


def _show(fitted: Selector, *, as_json: bool) -> None:
    if as_json:
        print_json({"id": fitted.id, "models": fitted.models, "usd": fitted.usd, "card": asdict(fitted.card)})
        return
    _print(card_table(fitted))
    for sentence in card_sentences(fitted):
        console().print(plain(sentence))


def _print(table: TextTable) -> None:
    drawing = terminal_table()
    for place, column in enumerate(table.columns):
        drawing.add_column(column, justify="left" if place == 0 else "right")
    for row in table.rows:
        drawing.add_row(*map(plain, row))
    console().print(f"{table.title}\n")
    console().print(drawing)
    console().print()

"""``koderz what-if``: what other policies would have solved and cost, from recorded attempts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from koderz_core.cli.options import Number, Whole, as_json, data_dir, print_json, report_faults, workspace
from koderz_core.cli.reprice import MOST, Named, how_priced, repricing_options, under_prices
from koderz_core.cli.tables import console, drawn
from koderz_core.errors import UsageError
from koderz_core.report.formats import TextTable, plain
from koderz_core.report.headroom import headroom_section
from koderz_core.report.what_if import numbers, policies_tables, remarks, sources_table
from koderz_core.workspace.repricing import Repricing

MOST_SHOWN = 10  # configurations in a table of the headroom


@click.command()
@click.argument("configurations", nargs=-1, metavar="[BENCHMARK ...]")
@click.option(
    "--policy",
    "texts",
    multiple=True,
    metavar="POLICY",
    help="Policy to simulate, such as 'retry MODEL k=1,2,5' or 'ladder SMALL>LARGE gate=examples'. Repeatable.",
)
@click.option(
    "--wrong-answer",
    type=Number(0, MOST),
    default=0.0,
    metavar="USD",
    help="Price of a wrong answer. Adds a column of costs that include this price for each problem without a correct "
    "program.",
)
@click.option(
    "--tune",
    is_flag=True,
    help="Choose the policy with the lowest cost, including the price of wrong answers, and evaluate this choice by "
    "cross-validation.",
)
@click.option("--folds", type=Whole(2, 100), default=5, show_default=True, help="Number of folds for --tune.")
@repricing_options
@as_json
@data_dir
def what_if(  # noqa: PLR0913, PLR0917 (one argument per option)
    configurations: Sequence[str],
    texts: Sequence[str],
    wrong_answer: float,
    tune: bool,
    folds: int,
    as_json: bool,
    data_dir: Path | None,
    **prices: Any,
) -> int:
    """Simulate policies on recorded attempts, without calling a model.

    A policy says which models to ask, in which order and how many times. The forms are 'retry MODEL k=3', 'ladder
    SMALL*2>LARGE gate=examples', 'recorded A' and 'mix 0.5 POLICY | 0.5 POLICY'. MODEL can also be MODEL@TEMPERATURE or
    the letter of a configuration. Settings: threshold=0.8 (accept a program that passes at least this share of gate
    tests), patience=2 (stop asking a model after two attempts without progress). Without --policy, shows
    which models and configurations have recorded attempts, and the recorded results.
    """
    if tune and (len(texts) == 0 or not wrong_answer):
        raise UsageError("--tune needs several policies (--policy) and the price of a wrong answer (--wrong-answer).")
    how = how_priced(**prices)
    names = Named(configurations, "", same_problems=False)
    with workspace(data_dir) as here, under_prices(here, names, how) as opened:
        rows = opened.comparisons.named(configurations)
        of = opened.what_if.sources(rows)
        headroom = headroom_section(rows, opened.uncertainty.headroom(rows), MOST_SHOWN)
        every = texts or [f"recorded {name}" for name, source in of.sources.items() if source.recorded]
        policies = [policy for text in every for policy in opened.what_if.policies(text, of)]
        found = [opened.what_if.simulate(policy, of, wrong_answer) for policy in policies]
        tuned = opened.what_if.tune(found, folds) if tune else None
        if as_json:
            mark = how.mark if how else "as recorded"
            print_json({"prices": mark, "headroom": headroom.numbers, "policies": numbers(found, tuned)})
        else:
            _print(headroom.tables, headroom.remarks)
            listed = () if texts else (sources_table(of.sources, of.aliases),)
            _print((*listed, *policies_tables(found, tuned)), (*_about(how), *remarks(found, tuned)))
        return report_faults(here)


def _print(tables: Sequence[TextTable], notes: Sequence[str]) -> None:
    screen = console()
    for table in tables:
        screen.print(table.title, style="bold")
        screen.print(drawn(table, known=False, words=table.columns))
        screen.print()
    for note in notes:
        screen.print(plain(note), style="dim")


def _about(how: Repricing | None) -> tuple[str, ...]:
    return (f"{how.mark[0].upper()}{how.mark[1:]}. {how.rest}",) if how else ()

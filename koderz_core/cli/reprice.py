"""The options of ``koderz compare`` and ``koderz export`` that show recorded results under other prices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import click

from koderz_core.cli.options import Number, with_options
from koderz_core.errors import UsageError
from koderz_core.records.progress import SummaryRow
from koderz_core.report.export_request import COMPARED, ExportOrder
from koderz_core.report.formats import plain
from koderz_core.workspace import Workspace
from koderz_core.workspace.comparisons import Comparison
from koderz_core.workspace.repricing import Repricing, repriced, repricing

MOST = 1e6


repricing_options = with_options(
    click.option(
        "--prices",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Show costs with the token prices in FILE (format of models.toml). Recorded costs do not change.",
    ),
    click.option(
        "--watts",
        type=Number(0, MOST),
        help="Show the costs of local calls with this power in watts instead of the recorded power.",
    ),
    click.option(
        "--kwh-price",
        type=Number(0, MOST),
        metavar="USD",
        help="Show costs with this price of electricity instead of the recorded price.",
    ),
    click.option(
        "--count-cached",
        is_flag=True,
        help="Count answers from the response cache at the recorded price of their original calls.",
    ),
)
"""The options of other prices."""


def how_priced(
    prices: Path | None, watts: float | None, kwh_price: float | None, *, count_cached: bool
) -> Repricing | None:
    """What the options ask for, None if they are not given. Raises ConfigError, DataError."""
    given = count_cached or any(value is not None for value in (prices, watts, kwh_price))
    return repricing(prices, watts, kwh_price) if given else None


@dataclass(frozen=True, slots=True)
class Named:
    """The configurations that a command names, with its baseline; None: the default baseline."""

    configurations: Sequence[str]
    baseline: str | None
    same_problems: bool

    def rows(self, opened: Workspace) -> list[SummaryRow]:
        """The configurations to compare. Raises UsageError if there are none."""
        rows = opened.comparisons.named(self.configurations, same_problems=self.same_problems)
        if not rows:
            raise UsageError("There are no results to compare yet. Start with: koderz quickstart")
        return rows if self.baseline else opened.comparisons.with_baseline(rows)


@contextmanager
def under_prices(opened: Workspace, names: Named, how: Repricing | None) -> Iterator[Workspace]:
    """The workspace, or a temporary one with the named benchmarks under other prices."""
    if how is None:
        yield opened
        return
    with repriced(opened, sorted({row.benchmark for row in names.rows(opened)}), how) as other:
        yield other


@contextmanager
def exported_under(opened: Workspace, order: ExportOrder, how: Repricing | None) -> Iterator[Workspace]:
    """The workspace, or a temporary one with the benchmarks of an export under other prices.

    Raises UsageError for reports and logs: they state the hash of the journal, whose costs they would not contain.
    """
    if how is None:
        yield opened
        return
    if order.is_report or order.is_log or order.is_exchange:
        raise UsageError(
            f"The format {order.form} is available only with the recorded prices. Use --format csv, json or "
            "parquet, or use `koderz compare --format md` with the same price options."
        )
    of: Sequence[str] = opened.exports.resolve(order).of
    if order.table in COMPARED:
        of = [row.benchmark for row in Named(of, None, order.same_problems).rows(opened)]
    click.echo(plain(_about(how)), err=True)
    with repriced(opened, sorted(set(of or [row.id for row in opened.results.benchmarks()])), how) as other:
        yield other


def with_mark(comparison: Comparison, how: Repricing, form: str) -> Comparison:
    """The comparison, which says first that it is re-priced; as CSV, that is printed to standard error."""
    if form.startswith("csv"):
        click.echo(plain(_about(how)), err=True)
    return replace(comparison, findings=(_about(how), *comparison.findings))


def _about(how: Repricing) -> str:
    return f"{how.mark[0].upper()}{how.mark[1:]}. {how.rest} The recorded costs are unchanged."

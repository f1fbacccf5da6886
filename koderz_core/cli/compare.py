"""``koderz compare`` and ``koderz frontier-costs``: configurations side by side, and measured frontier models."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import click

from koderz_core.cli.compare_parts import Asked, Part, further_options, parts
from koderz_core.cli.maintenance import MOST_DAYS, delete_benchmarks
from koderz_core.cli.options import Number, as_json, data_dir, print_json, report_faults, workspace
from koderz_core.cli.reprice import Named, how_priced, repricing_options, under_prices, with_mark
from koderz_core.cli.tables import console, drawn
from koderz_core.errors import UsageError
from koderz_core.records.plans import scripted
from koderz_core.records.trials import Measured
from koderz_core.report.benchmark_report import escaped, markdown_tables
from koderz_core.report.comparison import common, comparison_numbers, settings_by_row, tables, with_reviews
from koderz_core.report.configuration_columns import configuration_rows
from koderz_core.report.formats import TextTable, csv_of_rows, money, money_span, plain, rate
from koderz_core.report.headline import answer
from koderz_core.report.pair_columns import pair_rows
from koderz_core.report.supervision import SHOWS, SHOWS_NOT
from koderz_core.times import day, iso
from koderz_core.workspace.comparisons import COST_MARGIN, MARGIN, Comparison, FrontierCost

SETTINGS = "Settings that differ"
CURVES_IN_WORDS = "For the curves of success against cost, use --format json or the Summary page of `koderz ui`."
TIERS = ("frontier", "small_frontier")
SAMPLING = ("temperature", "max_tokens", "chain_of_thought")
NONE_YET = (
    "No frontier model has been measured with the strategy direct yet. To measure one: "
    "koderz benchmark --strategy direct --coder MODEL --problems all"
)


@click.command()
@click.argument("configurations", nargs=-1, metavar="[A B ...]")
@click.option("--baseline", metavar="X", help="Baseline of the comparison: the letter, id or label of a configuration.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "md", "json", "csv", "csv-pairs"]),
    default="table",
    show_default=True,
    help="Output format. csv: one line per configuration; csv-pairs: one line per comparison with the baseline.",
)
@click.option("--same-problems", is_flag=True, help="Compare only on problems that are planned for all configurations.")
@click.option(
    "--margin",
    type=Number(0, 100, min_open=True, max_open=True),
    default=100 * MARGIN,
    show_default=True,
    metavar="POINTS",
    help="A configuration matches the baseline if its success rate is significantly above the baseline's rate minus "
    "POINTS percentage points.",
)
@click.option(
    "--cost-margin",
    type=Number(0, min_open=True),
    default=COST_MARGIN,
    show_default=True,
    metavar="RATIO",
    help="A configuration counts as no more expensive than the baseline if it costs at most RATIO times as much per "
    "solved problem.",
)
@further_options
@repricing_options
@data_dir
def compare(  # noqa: PLR0913, PLR0917 (one argument per option)
    configurations: Sequence[str],
    baseline: str | None,
    form: str,
    same_problems: bool,
    margin: float,
    cost_margin: float,
    data_dir: Path | None,
    prices: Path | None,
    watts: float | None,
    kwh_price: float | None,
    count_cached: bool,
    **further: Any,
) -> int:
    """Compare configurations by success and cost, with confidence intervals.

    Each of A, B, ... is a benchmark or one configuration. For a benchmark, give its name, its id or the start of its
    id. For a configuration, write BENCHMARK/CONFIGURATION with the id, label or letter of the configuration. By
    default, the configurations of the newest benchmark are compared.

    If some configurations are ablations, the default baseline is the configuration that was ablated. Otherwise, the
    default baseline is the frontier model with the strategy direct; its results may come from another benchmark on the
    same problems. If there is no frontier model, the default baseline is the most expensive model with the strategy
    direct.
    """
    asked = Asked(**further)
    asked.check(form)
    how = how_priced(prices, watts, kwh_price, count_cached=count_cached)
    names = Named(configurations, baseline, same_problems)
    with workspace(data_dir) as here, under_prices(here, names, how) as opened:
        rows = names.rows(opened)
        comparison = opened.comparisons.compare(rows, baseline, margins=(margin / 100, cost_margin))
        if how:
            comparison = with_mark(comparison, how, form)
        found = list(parts(opened, rows, comparison, asked))
        click.echo(FORMS[form](comparison, found), nl=form != "table")
        return report_faults(here)


def _as_table(comparison: Comparison, further: Sequence[Part]) -> str:
    screen = console()
    with screen.capture() as shown:
        for finding in (*answer(comparison).lines, *comparison.findings):
            screen.print(plain(finding))
        for number, table in enumerate(_tables(comparison, further)):
            screen.print(f"\n{table.title}", style="bold")
            if table.title == SETTINGS:
                settings = settings_by_row(table)
                screen.print(drawn(settings, known=True, words=settings.columns))
            else:
                screen.print(drawn(table, known=number > 0))
        screen.print(f"\n{plain(common(comparison))}")
        for remark in (*_remarks(comparison, further), CURVES_IN_WORDS):
            screen.print(plain(remark), style="dim")
    return shown.get()


def _tables(comparison: Comparison, further: Sequence[Part]) -> Sequence[TextTable]:
    return (*tables(comparison), *chain.from_iterable(part.tables for part in further))


def _remarks(comparison: Comparison, further: Sequence[Part]) -> Sequence[str]:
    about = (SHOWS, SHOWS_NOT) if with_reviews(comparison) else ()
    return tuple(dict.fromkeys((*comparison.remarks, *about, *chain.from_iterable(part.remarks for part in further))))


def _as_markdown(comparison: Comparison, further: Sequence[Part]) -> str:
    remarks = (common(comparison), *_remarks(comparison, further))
    said = (*answer(comparison).lines, *comparison.findings)
    parts = (map(escaped, said), markdown_tables(_tables(comparison, further)), map(escaped, remarks))
    return "\n\n".join(chain.from_iterable(parts))


def _as_json(comparison: Comparison, further: Sequence[Part]) -> str:
    numbers = comparison_numbers(comparison) | {part.key: part.numbers for part in further}
    return json.dumps(numbers, indent=2, allow_nan=False)


def _as_csv(comparison: Comparison, further: Sequence[Part]) -> str:
    return _csv(next((part.rows for part in further if part.rows is not None), configuration_rows(comparison)))


def _as_pairs_csv(comparison: Comparison, _: Sequence[Part]) -> str:
    return _csv(pair_rows(comparison))


def _csv(rows: Sequence[Mapping[str, object]]) -> str:
    return csv_of_rows(rows).decode().rstrip("\r\n")


FORMS: Mapping[str, Callable[[Comparison, Sequence[Part]], str]] = {
    "table": _as_table,
    "md": _as_markdown,
    "json": _as_json,
    "csv": _as_csv,
    "csv-pairs": _as_pairs_csv,
}


@click.command("frontier-costs")
@click.option("--model", help="Show only models whose id contains this text.")
@click.option("--dataset", help="Show only results on this dataset, given by its name or by the start of its SHA-256.")
@click.option("--all", "every", is_flag=True, help="Show models of every tier, including local ones.")
@click.option("--scripted", "with_scripted", is_flag=True, help="Also show scripted models (mock mode).")
@click.option("--problem", help="Show the success rate and the cost on this problem only.")
@click.option(
    "--prune-days", type=Number(0, MOST_DAYS), help="Delete the listed benchmarks that have not changed for N days."
)
@click.option(
    "--confirm",
    is_flag=True,
    help="With --prune-days: delete the benchmarks. Without --confirm, koderz only lists them.",
)
@as_json
@data_dir
def frontier_costs(  # noqa: PLR0913, PLR0917 (one argument per option)
    model: str | None,
    dataset: str | None,
    every: bool,
    with_scripted: bool,
    problem: str | None,
    prune_days: float | None,
    confirm: bool,
    as_json: bool,
    data_dir: Path | None,
) -> int:
    """Show the success rate and the cost per problem of frontier models with the strategy direct.

    For a new benchmark, koderz reuses an earlier measurement of a baseline model if the measurement used the same
    dataset, prompts, sampling, test time limit and --max-cost-per-experiment, and covers all problems of the new
    benchmark.

    This command computes all costs from recorded benchmarks. Therefore --prune-days deletes whole benchmarks, as
    `koderz prune` does, with all of their configurations.
    """
    _check_pruning(prune_days, confirm=confirm, as_json=as_json)
    with workspace(data_dir) as opened:
        costs = opened.comparisons.frontier_costs(
            lambda measured: (with_scripted or not scripted([measured.model])) and (every or measured.tier in TIERS),
            opened.results.find_problem(problem),
        )
        chosen = [cost for cost in costs if _fits(cost.measured, model, dataset)]
        if prune_days is not None:
            shown = {cost.measured.benchmark.partition("-")[0] for cost in chosen}  # shards count with their benchmark
            aged = opened.upkeep.old(None, prune_days)
            old = [benchmark for benchmark in aged if benchmark.partition("-")[0] in shown]
            delete_benchmarks(opened, old, yes=confirm, option="--confirm")
            return report_faults(opened)
        if as_json:
            print_json([_numbers(cost) for cost in chosen])
        else:
            _print(chosen, "No measurement matches these options." if costs else NONE_YET)
        return report_faults(opened)


def _check_pruning(prune_days: float | None, *, confirm: bool, as_json: bool) -> None:
    """Raise UsageError for an option that would have no effect."""
    if confirm and prune_days is None:
        raise UsageError("--confirm is only for --prune-days N. Add --prune-days, or omit --confirm.")
    if as_json and prune_days is not None:
        raise UsageError("--json prints costs, and --prune-days deletes benchmarks. Omit one of these two options.")


def _fits(measured: Measured, model: str | None, dataset: str | None) -> bool:
    return (not model or model in measured.model) and (
        not dataset or measured.dataset == dataset or measured.dataset_sha256.startswith(dataset)
    )


def _numbers(cost: FrontierCost) -> Mapping[str, object]:
    measured, usd = cost.measured, cost.usd
    return {
        "model": measured.model,
        "tier": measured.tier,
        "dataset": measured.dataset,
        "dataset_sha256": measured.dataset_sha256,
        "prompts": _prompts(measured),
        "sampling": {name: measured.parameters.get(name) for name in SAMPLING},
        "problems": cost.rate.problems,
        "n": cost.rate.n,
        "solved": cost.rate.successes,
        "rate": cost.rate.value,
        "rate_low": cost.rate.low,
        "rate_high": cost.rate.high,
        "usd_per_problem": usd and usd.value,
        "usd_per_problem_low": usd and usd.low,
        "usd_per_problem_high": usd and usd.high,
        "measured_at": iso(measured.at, "seconds"),
        "price_version": measured.price_version,
        "benchmark": measured.benchmark,
        "configuration": measured.configuration,
    }


def _prompts(measured: Measured) -> Mapping[str, object]:
    """The versions of the prompt and of the code extraction."""
    return {name: measured.conditions.get(f"{name} prompt") for name in ("coding", "extraction")}


def _print(costs: Sequence[FrontierCost], otherwise: str) -> None:
    if not costs:
        console().print(otherwise)
        return
    words = ("model", "dataset", "prompts", "sampling", "measured")
    names = (*words[:4], "solved [95 %]", "n", "cost/problem [95 %]", *words[4:])
    console().print(drawn(TextTable("", names, tuple(map(_cells, costs))), known=False, words=words))
    prices = ", ".join(sorted({cost.measured.price_version for cost in costs}))
    console().print(
        plain(
            "All models were measured with the strategy direct: one call per problem and repeat. "
            f"Source of the prices: {prices}."
        ),
        style="dim",
    )


def _cells(cost: FrontierCost) -> tuple[str, ...]:
    measured, usd = cost.measured, cost.usd
    sampling = measured.parameters
    thought = "" if sampling.get("chain_of_thought") else " no-cot"
    return (
        measured.model,
        f"{measured.dataset} {measured.dataset_sha256[:12]}",
        ", ".join(f"{name} {version}" for name, version in _prompts(measured).items()),
        f"T={sampling.get('temperature')} {sampling.get('max_tokens')} tokens{thought}",
        rate(cost.rate),
        str(cost.rate.n),
        money_span(usd.value, usd.low, usd.high) if usd else money(None),
        f"{day(measured.at)} {measured.benchmark}",
    )

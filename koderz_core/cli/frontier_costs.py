"""``koderz frontier-costs``: what frontier models were measured to solve and to cost when asked directly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.table import Table

from koderz_core.analysis.frontier_costs import FrontierCost, frontier_cost
from koderz_core.cli.options import as_json, data_dir, print_json, report_faults, workspace
from koderz_core.cli.tables import console
from koderz_core.export.formats import money, money_span, plain, rate
from koderz_core.records.measurements import Measured
from koderz_core.records.summaries import scripted

TIERS = ("frontier", "small_frontier")
SAMPLING = ("temperature", "max_tokens", "chain_of_thought")
NONE_YET = (
    "No frontier model was asked directly so far. This measures one: "
    "koderz benchmark --strategy direct --coder MODEL --problems all"
)


@click.command("frontier-costs")
@click.option("--model", help="Only models with this in their id.")
@click.option("--dataset", help="Only this dataset: its name, or the beginning of its SHA-256.")
@click.option("--all", "every", is_flag=True, help="Models of every tier, local ones too.")
@click.option("--scripted", "with_scripted", is_flag=True, help="Also scripted models (mock mode), of the same tiers.")
@as_json
@data_dir
def frontier_costs(
    model: str | None, dataset: str | None, every: bool, with_scripted: bool, as_json: bool, data_dir: Path | None
) -> int:
    """Show what each frontier model solved and cost per problem when it was asked directly, as measured here.

    A benchmark takes its baseline from these where model, dataset, prompts and sampling agree and all its problems are
    among them.
    """
    with workspace(data_dir) as opened:
        measured = [one for one in opened.results.measured() if with_scripted or not scripted([one.model])]
        found = [one for one in measured if every or one.tier in TIERS]
        chosen = [frontier_cost(one) for one in found if _fits(one, model, dataset)]
        if as_json:
            print_json([_numbers(one) for one in chosen])
        else:
            _print(chosen, NONE_YET if not found else "None of what was measured fits.")
        return report_faults(opened)


def _fits(one: Measured, model: str | None, dataset: str | None) -> bool:
    return (not model or model in one.model) and (
        not dataset or one.dataset == dataset or one.dataset_sha256.startswith(dataset)
    )


def _numbers(one: FrontierCost) -> Mapping[str, object]:
    measured, usd = one.measured, one.usd
    return {
        "model": measured.model,
        "tier": measured.tier,
        "dataset": measured.dataset,
        "dataset_sha256": measured.dataset_sha256,
        "prompts": _prompts(measured),
        "sampling": {name: measured.parameters.get(name) for name in SAMPLING},
        "problems": one.rate.problems,
        "n": one.rate.n,
        "solved": one.rate.successes,
        "rate": one.rate.value,
        "rate_low": one.rate.low,
        "rate_high": one.rate.high,
        "usd_per_problem": usd and usd.value,
        "usd_per_problem_low": usd and usd.low,
        "usd_per_problem_high": usd and usd.high,
        "measured_at": datetime.fromtimestamp(measured.at, UTC).isoformat(timespec="seconds"),
        "price_version": measured.price_version,
        "benchmark": measured.benchmark,
        "configuration": measured.configuration,
    }


def _prompts(one: Measured) -> Mapping[str, object]:
    """The versions of what a direct answer is asked for, and read, with."""
    return {name: one.conditions.get(f"{name} prompt") for name in ("coding", "extraction")}


def _print(found: Sequence[FrontierCost], otherwise: str) -> None:
    if not found:
        console().print(otherwise)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("model", "dataset", "prompts", "sampling", "solved [95 %]", "n", "cost/problem [95 %]", "measured"):
        table.add_column(name, justify="right" if name in ("n", "solved [95 %]", "cost/problem [95 %]") else "left")
    for one in found:
        table.add_row(*map(plain, _cells(one)))
    console().print(table)
    prices = ", ".join(sorted({one.measured.price_version for one in found}))
    console().print(plain(f"Each asked once per problem and repeat, by direct. Prices: {prices}."), style="dim")


def _cells(one: FrontierCost) -> tuple[str, ...]:
    measured, usd = one.measured, one.usd
    said = measured.parameters
    thought = "" if said.get("chain_of_thought") else " no-cot"
    return (
        measured.model,
        f"{measured.dataset} {measured.dataset_sha256[:12]}",
        ", ".join(f"{name} {version}" for name, version in _prompts(measured).items()),
        f"T={said.get('temperature')} {said.get('max_tokens')} tokens{thought}",
        rate(one.rate),
        str(one.rate.n),
        money_span(usd.value, usd.low, usd.high) if usd else money(None),
        f"{datetime.fromtimestamp(measured.at, UTC).date()} {measured.benchmark}",
    )

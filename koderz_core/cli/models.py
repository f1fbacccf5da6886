"""``koderz models`` and ``koderz speed-test``: list models, show one, download weights, test one, measure speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from koderz_core.cli.options import Number, OutputPath, as_json, data_dir, print_json, workspace, write_json
from koderz_core.cli.tables import console, terminal_table
from koderz_core.errors import InfrastructureError
from koderz_core.report.formats import count, duration, money, plain
from koderz_core.report.memory import LEVELS, gigabytes, memory_rows
from koderz_core.workspace import Workspace
from koderz_core.workspace.health import Speed
from koderz_core.workspace.models import Progress as Download


@click.group()
def models() -> None:
    """List, download and test models."""


@models.command(name="list")
@as_json
@data_dir
def list_models(as_json: bool, data_dir: Path | None) -> None:
    """List all models. Show whether each model can run now, and what to do if it cannot."""
    with workspace(data_dir) as opened:
        found = opened.models.survey()
    if as_json:
        print_json(found)
        return
    table = terminal_table("model", "tier", "state", "what to do")
    for model in found:
        state = "ready" if model.ready else plain(model.reason)
        table.add_row(plain(model.id), model.tier, state, plain(model.cure))
    console().print(table)


@models.command()
@as_json
@data_dir
def loaded(as_json: bool, data_dir: Path | None) -> None:
    """Show the models in this machine's memory, the program that loaded each model, and the free memory."""
    with workspace(data_dir) as opened:
        found, samples = opened.models.in_memory(), opened.models.memory_samples()
    if as_json:
        print_json({"models": found, "memory": samples[-1].memory if samples else None})
        return
    rows = memory_rows(found)
    table = terminal_table(*(rows[0] if rows else ()))
    for row in rows:
        table.add_row(*row.values())
    if rows:
        console().print(table)
    else:
        click.echo("No local model is in memory.")
    for sample in samples[-1:]:
        memory = sample.memory
        click.echo(
            f"Free: {gigabytes(memory.free_bytes)} of {gigabytes(memory.total_bytes)} ({memory.place}). "
            f"{LEVELS[sample.level]}"
        )


@models.command()
@click.argument("name")
@as_json
@data_dir
def show(name: str, as_json: bool, data_dir: Path | None) -> None:
    """Show the capabilities, limits and price of a model.

    You can correct these values in `models.toml` in the data folder.
    """
    with workspace(data_dir) as opened:
        known = opened.models.about(name)
    if as_json:
        print_json(known)
        return
    cost, rented = known.sample_cost, known.sample_cost.rental_usd
    table = terminal_table(header=False)
    table.add_row("model", plain(known.id))
    table.add_row("tier", known.tier)
    for field, value in asdict(known.capabilities).items():
        shown = (", ".join(value) or "none accepted") if isinstance(value, tuple) else value
        table.add_row(field.replace("_", " "), plain("unknown" if shown is None else str(shown)))
    table.add_row(
        "cost of a 60 s call with 1,000 input and 1,000 output tokens", f"{money(cost.usd)} ({plain(cost.source)})"
    )
    if rented is not None:
        table.add_row("cost of the same tokens at a provider that hosts the weights of this model", money(rented))
    console().print(table)


@models.command()
@click.argument("name")
@data_dir
def pull(name: str, data_dir: Path | None) -> None:
    """Download the weights of an embedded model. An interrupted download continues where it stopped."""
    with workspace(data_dir) as opened:
        click.echo(f"Ready: {fetch(opened, name)}")


@models.command()
@click.argument("name")
@click.option(
    "--prompt", default="Write a Python function that adds two numbers.", show_default=True, help="Prompt to send."
)
@as_json
@data_dir
def test(name: str, prompt: str, as_json: bool, data_dir: Path | None) -> None:
    """Send one prompt to a model, and show its answer and speed."""
    with workspace(data_dir) as opened:
        answer = opened.models.ask(name, prompt)
    if as_json:
        print_json(answer)
        return
    tokens = answer.usage.output_tokens
    speed = f", {tokens / answer.seconds:.1f} tokens/s" if tokens and answer.seconds else ""
    click.echo(plain(answer.text.strip(), 2000))
    used = f"{count(answer.usage.input_tokens)} tokens in, {count(tokens)} out"
    first = f"first token after {duration(answer.first_token_seconds)}"
    click.echo(f"\n{name}: {used}, {duration(answer.seconds)}{speed}, {first}")


def fetch(opened: Workspace, name: str) -> Path:
    """Download weights with a progress bar; prints each source and the licence once."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console(stderr=True)) as bar:
        task = bar.add_task("weights", total=None)
        notes: set[str] = set()

        def show(progress: Download) -> None:
            if progress.note and progress.note not in notes:
                notes.add(progress.note)
                bar.console.print(progress.note)
            bar.update(task, completed=progress.done_bytes, total=progress.total_bytes)

        return opened.models.fetch_weights(name, show)


@click.command(name="speed-test")
@click.argument("models", nargs=-1, required=True)
@click.option("--warmup/--no-warmup", default=True, show_default=True, help="Send a short warm-up prompt first.")
@click.option("--timeout", metavar="SECONDS", type=Number(0), help="Timeout of one request.")
@click.option("--host", metavar="URL", help="The address of Ollama.")
@click.option("--export", "path", type=OutputPath(), metavar="FILE", help="Also write the results to this JSON file.")
@as_json
@data_dir
def speed_test(  # noqa: PLR0913, PLR0917 (one argument per option)
    models: Sequence[str],
    warmup: bool,
    timeout: float | None,
    host: str | None,
    path: Path | None,
    as_json: bool,
    data_dir: Path | None,
) -> int:
    """Measure the speed of MODELS. After a warm-up, each model answers three prompts, one after the other."""
    with workspace(data_dir, timeout=timeout, ollama_base_url=host) as opened:
        names = [opened.models.full_name(name) for name in models]
        measured = [opened.health.speed(name, warm=warmup) for name in names]
    print_json(measured) if as_json else _print_speeds(measured)
    if path:
        write_json(path, measured)
    return InfrastructureError.exit_code if any(speed.fault for speed in measured) else 0


def _print_speeds(measured: Sequence[Speed]) -> None:
    table = terminal_table("model", "tokens/s", "time to first token", "time to full answer", "tokens", "warm-up")
    for speed in measured:
        rate = "?" if speed.tokens_per_second is None else f"{speed.tokens_per_second:.1f}"
        times = [duration(seconds) for seconds in (speed.first_token_seconds, speed.seconds)]
        table.add_row(plain(speed.model), rate, *times, count(speed.output_tokens), duration(speed.warm_up_seconds))
    console().print(table)
    for speed in measured:
        if speed.fault:
            click.echo(f"{plain(speed.model)} did not answer: {plain(speed.fault, 500)}", err=True)

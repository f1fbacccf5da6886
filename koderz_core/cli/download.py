"""``koderz download-data``: download the files of published datasets and check their SHA-256."""

from __future__ import annotations

from pathlib import Path

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from koderz_core.cli.options import as_json, data_dir, print_json
from koderz_core.cli.tables import console, terminal_table
from koderz_core.config import Settings, load_settings
from koderz_core.datasets.sources import SOURCES, Source, fetch, placed
from koderz_core.errors import UnknownNameError
from koderz_core.report.formats import plain


@click.command(name="download-data")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--list", "listed", is_flag=True, help="Show the files, their sources and which are present. Download nothing."
)
@as_json
@data_dir
def download_data(names: tuple[str, ...], *, listed: bool, as_json: bool, data_dir: Path | None) -> None:
    """Download published datasets, by default all whose SHA-256 is known.

    An interrupted download continues where it stopped. HumanEval comes with koderz. Files that you placed yourself are
    not changed.
    """
    settings = load_settings(home=data_dir)
    for name in names:
        if name not in SOURCES:
            raise UnknownNameError("dataset to download", name, SOURCES)
    sources = [source for source in SOURCES.values() if (source.dataset in names if names else listed or source.sha256)]
    if listed:
        _show(sources, settings, as_json=as_json)
        return
    paths = {source.dataset: _fetched(source, settings) for source in sources}
    if as_json:
        print_json(paths)
        return
    for name, path in paths.items():
        click.echo(f"Ready: {name}, {SOURCES[name].licence}, {plain(str(path))}")


def _fetched(source: Source, settings: Settings) -> Path:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(source.dataset, total=source.size_bytes)
        return fetch(source, settings, lambda done: bar.update(task, completed=done))


def _show(sources: list[Source], settings: Settings, *, as_json: bool) -> None:
    if as_json:
        print_json([{"source": source, "here": placed(source, settings)} for source in sources])
        return
    table = terminal_table("dataset", "version", "licence", "bytes", "here", "SHA-256")
    for source in sources:
        here = placed(source, settings)
        size = f"{source.size_bytes:,}" if source.size_bytes else "?"
        known = source.sha256[:12] or "unknown: download it by hand"
        table.add_row(source.dataset, source.version, source.licence, size, plain(here.name) if here else "no", known)
    console().print(table)
    for source in sources:
        click.echo(f"{source.dataset}: {source.url} {source.sha256}".rstrip())
    click.echo(f"Folder of the files: {plain(str(settings.published_dir))}. HumanEval comes with koderz.")

"""``koderz search``: everything recorded, by words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click
from rich.text import Text

from koderz_core.cli.options import Whole, as_json, data_dir, print_json, report_faults, workspace
from koderz_core.cli.tables import console
from koderz_core.records.search import DEFAULT_LIMIT, MOST_LIMIT, Kind, SearchHit, SearchQuery
from koderz_core.report.formats import MORE_MATCHES, NO_MATCH, hit_source, plain

KIND_WIDTH = 8  # of the column of kinds


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--benchmark", help="Search only this benchmark (its name, its id or the start of its id).")
@click.option("--kind", type=click.Choice(get_args(Kind)), help="Search only texts of this kind.")
@click.option(
    "--limit", type=Whole(1, MOST_LIMIT), default=DEFAULT_LIMIT, show_default=True, help="Maximum number of matches."
)
@as_json
@data_dir
def search(
    words: tuple[str, ...], benchmark: str | None, kind: Kind | None, limit: int, as_json: bool, data_dir: Path | None
) -> int:
    """Find prompts, answers, programs, errors, and names of problems, benchmarks and models that contain all WORDS.

    Case is ignored. A word also matches the beginning of a longer word or of a part of a name: `has_close` and `close`
    both find has_close_elements. A phrase in quotation marks matches only whole words. Matching names are listed first,
    then texts; in both groups, the newest match is first. In the JSON output, `snippet` is a list of strings: text
    outside a match and matched text alternate, and the first string is outside a match.
    """
    with workspace(data_dir) as opened:
        chosen = opened.names.benchmark(benchmark) if benchmark else None
        found = opened.results.search(SearchQuery(_query(words), kind, chosen, limit))
        if as_json:
            print_json(found)
            return report_faults(opened)
        for hit in found.hits:
            _print(hit)
        if not found.hits:
            click.echo(NO_MATCH)
        elif found.more:
            click.echo(f"{MORE_MATCHES} (--limit, --kind, --benchmark)")
        return report_faults(opened)


def _query(words: Sequence[str]) -> str:
    """The words as one query: the shell removes the quotation marks of a phrase."""
    return " ".join(f'"{word}"' if " " in word.strip() and '"' not in word else word for word in words)


def _print(hit: SearchHit) -> None:
    where = [hit.experiment or hit.benchmark, f"step {hit.step}" if hit.step else "", hit_source(hit)]
    line = Text()
    for place, part in enumerate(hit.snippet):
        line.append(plain(part), style="bold yellow" if place % 2 else "")
    console().print(Text(f"{hit.kind:{KIND_WIDTH}} {' · '.join(filter(None, where))}"), soft_wrap=True)
    console().print(Text("  ") + line, soft_wrap=True)

"""``koderz verify``: whether what was recorded, shown and exported is consistent with itself."""

from __future__ import annotations

from pathlib import Path

import click

from koderz_core.bundles.checking import checked_bundle
from koderz_core.cli.options import data_dir, workspace
from koderz_core.export.formats import count, plain
from koderz_core.verification.records import Verified


@click.command()
@click.argument("what", metavar="BENCH|FILE.zip")
@data_dir
def verify(what: str, data_dir: Path | None) -> int:
    """Recompute the hashes, ids and figures of a benchmark, or of a bundle, and name what differs.

    It tells what contradicts itself, not who wrote it. Exits with 1 if something differs, with 3 if FILE.zip cannot be
    read or is no bundle.
    """
    if what.endswith(".zip") or "/" in what or Path(what).is_file():
        return _say(checked_bundle(Path(what)).verified)
    with workspace(data_dir) as opened:
        return _say(opened.bundling.verify(opened.results.find(what)))


def _say(found: Verified) -> int:
    looked_at = ", ".join(f"{name} {count(number)}" for name, number in found.checked.items())
    for remark in found.remarks:
        click.echo(f"Not all could be looked at: {plain(remark)}.", err=True)
    for one in found.differences:
        click.echo(f"✗ {plain(one.said)}")
    verdict = "✓ holds" if found.holds else f"✗ does not hold, differences: {len(found.differences)}"
    click.echo(f"{plain(found.of)} {verdict} (looked at: {looked_at or 'nothing'})")
    return 0 if found.holds else 1

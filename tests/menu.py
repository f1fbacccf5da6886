"""The names of the dashboard's pages: one file each."""

from __future__ import annotations

from pathlib import Path

PAGES = tuple(sorted(path.stem for path in (Path(__file__).parents[1] / "pages").glob("[!_]*.py")))

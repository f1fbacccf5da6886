"""The frame of the dashboard, as far as its files tell: the menu and the colours."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from pages.ui import shell

ROOT = Path(__file__).parents[2]
THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance of a colour written ``#RRGGBB``."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, other: str) -> float:
    dark, bright = sorted((luminance(first), luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


def test_the_menu_has_every_page() -> None:
    assert set(shell.PAGES) == {path.stem for path in (ROOT / "pages").glob("[!_]*.py")}


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_words_and_marks_stand_out_from_their_background(mode: str) -> None:
    theme = THEME[mode]
    for ground in (theme["backgroundColor"], theme["secondaryBackgroundColor"]):
        for colour in ("textColor", "linkColor", "primaryColor"):
            assert contrast(theme[colour], ground) >= 4.5, colour
    for colour in theme["chartCategoricalColors"]:
        assert contrast(colour, theme["backgroundColor"]) >= 3, colour


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_captions_which_are_drawn_at_60_percent_can_still_be_read(mode: str) -> None:
    text, ground = (
        [int(THEME[mode][name][at : at + 2], 16) for at in (1, 3, 5)] for name in ("textColor", "backgroundColor")
    )
    mixed = [round(0.6 * ours + 0.4 * below) for ours, below in zip(text, ground, strict=True)]
    assert contrast("#" + "".join(f"{part:02x}" for part in mixed), THEME[mode]["backgroundColor"]) >= 4.5


def test_both_modes_have_as_many_chart_colours() -> None:
    assert len(THEME["light"]["chartCategoricalColors"]) == len(THEME["dark"]["chartCategoricalColors"])

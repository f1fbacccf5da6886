"""The frame of the dashboard, as far as its files tell: the menu and the colours."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from itertools import combinations
from math import dist
from operator import mul
from pathlib import Path

import pytest

from pages.ui import shell

ROOT = Path(__file__).parents[2]
THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]


# Machado, Oliveira and Fernandes, IEEE Transactions on Visualization 15 (2009) 1291-1298, table 1, severity 1.0.
VISIONS = {
    "normal": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
# Björn Ottosson, "A perceptual color space for image processing" (2020): bottosson.github.io/posts/oklab.
LMS = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
OKLAB = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)
LEAST_DISTANCE = 0.09  # in OKLab, where black and white differ by 1


def linear(colour: str) -> list[float]:
    """Red, green and blue of a colour written ``#RRGGBB``, proportional to light."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]


def times(matrix: Sequence[Sequence[float]], values: Sequence[float]) -> list[float]:
    return [sum(map(mul, row, values)) for row in matrix]


def seen(colour: str, vision: str) -> list[float]:
    """A colour in OKLab as a person with this vision sees it."""
    light = [max(part, 0.0) for part in times(VISIONS[vision], linear(colour))]
    return times(OKLAB, [part ** (1 / 3) for part in times(LMS, light)])


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance of a colour written ``#RRGGBB``."""
    red, green, blue = linear(colour)
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
        assert contrast(colour, theme["backgroundColor"]) >= {"light": 3, "dark": 4}[mode], colour


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_captions_which_are_drawn_at_60_percent_can_still_be_read(mode: str) -> None:
    text, ground = (
        [int(THEME[mode][name][at : at + 2], 16) for at in (1, 3, 5)] for name in ("textColor", "backgroundColor")
    )
    mixed = [round(0.6 * ours + 0.4 * below) for ours, below in zip(text, ground, strict=True)]
    assert contrast("#" + "".join(f"{part:02x}" for part in mixed), THEME[mode]["backgroundColor"]) >= 4.5


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("vision", VISIONS)
def test_any_two_chart_colours_differ_for_colour_blind_people_too(mode: str, vision: str) -> None:
    for pair in combinations(THEME[mode]["chartCategoricalColors"], 2):
        assert dist(*(seen(colour, vision) for colour in pair)) >= LEAST_DISTANCE, pair


def test_both_modes_have_as_many_chart_colours() -> None:
    assert len(THEME["light"]["chartCategoricalColors"]) == len(THEME["dark"]["chartCategoricalColors"])

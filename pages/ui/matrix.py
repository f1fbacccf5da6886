"""The matrix of problems × configurations: one cell per experiment, drawn on a canvas in the browser.

A component and not Plotly's heatmap: Plotly has no keyboard, loses a selection when data change, and with a sign in
each of 10,000 cells it cannot keep up with an update every two seconds; this canvas draws them in a few milliseconds.
``matrix.js`` and ``matrix.css`` are the part in the browser.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from koderz_core.report.charts import short_names
from koderz_core.report.formats import LOOKS, count, plain
from koderz_core.report.matrix import Line, Matrix, Spot, matrix_finding

STATES = tuple(LOOKS)
LONGEST_NAME, LONGEST_SHORT = 120, 32  # characters of a name in a tooltip and beside the cells


def show_matrix(
    matrix: Matrix,
    key: str,
    on_choose: Callable[[Spot], object],
    chosen: str | None = None,
    reveal: str = "",
    benchmark: str = "",
) -> None:
    """Draw the matrix; new data replace the old in place. The columns are the problems, in the order of ``matrix``.

    ``key``: unique on the page and constant. ``on_choose`` is called before the page or fragment runs again, with the
    experiment of the cell that the user clicked. ``chosen``: the id of the experiment that is marked. ``reveal``: the
    key of a container on the page that a click scrolls into view. ``benchmark``: its id, if ``live_board.py`` sends the
    page newer cells.
    """

    def choose() -> None:
        if (spot := _clicked(matrix, st.session_state[key].cell)) is not None:
            on_choose(spot)

    more = {"chosen": chosen and _place(matrix, chosen), "reveal": reveal, "benchmark": benchmark}
    component("koderz_matrix", __file__)(key=key, data={**matrix_data(matrix), **more}, on_cell_change=choose)


def _clicked(matrix: Matrix, place: object) -> Spot | None:
    """The experiment at a place that the browser sent: problem, configuration, repeat."""
    match place:
        case [int(problem), int(line), int(repeat)]:
            return matrix.spot(problem, line, repeat)
    return None


@cache
def component(name: str, file: str) -> ComponentRenderer:
    """The component whose parts in the browser lie beside a Python file."""
    css, js = (Path(file).with_suffix(suffix).read_text(encoding="utf-8") for suffix in (".css", ".js"))
    return st.components.v2.component(name, css=css, js=js)


def matrix_data(matrix: Matrix) -> dict[str, Any]:  # Any: JSON
    """What the browser draws.

    A cell is a number: the place of its state in ``STATES`` + 8 × attempts; -1 without an experiment.
    """
    names = short_names(matrix.lines, LONGEST_SHORT)
    return {
        "problems": [plain(problem, LONGEST_NAME) for problem in matrix.problems],
        "repeats": matrix.repeats,
        "lines": [_line(line, names[line.letter]) for line in matrix.lines],
        "states": [(state, LOOKS[state].word) for state in STATES],
        "hardestFirst": matrix.hardest_first,
        "finding": plain(matrix_finding(matrix)),
    }


def _line(line: Line, name: str) -> dict[str, object]:
    codes = {state: place for place, state in enumerate(STATES)}
    return {
        "letter": line.letter,
        "name": plain(name),
        "label": plain(line.label, LONGEST_NAME),
        "total": f"{count(line.solved)}/{count(line.scored)}" if line.scored else "–",
        "cells": [-1 if spot is None else codes[spot.shown] + len(STATES) * spot.attempts for spot in line.spots],
    }


def _place(matrix: Matrix, experiment: str) -> Sequence[int] | None:
    """Problem, configuration and repeat of an experiment."""
    for number, line in enumerate(matrix.lines):
        for place, spot in enumerate(line.spots):
            if spot is not None and spot.experiment == experiment:
                return place // matrix.repeats, number, place % matrix.repeats
    return None

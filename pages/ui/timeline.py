"""The timeline of an experiment: its steps, one of which is chosen by the mouse or by the keyboard."""

from __future__ import annotations

import streamlit as st

from koderz_core.export.course import step_marks, step_name
from koderz_core.export.formats import duration, money
from koderz_core.records.rows import ExperimentDetails, Step
from pages.ui.address import keep, line

MOST = 20  # steps in sight, around the chosen one, so that it never has to be scrolled to
KEYS = ("Alt+Up", "Alt+Down")  # single letters would act while somebody types or dictates (WCAG 2.1, 2.1.4)


def choose_step(details: ExperimentDetails) -> Step:
    """The step that is looked at: the one in the address, else the newest that tried a program."""
    steps = {str(place): step for place, step in enumerate(details.steps, 1)}
    tried = [place for place, step in steps.items() if step.program]
    usual = (tried or list(steps))[-1]
    ways = st.container(horizontal=True, gap="small", key="steps-by-key")
    asked = st.query_params.get("step", usual)
    shown = _in_sight(list(steps), asked)
    names = {place: _label(steps[place]) for place in shown}
    chosen = line("step", "Steps", names, [_caption(steps[place]) for place in shown], usual)
    with ways:
        _way("Up", "⬆️", KEYS[0], str(int(chosen) - 1), steps)
        _way("Down", "⬇️", KEYS[1], str(int(chosen) + 1), steps)
    if len(shown) < len(steps):
        st.caption(f"{len(shown)} of {len(steps)} steps, around the chosen one.")
    return steps[chosen]


def _in_sight(places: list[str], asked: str) -> list[str]:
    """All of them, or as many around the one that is asked for, the newest if there is none."""
    at = places.index(asked) if asked in places else len(places) - 1
    begin = max(0, min(at - MOST // 2, len(places) - MOST))
    return places[begin : begin + MOST]


def _way(label: str, icon: str, key: str, to: str, steps: dict[str, Step]) -> None:
    name = f"step {label.lower()}"
    st.button(label, name, icon=icon, shortcut=key, disabled=to not in steps, on_click=keep, args=("step", to))


def _label(step: Step) -> str:
    mark, _ = step_marks(step)
    return f"{mark} {step_name(step)}".strip()


def _caption(step: Step) -> str:
    """What it came to and took; a dollar would begin a formula."""
    _, tests = step_marks(step)
    said = (f"{tests} tests" if tests else "", duration(step.seconds), money(step.cost_usd).replace("$", r"\$"))
    return " · ".join(one for one in said if one)

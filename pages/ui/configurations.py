"""The rows of a launch: a strategy each, a model per role, and its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from koderz_core import Parameter, Preset, StrategyForm, Wanted, Workspace
from koderz_core.grading.gates import GATES
from koderz_core.grading.visible import FEEDBACKS
from koderz_core.models.availability import Availability
from koderz_core.records import Scalar

SAME = "same as coder"
ABOUT_GATE = (
    "What a loop runs and stops on: all base tests, the examples in the problem's text, or a part of the base tests, "
    "as split:0.5. What is not in the gate scores it."
)
ABOUT_FEEDBACK = "What a loop is told of failed tests."


def choose_configurations(workspace: Workspace, preset: Preset, surveyed: Sequence[Availability]) -> list[Wanted]:
    """The configurations as the person left them; another preset begins anew."""
    rows = _rows(preset)
    forms = {form.name: form for form in workspace.strategies()}
    models = {row.id: "" if row.ready else row.reason for row in sorted(surveyed, key=lambda row: not row.ready)}
    for key in list(rows):
        with st.container(border=True, key=f"row-{key}"):
            rows[key] = _row(rows[key], f"{st.session_state['rows begun']} {key}", forms, models)
            if len(rows) > 1 and st.button("Remove", key=f"remove {st.session_state['rows begun']} {key}", icon="🗑️"):
                del rows[key]
                st.rerun()
    if st.button("Add a configuration", icon="➕", key="add"):
        rows[max(rows) + 1] = rows[max(rows)]
        st.rerun()
    return list(rows.values())


def _rows(preset: Preset) -> dict[int, Wanted]:
    """By number. Widgets are named after how often rows were begun anew, else they would keep values of before."""
    state = st.session_state
    if state.get("rows of") != preset:
        state["rows of"], state["rows begun"] = preset, state.get("rows begun", 0) + 1
        state["rows"] = dict(enumerate(preset.configurations, start=1))
    rows: dict[int, Wanted] = state["rows"]
    return rows


def _row(begun: Wanted, key: str, forms: Mapping[str, StrategyForm], models: Mapping[str, str]) -> Wanted:
    names = list(forms)
    form = forms[str(st.selectbox("Strategy", names, names.index(begun.strategy), key=f"strategy {key}"))]
    st.caption(form.doc)
    place = st.container(horizontal=True)
    parameters = _parameters(form, begun, key)
    with place:
        roles = sorted(form.asked(parameters), key=lambda role: role != "coder")
        chosen = {role: _model(role, begun, key, models) for role in roles}
    policies = _policies(begun, key) if form.tested else {}
    return Wanted(form.name, {role: model for role, model in chosen.items() if model != SAME}, parameters, **policies)


def _policies(begun: Wanted, key: str) -> dict[str, str]:
    with st.container(horizontal=True):
        return {
            "gate": _policy("gate", begun.gate, GATES, key, ABOUT_GATE),
            "feedback": _policy("feedback", begun.feedback, tuple(FEEDBACKS), key, ABOUT_FEEDBACK),
        }


def _policy(label: str, now: str, choices: Sequence[str], key: str, about: str) -> str:
    """Of gates others can be typed."""
    options = list(dict.fromkeys([*choices, now]))
    place, typed = options.index(now), label == "gate"
    return str(st.selectbox(label, options, place, key=f"{label} {key}", accept_new_options=typed, help=about))


def _model(role: str, begun: Wanted, key: str, models: Mapping[str, str]) -> str:
    """Those that can run now first, the others with the reason why not; any other name can be typed."""
    said = begun.models.get(role, SAME)
    now = said if isinstance(said, str) else said[0]
    options = list(dict.fromkeys([*([] if role == "coder" else [SAME]), now, *models]))
    chosen = st.selectbox(
        role,
        options,
        options.index(now),
        lambda one: f"⊘ {one}: {models[one]}" if models.get(one) else one,
        key=f"{role} {key}",
        accept_new_options=True,
        help="⊘ cannot run now. You may also type the name of any other model.",
    )
    return str(chosen)


def _parameters(form: StrategyForm, begun: Wanted, key: str) -> dict[str, Scalar]:
    """Those that differ from their defaults."""
    found: dict[str, Scalar] = {}
    with st.expander("Parameters"), st.grid(3):
        for one in form.parameters:
            value = _parameter(one, begun.parameters.get(one.name, one.default), f"{form.name} {one.name} {key}")
            if value != one.default:
                found[one.name] = value
    return found


def _parameter(one: Parameter, value: Scalar, key: str) -> Scalar:
    label = one.name.replace("_", " ")
    if one.kind == "bool":
        return st.checkbox(label, bool(value), key=key)
    if one.kind == "int":
        return int(st.number_input(label, 1, value=int(value or 1), key=key))
    if one.kind == "float":
        return float(st.number_input(label, 0.0, 2.0, float(value or 0), 0.1, key=key))
    return str(st.text_input(label, str(value), key=key))

"""The rows of a launch: a strategy each, a model per role, and its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from koderz_core import Parameter, Preset, StrategyForm, Wanted, Workspace
from koderz_core.models.availability import Availability
from koderz_core.records import Scalar

SAME = "same as coder"


def choose_configurations(workspace: Workspace, preset: Preset, surveyed: Sequence[Availability]) -> list[Wanted]:
    """The configurations as the person left them; another preset begins anew."""
    rows = _rows(preset)
    forms = {form.name: form for form in workspace.strategies()}
    ready = [row.id for row in surveyed if row.ready]
    wanted = []
    for key in list(rows):
        with st.container(border=True, key=f"row {key}".replace(" ", "-")):
            wanted.append(_row(rows[key], f"{preset.name} {key}", forms, ready))
            if len(rows) > 1 and st.button("Remove", key=f"remove {preset.name} {key}", icon="🗑️"):
                del rows[key]
                st.rerun()
    if st.button("Add a configuration", icon="➕", key="add"):
        rows[max(rows, default=0) + 1] = wanted[-1] if wanted else Wanted("direct", {"coder": ready[0]})
        st.rerun()
    return wanted


def _rows(preset: Preset) -> dict[int, Wanted]:
    if st.session_state.get("rows of") != preset.name:
        st.session_state["rows of"] = preset.name
        st.session_state["rows"] = dict(enumerate(preset.configurations, start=1))
    rows: dict[int, Wanted] = st.session_state["rows"]
    return rows


def _row(begun: Wanted, key: str, forms: Mapping[str, StrategyForm], ready: Sequence[str]) -> Wanted:
    names = list(forms)
    form = forms[str(st.selectbox("Strategy", names, names.index(begun.strategy), key=f"strategy {key}"))]
    st.caption(form.doc)
    place = st.container(horizontal=True)
    parameters = _parameters(form, begun, key)
    with place:
        roles = sorted(form.asked(parameters), key=lambda role: role != "coder")
        chosen = {role: _model(role, begun, key, ready) for role in roles}
    return Wanted(form.name, {role: model for role, model in chosen.items() if model != SAME}, parameters)


def _model(role: str, begun: Wanted, key: str, ready: Sequence[str]) -> str:
    """Those that can run now, and the preset's own even if it cannot; any other name can be typed."""
    said = begun.models.get(role)
    now = said if isinstance(said, str) else SAME if said is None else said[0]
    options = list(dict.fromkeys(([] if role == "coder" else [SAME]) + ([] if now == SAME else [now]) + list(ready)))
    place = options.index(now) if now in options else 0
    chosen = st.selectbox(
        role, options, place, key=f"{role} {key}", accept_new_options=True, help="Or type the name of any other model."
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

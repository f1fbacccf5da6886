"""Inputs of a launch: configurations (strategy, models per role, parameters) and the problems to run them on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from koderz_core import KoderzError, Parameter, Preset, Role, StrategyForm, Wanted, Workspace, with_ablations
from koderz_core.datasets import fetched_by
from koderz_core.datasets.selection import way_of
from koderz_core.grading.feedback_policy import FEEDBACKS
from koderz_core.grading.gates import GATES
from koderz_core.models.availability import Availability
from koderz_core.plan.forms import calls_of
from koderz_core.records import Scalar
from koderz_core.report.formats import plain
from koderz_core.strategies.parameters import overrides_for

SAME = "same as coder"
ABOUT_MODELS = "⊘ cannot run now. You may also type the name of any other model."
ABOUT_SEVERAL = "One or more: all of them are asked, in this order."
ABOUT_GATE = (
    "What a loop runs and stops on: all base tests, the examples in the problem's text, or a part of the base tests, "
    "as split:0.5. What is not in the gate scores it."
)
ABOUT_FEEDBACK = "What a loop is told of failed tests."
ABOUT_ABLATIONS = (
    "Adds this configuration once more for each part that it can be without: that tells what the part is good for."
)
WAYS = ("range", "list", "sample", "all", "my own")
PROMPT = 'def double(number: int) -> int:\n    """Return twice the number."""\n'
TESTS = "assert double(2) == 4\nassert double(-1) == -2\n"


@dataclass(frozen=True, slots=True)
class Row:
    """A configuration, and the names of the ablations that go with it."""

    wanted: Wanted
    ablations: tuple[str, ...] = ()


def choose_configurations(workspace: Workspace, preset: Preset, surveyed: Sequence[Availability]) -> list[Wanted]:
    """The configurations as the person left them, each with its ablations; another preset begins anew."""
    rows = _rows(preset)
    forms = {form.name: form for form in workspace.planner.strategies()}
    models = {row.id: "" if row.ready else row.reason for row in sorted(surveyed, key=lambda row: not row.ready)}
    for key in list(rows):
        with st.container(border=True, key=f"row-{key}"):
            rows[key] = _row(rows[key], f"{st.session_state['rows begun']} {key}", forms, models)
            if len(rows) > 1 and st.button("Remove", key=f"remove {st.session_state['rows begun']} {key}", icon="🗑️"):
                del rows[key]
                st.rerun()
    if st.button("Add a configuration", icon="➕", key="add"):
        rows[max(rows) + 1] = Row(rows[max(rows)].wanted)
        st.rerun()
    return with_ablations([(row.wanted, row.ablations) for row in rows.values()])


def _rows(preset: Preset) -> dict[int, Row]:
    """By number. Widgets are named after how often rows were begun anew, else they would keep values of before."""
    state = st.session_state
    if state.get("rows of") != preset:
        state["rows of"], state["rows begun"] = preset, state.get("rows begun", 0) + 1
        state["rows"] = dict(enumerate(map(Row, preset.configurations), start=1))
    rows: dict[int, Row] = state["rows"]
    return rows


def _row(row: Row, key: str, forms: Mapping[str, StrategyForm], models: Mapping[str, str]) -> Row:
    names, begun = list(forms), row.wanted
    form = forms[str(st.selectbox("Strategy", names, names.index(begun.strategy), key=f"strategy {key}"))]
    st.text(form.doc)
    st.caption(plain(calls_of(form)))
    place = st.container(horizontal=True, key=f"roles {key}")
    parameters = _parameters(form, begun, key)
    with place:
        asked = form.asked(parameters)
        roles = sorted((role for role in form.roles if role.name in asked), key=lambda role: role.name != "coder")
        chosen = {role.name: _models(role, begun, key, models) for role in roles}
    kept = overrides_for(asked, begun.parameters)
    if kept:
        st.text("Of single roles, as recorded: " + " ".join(f"{name}={value}" for name, value in kept.items()))
    policies = _policies(begun, key) if form.tested else {}
    named = {role: names for role, names in chosen.items() if names and names != SAME}
    wanted = Wanted(form.name, named, parameters | kept, **policies)
    return Row(wanted, _ablations(wanted, row.ablations, form.ablations, key) if form.ablations else ())


def _ablations(whole: Wanted, begun: Sequence[str], choices: Sequence[str], key: str) -> tuple[str, ...]:
    """One click adds all of them; which, can be chosen then."""
    if not st.toggle("Ablations", bool(begun), key=f"ablations {key}", help=ABOUT_ABLATIONS):
        return ()
    default = list(begun) or list(choices)
    chosen = st.multiselect("Which", choices, default, key=f"ablated {key}")
    grid = with_ablations([(whole, chosen)])
    idle = ", ".join(name for name in chosen if len(with_ablations([(whole, [name])])) == 1)
    st.caption(
        f"{len(grid)} configurations: this one, and {len(grid) - 1} that differ from it in one thing."
        + (f" Left out, as it would change nothing: {idle}." if idle else "")
    )
    return tuple(chosen)


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


def _models(role: Role, begun: Wanted, key: str, models: Mapping[str, str]) -> str | tuple[str, ...]:
    """Those that can run now first, the others with the reason why not; any other name can be typed."""
    said = begun.models.get(role.name, ())
    now = [said] if isinstance(said, str) else list(said)
    options = list(dict.fromkeys([*now, *models]))

    def shown(one: str) -> str:
        return f"⊘ {one}: {models[one]}" if models.get(one) else one

    key, about = f"{role.name} {key}", f"{role.doc} {ABOUT_MODELS}"
    if role.several:
        about = f"{role.doc} {ABOUT_SEVERAL} {ABOUT_MODELS}"
        none = "Name a model" if role.name == "coder" else SAME
        return _several(
            st.multiselect(
                role.name, options, now, shown, key=key, help=about, placeholder=none, accept_new_options=True
            )
        )
    options = options if role.name == "coder" else [SAME, *options]
    place = options.index(now[0]) if now else 0
    return str(st.selectbox(role.name, options, place, shown, key=key, help=about, accept_new_options=True))


def _several(names: Sequence[str]) -> str | tuple[str, ...]:
    """One is said as one."""
    return str(names[0]) if len(names) == 1 else tuple(map(str, names))


def _parameters(form: StrategyForm, begun: Wanted, key: str) -> dict[str, Scalar]:
    """Those that differ from their defaults."""
    found: dict[str, Scalar] = {}
    with st.expander("Parameters"), st.grid(3):
        for parameter in form.parameters:
            value = _parameter(
                parameter,
                begun.parameters.get(parameter.name, parameter.default),
                f"{form.name} {parameter.name} {key}",
            )
            if value != parameter.default:
                found[parameter.name] = value
    return found


def _parameter(one: Parameter, value: Scalar, key: str) -> Scalar:
    label = one.name.replace("_", " ")
    if one.kind == "bool":
        return st.checkbox(label, bool(value), key=key, help=one.doc)
    if one.kind == "int":
        return int(st.number_input(label, one.least, one.most, int(value or 0), key=key, help=one.doc))
    if one.kind == "float":
        now = float(value or 0)
        most = max(float(one.most), now)  # a clone may have what nobody would choose here
        return float(st.number_input(label, float(one.least), most, now, 0.1, key=key, help=one.doc))
    if one.choices:
        return str(st.selectbox(label, one.choices, one.choices.index(str(value)), key=key, help=one.doc))
    return str(st.text_input(label, str(value), key=key, help=one.doc))


def choose_problems(workspace: Workspace, begin: str, dataset: str) -> tuple[str, str]:
    """The choice in the words of an order, and its dataset.

    ``begin``: what is proposed, in the same words; ``dataset``: its dataset, empty where any will do.
    """
    of = f" of {begin} {dataset}" if dataset else ""
    way = str(st.segmented_control("Choose by", WAYS, default=way_of(begin), required=True, key=f"way{of}"))
    if way == "my own":
        return "all", _own(workspace)
    return _terms(way, begin if way == way_of(begin) else ""), _published(workspace, dataset)


def _published(workspace: Workspace, begin: str) -> str:
    """A dataset by name; one whose file is not there can be seen, with the command that fetches it."""
    names = dict.fromkeys([begin, *workspace.datasets()] if begin else workspace.datasets())
    cures = {name: fetched_by(name, workspace.settings) for name in names}
    named = {name: f"{name} (not here)" if cure else name for name, cure in cures.items()}
    dataset = str(st.selectbox("Dataset", list(cures), format_func=named.__getitem__, key=f"dataset {begin}".strip()))
    if cures[dataset]:
        st.info("Its file is not on this machine. In a terminal:", icon="⬇️")
        st.code(cures[dataset], language="sh")
        st.stop()
    return dataset


def _terms(way: str, begin: str) -> str:
    if way == "range":
        first, _, end = begin.partition(":")
        with st.container(horizontal=True):
            low = int(st.number_input("From", 0, value=int(first or 0), key=f"from {begin}"))
            high = int(st.number_input("Up to, not included", 1, value=int(end or 10), key=f"to {begin}"))
        return f"{low}:{high}"
    if way == "list":
        return str(st.text_input("Numbers or ids, with commas", begin or "0, 3, 7", key=f"listed {begin}".strip()))
    if way == "sample":
        proposed = int(begin.partition(":")[2] or 20)
        size = int(st.number_input("How many, drawn by the seed", 1, value=proposed, key=f"sampled {begin}".strip()))
        return f"sample:{size}"
    return "all"


def _own(workspace: Workspace) -> str:
    """The dataset of a problem that is typed or pasted. It is kept when it is used, so that it can be run again."""
    prompt = st.text_area("Signature and what it should do", PROMPT, height=140, key="own prompt")
    tests = st.text_area("Tests", TESTS, height=120, key="own tests", help="Plain asserts, or check(candidate).")
    solution = st.text_area("A solution, if you have one", height=100, key="own solution")
    typed = (str(prompt), str(tests), str(solution))
    if st.button("Use this problem", key="own used"):
        _use(workspace, typed)
    used, dataset = st.session_state.get("own", (None, ""))
    if used != typed:
        st.info("Press “Use this problem” when it is complete.", icon="✏️")
        st.stop()
    return str(dataset)


def _use(workspace: Workspace, typed: tuple[str, str, str]) -> None:
    try:
        st.session_state["own"] = (typed, workspace.keep_problem(*typed))
    except KoderzError as error:
        st.warning("The problem is not complete yet.", icon="✏️")
        st.text(str(error))

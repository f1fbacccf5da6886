"""Inputs of a launch: configurations (strategy, models per role, parameters) and problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from koderz_core import KoderzError, Parameter, Preset, Role, StrategyForm, Wanted, Workspace, with_ablations
from koderz_core.plan.forms import calls_of
from koderz_core.records import Scalar
from koderz_core.report.formats import numbered, plain
from koderz_core.strategies.parameters import overrides_for
from koderz_core.workspace.datasets import way_of
from koderz_core.workspace.grading import FEEDBACKS, GATES
from koderz_core.workspace.models import Availability

SAME = "same as coder"
ABOUT_MODELS = "⊘ marks models that cannot run now. You can also type the name of any other model."
ABOUT_SEVERAL = "Choose one or more models. Strategies such as cascade call them in the order of your selection."
ABOUT_GATE = (
    "The tests that a loop runs to decide whether to stop: all base tests, the examples in the problem's text, or a "
    "part of the base tests (split:0.5 for half of them). Held-out tests, which no strategy sees, score the program."
)
ABOUT_FEEDBACK = "The information that the strategy receives about failed tests."
ABOUT_ABLATIONS = (
    "Add variants of this configuration: each variant omits one optional part of the strategy, or has another review "
    "interval or another temperature. The variants show how much each part contributes."
)
WAYS = ("range", "list", "sample", "all", "my own problem")
PROMPT = 'def double(number: int) -> int:\n    """Return twice the number."""\n'
TESTS = "assert double(2) == 4\nassert double(-1) == -2\n"


@dataclass(frozen=True, slots=True)
class Row:
    """A configuration and the names of its ablations."""

    wanted: Wanted
    ablations: tuple[str, ...] = ()


def choose_configurations(workspace: Workspace, preset: Preset, surveyed: Sequence[Availability]) -> list[Wanted]:
    """The configurations as the user edited them, each with its ablations; another preset replaces them."""
    rows = _rows(preset)
    forms = {form.name: form for form in workspace.plans.strategies()}
    models = {row.id: "" if row.ready else row.reason for row in sorted(surveyed, key=lambda row: not row.ready)}
    for key in list(rows):
        with st.container(border=True, key=f"row-{key}"):
            rows[key] = _row(rows[key], f"{st.session_state['generation of rows']} {key}", forms, models)
            if len(rows) > 1 and st.button(
                "Remove", key=f"remove {st.session_state['generation of rows']} {key}", icon="🗑️"
            ):
                del rows[key]
                st.rerun()
    if st.button("Add a configuration", icon="➕", key="add"):
        rows[max(rows) + 1] = Row(rows[max(rows)].wanted)
        st.rerun()
    return with_ablations([(row.wanted, row.ablations) for row in rows.values()])


def _rows(preset: Preset) -> dict[int, Row]:
    """The rows by number. A new preset starts a new generation, whose widgets do not keep older values."""
    state = st.session_state
    if state.get("rows of") != preset:
        state["rows of"], state["generation of rows"] = preset, state.get("generation of rows", 0) + 1
        state["rows"] = dict(enumerate(map(Row, preset.configurations), start=1))
    rows: dict[int, Row] = state["rows"]
    return rows


def _row(row: Row, key: str, forms: Mapping[str, StrategyForm], models: Mapping[str, str]) -> Row:
    names, initial = list(forms), row.wanted
    form = forms[str(st.selectbox("Strategy", names, names.index(initial.strategy), key=f"strategy {key}"))]
    st.text(form.doc)
    st.caption(plain(calls_of(form)))
    place = st.container(horizontal=True, key=f"roles {key}")
    parameters = _parameters(form, initial, key)
    with place:
        used = form.asked(parameters)
        roles = sorted((role for role in form.roles if role.name in used), key=lambda role: role.name != "coder")
        chosen = {role.name: _models(role, initial, key, models) for role in roles}
    overrides = overrides_for(used, initial.parameters)
    if overrides:
        st.text(
            "Sampling settings that apply to one role only: "
            + " ".join(f"{name}={value}" for name, value in overrides.items())
        )
    policies = _policies(initial, key) if form.tested else {}
    named = {role: names for role, names in chosen.items() if names and names != SAME}
    wanted = Wanted(form.name, named, parameters | overrides, **policies)
    return Row(wanted, _ablations(wanted, row.ablations, form.ablations, key) if form.ablations else ())


def _ablations(whole: Wanted, initial: Sequence[str], choices: Sequence[str], key: str) -> tuple[str, ...]:
    """One click adds all ablations; then the user can remove some."""
    if not st.toggle("Ablations", bool(initial), key=f"ablations {key}", help=ABOUT_ABLATIONS):
        return ()
    default = list(initial) or list(choices)
    chosen = st.multiselect("Ablations to run", choices, default, key=f"ablated {key}")
    grid = with_ablations([(whole, chosen)])
    idle = ", ".join(name for name in chosen if len(with_ablations([(whole, [name])])) == 1)
    st.caption(
        f"koderz will run this configuration and {numbered(len(grid) - 1, 'ablation')}. Each ablation changes one part "
        "or setting of the strategy."
        + (f" Ablations that are omitted because they would change nothing: {idle}." if idle else "")
    )
    return tuple(chosen)


def _policies(initial: Wanted, key: str) -> dict[str, str]:
    """Gate and feedback; a gate can also be typed."""
    gates = list(dict.fromkeys([*GATES, initial.gate]))
    place, feedbacks = gates.index(initial.gate), list(FEEDBACKS)
    with st.container(horizontal=True):
        gate = st.selectbox("gate", gates, place, key=f"gate {key}", accept_new_options=True, help=ABOUT_GATE)
        place = feedbacks.index(initial.feedback)
        feedback = st.selectbox("feedback", feedbacks, place, key=f"feedback {key}", help=ABOUT_FEEDBACK)
    return {"gate": str(gate), "feedback": str(feedback)}


def _models(role: Role, initial: Wanted, key: str, models: Mapping[str, str]) -> str | tuple[str, ...]:
    """Models that can run now come first, the others show the reason; any other name can be typed."""
    names = initial.models.get(role.name, ())
    now = [names] if isinstance(names, str) else list(names)
    options = list(dict.fromkeys([*now, *models]))

    def label(model: str) -> str:
        return f"⊘ {model}: {models[model]}" if models.get(model) else model

    key, about = f"{role.name} {key}", f"{role.doc} {ABOUT_MODELS}"
    if role.several:
        about = f"{role.doc} {ABOUT_SEVERAL} {ABOUT_MODELS}"
        none = "Choose or type a model" if role.name == "coder" else SAME
        chosen = st.multiselect(
            role.name, options, now, label, key=key, help=about, placeholder=none, accept_new_options=True
        )
        return str(chosen[0]) if len(chosen) == 1 else tuple(map(str, chosen))
    options = options if role.name == "coder" else [SAME, *options]
    place = options.index(now[0]) if now else 0
    return str(st.selectbox(role.name, options, place, label, key=key, help=about, accept_new_options=True))


def _parameters(form: StrategyForm, initial: Wanted, key: str) -> dict[str, Scalar]:
    """The parameters that differ from their defaults."""
    changed: dict[str, Scalar] = {}
    with st.expander("Parameters"), st.grid(3):
        for parameter in form.parameters:
            now = initial.parameters.get(parameter.name, parameter.default)
            value = _parameter(parameter, now, f"{form.name} {parameter.name} {key}")
            if value != parameter.default:
                changed[parameter.name] = value
    return changed


def _parameter(parameter: Parameter, value: Scalar, key: str) -> Scalar:
    label, about = parameter.name.replace("_", " "), parameter.doc
    if parameter.kind == "bool":
        return st.checkbox(label, bool(value), key=key, help=about)
    if parameter.kind == "int":
        return int(st.number_input(label, parameter.least, parameter.most, int(value or 0), key=key, help=about))
    if parameter.kind == "float":
        now = float(value or 0)
        most = max(float(parameter.most), now)  # a clone may have a value beyond the usual range
        return float(st.number_input(label, float(parameter.least), most, now, 0.1, key=key, help=about))
    if choices := parameter.choices:
        return str(st.selectbox(label, choices, choices.index(str(value)), key=key, help=about))
    return str(st.text_input(label, str(value), key=key, help=about))


def choose_problems(workspace: Workspace, initial: str, dataset: str) -> tuple[str, str]:
    """The problems as an order names them, and their dataset.

    ``initial``: the proposed problems in the same form; ``dataset``: their dataset, empty for any.
    """
    of = f" of {initial} {dataset}" if dataset else ""
    way = str(
        st.segmented_control("Selection of problems", WAYS, default=way_of(initial), required=True, key=f"way{of}")
    )
    if way == "my own problem":
        return "all", _own(workspace)
    return _terms(way, initial if way == way_of(initial) else ""), _published(workspace, dataset)


def _published(workspace: Workspace, initial: str) -> str:
    """A published dataset; for a missing file the page shows the command that downloads it."""
    names = dict.fromkeys([initial, *workspace.datasets.names()] if initial else workspace.datasets.names())
    cures = {name: workspace.datasets.how_to_get(name) for name in names}
    named = {name: f"{name} (not downloaded)" if cure else name for name, cure in cures.items()}
    dataset = str(st.selectbox("Dataset", list(cures), format_func=named.__getitem__, key=f"dataset {initial}".strip()))
    if cures[dataset]:
        st.info("The file of this dataset is not on this machine. To download it, run in a terminal:", icon="⬇️")
        st.code(cures[dataset], language="sh")
        st.stop()
    return dataset


def _terms(way: str, initial: str) -> str:
    if way == "range":
        first, _, end = initial.partition(":")
        with st.container(horizontal=True):
            low = int(st.number_input("From problem", 0, value=int(first or 0), key=f"from {initial}"))
            high = int(st.number_input("Up to problem (exclusive)", 1, value=int(end or 10), key=f"to {initial}"))
        return f"{low}:{high}"
    if way == "list":
        return str(
            st.text_input(
                "Problem numbers or ids, separated by commas", initial or "0, 3, 7", key=f"listed {initial}".strip()
            )
        )
    if way == "sample":
        proposed = int(initial.partition(":")[2] or 20)
        size = int(
            st.number_input(
                "Sample size (the seed selects the problems)", 1, value=proposed, key=f"sampled {initial}".strip()
            )
        )
        return f"sample:{size}"
    return "all"


def _own(workspace: Workspace) -> str:
    """The dataset of a problem that the user types. It is saved on use, so that it can be run again."""
    prompt = st.text_area("Signature and description", PROMPT, height=140, key="own prompt")
    tests = st.text_area(
        "Tests", TESTS, height=120, key="own tests", help="Plain assert statements, or a function check(candidate)."
    )
    solution = st.text_area("Solution (optional)", height=100, key="own solution")
    typed = (str(prompt), str(tests), str(solution))
    if st.button("Use this problem", key="own used"):
        _use(workspace, typed)
    used, dataset = st.session_state.get("own", (None, ""))
    if used != typed:
        st.info("Press “Use this problem” when the problem is complete.", icon="✏️")
        st.stop()
    return str(dataset)


def _use(workspace: Workspace, typed: tuple[str, str, str]) -> None:
    try:
        st.session_state["own"] = (typed, workspace.grading.keep_problem(*typed))
    except KoderzError as error:
        st.warning("The problem is not complete yet.", icon="✏️")
        st.text(str(error))

"""The form of the page New run: problems, configurations (strategy, models per role, parameters) and budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import get_args

import streamlit as st

from koderz_core import KoderzError, Parameter, Role, StrategyForm, Wanted, Workspace, with_ablations
from koderz_core.plan.forms import calls_of
from koderz_core.records import Budget, Scalar
from koderz_core.records.marks import SEARCHED, SEARCHED_SITES
from koderz_core.report.formats import numbered, plain
from koderz_core.strategies.parameters import Group, overrides_for
from koderz_core.workspace.datasets import way_of
from koderz_core.workspace.drafts import Draft, Row, Typed
from koderz_core.workspace.grading import FEEDBACKS, GATES
from koderz_core.workspace.models import Availability
from pages.ui.draft import OpenDraft
from pages.ui.launch_fields import choose_dataset, choose_efforts
from pages.ui.registration import choose_registration
from pages.ui.text import EXACT

SAME, UNAVAILABLE = "Same as coder", "⊘ "
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
ABOUT_BASELINES = (
    "Also run the strategy `direct` on the same problems: with the coder, and with every spec or reviewer model "
    "whose tier is `frontier` or `small frontier`. Without these baselines, the benchmark cannot show how supervision "
    "changes success and cost."
)
ABOUT_UNPRICED = (
    "Also call models without a known price. In the budget and in the budget per experiment, calls to these models "
    "count as $0."
)
FRESH_SECONDS = 15.0  # how long the list of models that can run is cached
OWN = "own"
WAYS = {"range": "Range", "list": "List", "sample": "Random sample", "all": "All", OWN: "Your own problem"}
GROUPS: tuple[Group, ...] = get_args(Group)
EXAMPLE = Typed(
    'def double(number: int) -> int:\n    """Return twice the number."""\n',
    "assert double(2) == 4\nassert double(-1) == -2\n",
)
Models = Mapping[str, str]
"""Each model with the reason why it cannot run now, empty if it can."""


@st.cache_data(ttl=FRESH_SECONDS, show_spinner="Checking which models can run")
def survey(home: str) -> list[Availability]:  # noqa: ARG001 (the key of the cache)
    """Every known model, with what it lacks. Cached for all pages."""
    from koderz_core import the_workspace  # noqa: PLC0415 (a cached function must not hold the page's)

    return the_workspace().models.survey()


def reasons(surveyed: Sequence[Availability]) -> Models:
    """Why each model cannot run now, empty if it can; those that can run come first."""
    return {row.id: "" if row.ready else row.reason for row in sorted(surveyed, key=lambda row: not row.ready)}


def edit(workspace: Workspace, opened: OpenDraft, surveyed: Sequence[Availability]) -> Draft:
    """The draft as the person has entered it now."""
    st.header("Problems")
    draft = _problems(workspace, opened)
    st.header("Configurations")
    rows, removed = _rows(workspace, opened, draft, surveyed)
    draft = replace(draft, rows=rows)
    st.header("Budget")
    draft = _limits(opened, draft)
    st.header("Registration")
    draft = choose_registration(opened, draft)
    draft = replace(draft, baselines=_wants_baselines(workspace, opened, draft))
    if removed >= 0:  # only now: new widgets show this draft, and the values in the present ones are lost
        opened.draft = replace(draft, rows=(*rows[:removed], *rows[removed + 1 :]))
        opened.generation += 1  # so that the widgets of the rows that follow do not keep the values of other rows
        st.rerun()
    return draft


def _rows(
    workspace: Workspace, opened: OpenDraft, draft: Draft, surveyed: Sequence[Availability]
) -> tuple[tuple[Row, ...], int]:
    """The configurations, and the place of the one to remove, -1 for none. A button that adds one redraws the page."""
    forms = {form.name: form for form in workspace.plans.strategies()}
    models = reasons(surveyed)
    rows, removed = list[Row](), -1
    for place, row in enumerate(draft.rows):
        with st.container(border=True, key=f"row-{place + 1}"):
            rows.append(choose_configuration(row, opened.key(f"row {place + 1}"), forms, models))
            if len(draft.rows) > 1 and st.button("Remove", opened.key(f"remove {place + 1}"), icon="🗑️"):
                removed = place
    if st.button("Add a configuration", "add", icon="➕"):
        opened.draft = replace(draft, rows=(*rows, Row(rows[-1].wanted)))
        st.rerun()
    return tuple(rows), removed


def choose_configuration(
    row: Row, key: str, forms: Mapping[str, StrategyForm], models: Models, *, folded: bool = False
) -> Row:
    """A configuration as the person has entered it now.

    ``key``: part of the keys of its widgets. ``folded``: the parameters are shown only on request.
    """
    initial = row.wanted
    form = forms[str(st.selectbox("Strategy", list(forms), _place(forms, initial.strategy), key=f"strategy {key}"))]
    st.text(form.doc)
    st.caption(plain(calls_of(form)))
    place = st.container(horizontal=True, key=f"roles {key}")
    with st.expander("Parameters", key=f"parameters {key}") if folded else nullcontext():
        parameters, policies = _parameters(form, initial, key)
    try:
        used: Sequence[str] = form.asked(parameters)
    except KoderzError:  # the summary says which value is not valid
        return Row(Wanted(form.name, initial.models, parameters, **policies), row.ablations)
    with place:
        roles = sorted((role for role in form.roles if role.name in used), key=lambda role: role.name != "coder")
        chosen = {role.name: _models(role, initial, key, models) for role in roles}
    named = {role: names for role, names in chosen.items() if names and names != SAME}
    overrides = overrides_for(used, initial.parameters)
    with st.container(horizontal=True, key=f"efforts {key}"):
        efforts = choose_efforts({role: named.get(role, ()) for role in chosen}, overrides, key)
    overrides = {name: value for name, value in overrides.items() if not name.endswith(".effort")}
    if overrides:
        st.text(
            "Sampling settings that apply to one role only: "
            + " ".join(f"{name}={value}" for name, value in overrides.items())
        )
    wanted = Wanted(form.name, named, parameters | overrides | efforts, **policies)
    return Row(wanted, _ablations(wanted, row.ablations, form.ablations, key) if form.ablations else ())


def _place(options: Sequence[object] | Mapping[str, object], value: object) -> int:
    """The place of a value among the options, 0 if it is not one of them."""
    return list(options).index(value) if value in options else 0


def _ablations(whole: Wanted, initial: Sequence[str], choices: Sequence[str], key: str) -> tuple[str, ...]:
    """One click adds all ablations; then the user can remove some."""
    if not st.toggle("Ablations", bool(initial), key=f"ablations {key}", help=ABOUT_ABLATIONS):
        return ()
    default = list(initial) or list(choices)
    chosen = st.multiselect("Ablations to run", choices, default, key=f"ablated {key}")
    grid = with_ablations([(whole, chosen)])
    idle = ", ".join(name for name in chosen if len(with_ablations([(whole, [name])])) == 1)
    st.caption(
        f"koderz will run this configuration and {numbered(len(grid) - 1, 'ablation')}."
        + (f" Ablations that are omitted because they would change nothing: {idle}." if idle else "")
    )
    return tuple(chosen)


def _models(role: Role, initial: Wanted, key: str, models: Models) -> str | tuple[str, ...]:
    """Models that can run now come first, the others show the reason; any other name can be typed."""
    names = initial.models.get(role.name, ())
    now = [names] if isinstance(names, str) else list(names)
    options = list(dict.fromkeys([*now, *models]))

    def label(model: str) -> str:
        return f"{UNAVAILABLE}{model}: {models[model]}" if models.get(model) else model

    key, about, title = f"{role.name} {key}", f"{role.doc} {ABOUT_MODELS}", role.name.capitalize()
    renamed = _renamed_models(key, several=role.several)
    if role.several:
        about = f"{role.doc} {ABOUT_SEVERAL} {ABOUT_MODELS}"
        none = "Choose or type a model" if role.name == "coder" else SAME
        default = None if renamed else now
        chosen = st.multiselect(
            title, options, default, label, key=key, help=about, placeholder=none, accept_new_options=True
        )
        return str(chosen[0]) if len(chosen) == 1 else tuple(map(str, chosen))
    options = options if role.name == "coder" else [SAME, *options]
    place = options.index(now[0]) if now and not renamed else 0
    return str(st.selectbox(title, options, place, label, key=key, help=about, accept_new_options=True))


def _renamed_models(key: str, *, several: bool) -> bool:
    """Whether the value of the widget contained labels. They are replaced by the models that they name.

    A browser sends a choice as the label that it received, also after the reason in the label has changed. Streamlit
    then takes this label for the name of a new model. Otherwise the widget keeps its default, because a browser that
    draws it only now shows the default.
    """
    chosen = st.session_state.get(key)
    if chosen is None or isinstance(chosen, list) != several:  # of another strategy, whose widget was a different one
        return False
    names = _model_in(chosen) if isinstance(chosen, str) else [_model_in(name) for name in chosen]
    if names == chosen:
        return False
    st.session_state[key] = names
    return True


def _model_in(label: str) -> str:
    """The model that a label names; no name of a model contains a colon before a space."""
    return label.removeprefix(UNAVAILABLE).partition(": ")[0] if label.startswith(UNAVAILABLE) else label


def _parameters(form: StrategyForm, initial: Wanted, key: str) -> tuple[dict[str, Scalar], dict[str, str]]:
    """The parameters that differ from their defaults, and the gate and feedback, in a tab for each group."""
    keys = {parameter.name: f"{form.name} {parameter.name} {key}" for parameter in form.parameters}
    now = {parameter.name: initial.parameters.get(parameter.name, parameter.default) for parameter in form.parameters}
    values = {name: st.session_state.get(keys[name], value) for name, value in now.items()}
    used = {parameter.group for parameter in form.parameters} | ({"Loop"} if form.tested else set())
    groups = [group for group in GROUPS if group in used]
    policies = dict[str, str]()
    for group, tab in zip(groups, st.tabs(groups, key=f"groups {form.name} {key}"), strict=True):
        with tab:
            switches = st.container(horizontal=True)
            fields = st.grid(3)
        if group == "Loop" and form.tested:
            with fields:
                policies = _policies(initial, key)
        for parameter in [parameter for parameter in form.parameters if parameter.group == group]:
            name, idle = parameter.name, not parameter.can_act(values)
            with switches if parameter.kind == "bool" else fields:
                disabled = idle and values[name] == parameter.default
                now[name] = _parameter(parameter, now[name], keys[name], disabled=disabled)
    return {it.name: now[it.name] for it in form.parameters if now[it.name] != it.default}, policies


def _policies(initial: Wanted, key: str) -> dict[str, str]:
    """Gate and feedback; a gate can also be typed."""
    gates, feedbacks = list(dict.fromkeys([*GATES, initial.gate])), list(FEEDBACKS)
    place = gates.index(initial.gate)
    gate = st.selectbox("Gate tests", gates, place, key=f"gate {key}", accept_new_options=True, help=ABOUT_GATE)
    place = _place(feedbacks, initial.feedback)
    feedback = st.selectbox("Feedback", feedbacks, place, key=f"feedback {key}", help=ABOUT_FEEDBACK)
    return {"gate": str(gate), "feedback": str(feedback)}


def _parameter(parameter: Parameter, value: Scalar, key: str, *, disabled: bool) -> Scalar:
    """A parameter, which is ``disabled`` while it cannot act."""
    label, about = parameter.label, f"{parameter.doc} Parameter: {parameter.name}"
    if parameter.kind == "bool":
        return st.checkbox(label, bool(value), key=key, help=about, disabled=disabled, width="content")
    if choices := parameter.choices:
        return st.selectbox(label, choices, _place(choices, value), key=key, help=about, disabled=disabled)
    least, most = parameter.least, parameter.most
    if parameter.kind == "int":
        return int(st.number_input(label, least, most, int(value or 0), key=key, help=about, disabled=disabled))
    if parameter.kind == "float":
        now = float(value or 0)
        top = max(float(most), now)  # a clone may have a value beyond the usual range
        low = float(least)
        return float(st.number_input(label, low, top, now, 0.1, EXACT, key=key, help=about, disabled=disabled))
    return str(st.text_input(label, str(value), key=key, help=about, disabled=disabled))


def _problems(workspace: Workspace, opened: OpenDraft) -> Draft:
    """The draft with the problems that are entered, their dataset, repeats, seed and name."""
    draft = opened.draft
    initial = OWN if draft.typed else way_of(draft.problems)
    way = str(
        st.segmented_control(
            "Selection of problems",
            list(WAYS),
            default=initial,
            format_func=WAYS.__getitem__,
            required=True,
            wrap=True,
            key=opened.key("way"),
        )
    )
    if way == OWN:
        draft = _own(workspace, opened)
    else:
        with st.container(horizontal=True):
            draft = replace(draft, typed=None, problems=_terms(way, draft.problems if way == initial else "", opened))
        draft = replace(draft, dataset=choose_dataset(workspace, opened))
    with st.container(horizontal=True):
        repeats = st.number_input(
            "Repeats",
            1,
            value=draft.repeats,
            key=opened.key("repeats"),
            help="Number of experiments per configuration and problem.",
        )
        seed = st.number_input("Seed", 0, value=draft.seed, key=opened.key("seed"))
        about = "To run the same plan as a separate benchmark, enter another name."
        name = st.text_input("Name (optional)", draft.name, key=opened.key("name"), help=about)
    return replace(draft, repeats=int(repeats), seed=int(seed), name=str(name))


def _terms(way: str, initial: str, opened: OpenDraft) -> str:
    if way == "range":
        first, _, end = initial.partition(":")
        low = int(st.number_input("First problem", 0, value=int(first or 0), key=opened.key("from")))
        high = int(st.number_input("End (exclusive)", 1, value=int(end or 10), key=opened.key("to")))
        return f"{low}:{high}"
    if way == "list":
        label = "Problem numbers or ids, separated by commas"
        about = (
            "To choose only problems whose date is in a certain period, add `since:2024-05-01` or "
            "`until:2024-12-31`, as in `all, since:2024-05-01`."
        )
        return str(st.text_input(label, initial or "0, 3, 7", key=opened.key("listed"), help=about))
    if way == "sample":
        proposed, about = int(initial.partition(":")[2] or 20), "The seed determines which problems are drawn."
        size = int(st.number_input("Sample size", 1, value=proposed, key=opened.key("sampled"), help=about))
        return f"sample:{size}"
    return "all"


def _own(workspace: Workspace, opened: OpenDraft) -> Draft:
    """The draft with a problem that the user types. It is saved on use, so that it can be run again."""
    draft, initial = opened.draft, opened.draft.typed or EXAMPLE
    with st.container(key="own"):
        prompt = st.text_area("Signature and description", initial.prompt, height=140, key=opened.key("own prompt"))
        about = "Plain assert statements, or a function check(candidate)."
        tests = st.text_area("Tests", initial.tests, height=120, key=opened.key("own tests"), help=about)
        solution = st.text_area("Solution (optional)", initial.solution, height=100, key=opened.key("own solution"))
    typed = Typed(str(prompt), str(tests), str(solution))
    dataset = draft.dataset if draft.typed == typed else ""
    if st.button("Use this problem", "own used"):
        dataset = _use(workspace, typed)
    if not dataset:
        st.info("Press “Use this problem” when the problem is complete.", icon="✏️")
    return replace(draft, typed=typed, problems="all", dataset=dataset)


def _use(workspace: Workspace, typed: Typed) -> str:
    """The name of the saved problem; empty if it is not complete yet."""
    try:
        return workspace.grading.keep_problem(typed.prompt, typed.tests, typed.solution)
    except KoderzError as error:
        st.warning("The problem is not complete yet.", icon="✏️")
        st.text(str(error))
        return ""


def _limits(opened: OpenDraft, draft: Draft) -> Draft:
    """The draft with the budget and concurrency that are entered. An empty field sets no limit."""
    usual = draft.budget
    with st.container(horizontal=True):
        usd = st.number_input(
            "Budget ($)",
            0.0,
            format=EXACT,
            value=usual.usd,
            key=opened.key("budget"),
            placeholder="No limit",
            help="Cost limit of the whole benchmark. Experiments that would exceed this limit are cancelled without a "
            "result. You can resume them.",
        )
        each = st.number_input(
            "Budget per experiment ($)",
            0.0,
            format=EXACT,
            value=usual.per_experiment_usd,
            key=opened.key("budget each"),
            placeholder="No limit",
            help="Cost limit of each experiment. At this limit, an experiment ends with its best program so far.",
        )
        about = "Number of experiments that run at the same time. By default, koderz adapts the number to the models."
        key, usually = opened.key("concurrency"), "Automatic"
        at_once = st.number_input("Concurrency", 1, 64, draft.concurrency, key=key, placeholder=usually, help=about)
    key, free = opened.key("allow unpriced"), usd is None and each is None
    allow_unpriced = st.checkbox(
        "Allow unpriced models", usual.allow_unpriced, key=key, help=ABOUT_UNPRICED, disabled=free
    )
    searching = any(row.wanted.parameters.get("search") in SEARCHED_SITES for row in draft.rows)
    allow_search = searching and st.checkbox(
        "Allow web search",
        draft.allow_search,
        key=opened.key("allow search"),
        help="Let configurations search the web. koderz marks the success rates of these configurations with "
        f"{SEARCHED}, because the web contains solutions of published problems.",
    )
    budget = Budget(usd, each, allow_unpriced)
    return replace(draft, budget=budget, concurrency=at_once, allow_search=allow_search)


def _wants_baselines(workspace: Workspace, opened: OpenDraft, draft: Draft) -> bool:
    """Whether to add baselines; without any that the draft lacks, there is nothing to choose."""
    try:
        lacking = bool(workspace.plans.lacking(draft.order))
    except KoderzError:  # the summary says what is not valid
        lacking = False
    key = opened.key("baselines")
    return st.checkbox("Also run baselines", draft.baselines, key=key, disabled=not lacking, help=ABOUT_BASELINES)

"""Fields of the page New run: the dataset with its variants, and the reasoning effort of each role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from koderz_core import KoderzError, Workspace, the_workspace
from koderz_core.records import OF_VARIANT, Kind, Scalar
from koderz_core.records.completions import EFFORTS
from koderz_core.report.problems import KINDS
from pages.ui.draft import OpenDraft
from pages.ui.text import worded

NEEDS = "Each patch is tested with pytest, in a separate process in the sandbox."
GATE_OF_REPOSITORIES = (
    "Recommended gate: split:0.5. The loop of a strategy then runs half of the tests that fail without the correct "
    "patch, and the other half is held out. The gate `examples` consists of the tests in a problem's text, so a "
    "benchmark with this gate omits problems without such tests."
)
DEFAULT = "Default of the model"
TOKENS = "tokens"
ABOUT_EFFORT = (
    "How much the model thinks before it answers. With a higher effort, the model uses more tokens but does not always "
    "solve more problems."
)
ABOUT_TOKENS = "You can also type the maximum number of reasoning tokens, such as 4096."


def choose_dataset(workspace: Workspace, opened: OpenDraft) -> str:
    """A dataset; for a missing file the page shows the command that downloads it."""
    initial, _, variant = ("" if opened.draft.typed else opened.draft.dataset).partition(OF_VARIANT)
    names = list(filter(None, dict.fromkeys([*workspace.datasets.names(), initial])))
    cures = {name: workspace.datasets.how_to_get(name) for name in names}
    kinds = {name: workspace.datasets.kind(name) for name in names}
    notes = {name: ", ".join(filter(None, (kinds[name], cures[name] and "not downloaded"))) for name in names}
    named = {name: f"{name} ({note})" if note else name for name, note in notes.items()}
    place, key = names.index(initial) if initial in names else 0, opened.key("dataset")
    dataset = str(st.selectbox("Dataset", names, place, format_func=named.__getitem__, key=key))
    kind = kinds[dataset]
    _show_kinds(workspace, (kind,) if kind else _own_kinds(str(workspace.settings.home), dataset))
    if cures[dataset]:
        st.info("The file of this dataset is not on this machine. To download it, run in a terminal:", icon="⬇️")
        st.code(cures[dataset], language="sh")
    return _variant(workspace, opened, dataset, variant)


@st.cache_data(max_entries=32, show_spinner="Reading the dataset")
def _own_kinds(home: str, dataset: str) -> Sequence[Kind]:  # noqa: ARG001 (the key of the cache)
    """The kinds of your own problems, whose name determines their file; none of a dataset that cannot be read."""
    from koderz_core import the_workspace  # noqa: PLC0415 (a cached function must not hold the page's)

    try:
        return the_workspace().datasets.kinds(dataset)
    except KoderzError:  # the summary says what is wrong
        return ()


def _show_kinds(workspace: Workspace, kinds: Sequence[Kind]) -> None:
    for kind in kinds:
        st.caption(f"Kind {kind}: the model writes {KINDS[kind]}.")
    if "repo" not in kinds:
        return
    lacking = workspace.grading.lacking_for_repositories()
    st.caption(f"{NEEDS} pytest is {'not ' if lacking else ''}installed. {GATE_OF_REPOSITORIES}")
    if lacking:
        st.warning("The tests of this dataset cannot run on this machine.", icon="🧰")
        st.text(worded(lacking))


def _variant(workspace: Workspace, opened: OpenDraft, dataset: str, initial: str) -> str:
    """The dataset, or the variant of it that the user selects."""
    variants = workspace.datasets.variants(dataset)
    if not variants:
        return dataset
    about = (
        "In a variant of the dataset, koderz has changed each problem. `renamed`: the function and its "
        "parameters have other names; `rephrased`: some words of the text are replaced; `impossible`: one test "
        "expects a wrong value. The results on variants show whether a model recalls solutions or cheats."
    )
    names, key = ["", *variants], opened.key("variant")
    place = names.index(initial) if initial in names else 0
    chosen = str(st.selectbox("Variant", names, place, lambda name: name or "none", key=key, help=about))
    return workspace.datasets.name_of(dataset, (), chosen or None)


def choose_efforts(
    chosen: Mapping[str, str | tuple[str, ...]], initial: Mapping[str, Scalar], key: str
) -> dict[str, Scalar]:
    """The overrides of the efforts of these roles, as the person has entered them now.

    ``chosen``: the models of each role. A role whose models accept no effort has no field, unless it has an effort.
    """
    coder = _names(chosen.get("coder", ()))
    efforts = dict[str, Scalar]()
    for role, models in chosen.items():
        names = [name for name in _names(models) if the_workspace().models.efforts(name)] or (
            [] if _names(models) else coder[:1]
        )
        accepted = {effort for name in names for effort in the_workspace().models.efforts(name)}
        now = str(initial.get(f"{role}.effort", ""))
        if accepted or now:
            effort = _effort(role, accepted, now, key)
            efforts |= {f"{role}.effort": effort} if effort else {}
    return efforts


def _effort(role: str, accepted: set[str], now: str, key: str) -> str:
    options = [DEFAULT, *dict.fromkeys([*(word for word in EFFORTS if word in accepted), *([now] if now else [])])]
    about = f"{ABOUT_EFFORT} {ABOUT_TOKENS}" if TOKENS in accepted else ABOUT_EFFORT
    place, label = options.index(now) if now else 0, f"Effort of the {role}"
    effort = st.selectbox(label, options, place, key=f"effort {role} {key}", help=about, accept_new_options=True)
    return "" if effort == DEFAULT else str(effort)


def _names(models: str | Sequence[str]) -> list[str]:
    return [models] if isinstance(models, str) else list(models)

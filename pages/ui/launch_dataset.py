"""The choice of a dataset on the page New run: its kind, what it needs, the gate that suits it, and its variants."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core import KoderzError, Workspace
from koderz_core.records import OF_VARIANT, Kind
from koderz_core.report.problems import KINDS
from pages.ui.draft import OpenDraft
from pages.ui.text import worded

NEEDS = "Each patch is tested with pytest, in a separate process in the sandbox."
GATE_OF_REPOSITORIES = (
    "Recommended gate: split:0.5. The loop of a strategy then runs half of the tests that fail without the correct "
    "patch, and the other half is held out. The gate `examples` consists of the tests in a problem's text, so a "
    "benchmark with this gate omits problems without such tests."
)


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

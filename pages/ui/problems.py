"""Which problems a launch is on: a range, a list, a sample, all, or one that the person types."""

from __future__ import annotations

import streamlit as st

from koderz_core import KoderzError, Workspace
from koderz_core.datasets import fetched_by
from koderz_core.datasets.selection import way_of

WAYS = ("range", "list", "sample", "all", "my own")
PROMPT = 'def double(number: int) -> int:\n    """Return twice the number."""\n'
TESTS = "assert double(2) == 4\nassert double(-1) == -2\n"


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

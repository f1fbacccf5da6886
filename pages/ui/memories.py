"""The parts of the Memory page: a search, the table of its results, and one memory with its origin and links."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.errors import UsageError
from koderz_core.report.formats import count, plain
from koderz_core.workspace.memories import (
    KINDS,
    MOST,
    ORDERS,
    Counts,
    Lesson,
    MemoryQuery,
    Related,
    SearchResult,
    ShownMemory,
    StoredMemory,
    one_line,
)
from pages.ui.address import choice, chosen_line, keep, link, searched_words
from pages.ui.edge import edge
from pages.ui.frame import show_facts, show_remarks
from pages.ui.tables import FEW_LINES, tall
from pages.ui.text import show_text

ANY = "any"
TITLE_CHARS = 120
MOST_WORDS = 500  # characters
MEBIBYTE = 2**20
_EXPERIMENT, _BENCHMARK = re.compile(r"exp_[0-9a-f]{12}"), re.compile(r"bench_[0-9a-f]{12}")
COLUMNS = {
    "memory": st.column_config.NumberColumn(format="%d", width="small"),
    "kind": st.column_config.TextColumn(width="small"),
    "importance": st.column_config.ProgressColumn(format="percent", min_value=0, max_value=1, width="small"),
}


def choose_search(counts: Counts) -> MemoryQuery:
    """The search; all of it is part of the page's address."""
    words = searched_words("words", "Words", MOST_WORDS, "HumanEval/31, IndexError, exp_…")
    with st.container(horizontal=True):  # two side by side on a narrow screen
        of = choice("kind", "Kind", (ANY, *KINDS))
        within = choice("category", "Category", (ANY, *counts.by_category), plain)
        by = choice("order", "Sort by", ORDERS)
        shown = {"without": "excluded", "with": "included"}
        more = choice("faded", "Retired and decayed (long unused) memories", list(shown), shown.__getitem__)
    return MemoryQuery(words, "" if of == ANY else of, "" if within == ANY else within, by, more == "with", MOST)


def with_linked_memory(workspace: Workspace, matches: SearchResult, search: MemoryQuery) -> SearchResult:
    """The results with the memory that the address names; a choice among the results of another search is dropped."""
    requested, linked = st.query_params.get("memory", ""), "memory that a link names"
    if not re.fullmatch(r"[0-9]{1,18}", requested) or int(requested) in {memory.id for memory in matches.memories}:
        return matches
    chosen_before = st.session_state.get("memory in the URL", ("",))[0] == requested
    if chosen_before and st.session_state.get(linked) != (requested, search):
        keep("memory", None)
        return matches
    try:
        memory = workspace.memories.show(int(requested)).memory
    except UsageError:
        return matches
    st.session_state[linked] = (requested, search)
    return replace(matches, memories=(memory, *matches.memories))


def choose_memory(matches: SearchResult) -> int:
    """The table of at least one result; the id of the chosen memory."""
    table = pd.DataFrame([_line(memory) for memory in matches.memories])
    keys = [str(memory.id) for memory in matches.memories]
    options = {"column_config": COLUMNS, "height": tall(len(keys), FEW_LINES), "alt": "Matching memories"}
    chosen = chosen_line(table, "memory", keys, **options)
    notes = [
        f"Only the first {count(len(keys))} matches are shown. To narrow the search, add words." if matches.more else ""
    ]
    notes += ["Too many memories match, so koderz ranked only the newest matches." if matches.newest_only else ""]
    st.caption(" ".join(note for note in notes if note) or f"{count(len(keys))} found.")
    return int(chosen)


def show_memory(shown: ShownMemory) -> None:
    """One memory in full. Hostile texts."""
    memory = shown.memory
    st.text(plain(one_line(memory.title), TITLE_CHARS * 4))
    if shown.retired:
        st.text("RETIRED")
    show_remarks([plain(memory.about())])
    if shown.lesson:
        _show_lesson(shown.lesson)
    show_text(memory.content, f"memory-{memory.id}")
    _show_origin(shown.metadata)
    if shown.metadata:
        with st.expander("All metadata"):
            show_text(json.dumps(shown.metadata, indent=2, ensure_ascii=False), f"metadata-{memory.id}", "json")


def show_related(related: Sequence[Related]) -> None:
    """Links to other memories, with their titles as text."""
    if not related:
        st.caption("This memory has no links, and its experiment has no other memories.")
    for memory in related:
        with st.container(horizontal=True, vertical_alignment="center"):
            number = memory.memory.id
            link("memory", f"Memory {number}", memory=str(number))
            st.text(f"{plain(one_line(memory.how), 40)}: {plain(one_line(memory.memory.title), TITLE_CHARS)}")


def show_counts(counts: Counts) -> None:
    """The size of the memory."""
    show_facts(
        {
            "memories": count(counts.total),
            "long-term": count(counts.by_type.get("long_term", 0)),
            "retired": count(counts.retired),
            "file": f"{counts.file_bytes / MEBIBYTE:.1f} of {counts.most_bytes / MEBIBYTE:.0f} MiB",
        }
    )


def offer_retirement(workspace: Workspace, shown: ShownMemory) -> None:
    """The button that retires a memory or restores it."""
    number, memories = shown.memory.id, workspace.memories
    verb, icon, change = ("Restore", "♻️", memories.restore) if shown.retired else ("Retire", "🗄️", memories.retire)
    # A callback and a key for this memory: while benchmarks run, the next run of the page may show a newer memory.
    st.button(verb, icon=icon, key=f"{verb.lower()} {number}", on_click=_change, args=[change, number, f"{verb}d"])
    st.caption("A retired memory is kept, but searches omit it by default. Prompts contain no retired lessons.")


def _change(change: Callable[[int], None], number: int, done: str) -> None:
    with edge():
        change(number)
        st.toast(f"{done}: memory {number}")


def _line(memory: StoredMemory) -> Mapping[str, object]:
    tags = json.loads(memory.tags)
    kinds = [name for name, tag in KINDS.items() if tag in tags]
    return {
        "memory": memory.id,
        "kind": kinds[0] if kinds else "",
        "title": plain(one_line(memory.title), TITLE_CHARS),
        "importance": memory.decayed_score,
        "when (UTC)": memory.created_at[:16].replace("T", " "),
        "beginning": plain(one_line(memory.content[:TITLE_CHARS])),
    }


def _show_lesson(lesson: Lesson) -> None:
    """The evidence of a lesson, problem by problem, with a link to an experiment of each."""
    table = pd.DataFrame(
        [
            {
                "problem": plain(failure.problem),
                "dataset": plain(failure.dataset),
                "failures": failure.times,
                "fixed by the next program": failure.fixed,
                "experiment": f"experiment?experiment={first}" if (first := _first(failure.experiments)) else None,
            }
            for failure in lesson.evidence
        ]
    )
    links = st.column_config.LinkColumn(display_text=r"experiment=(exp_\w+)")
    st.text(
        f"koderz derived this lesson from {count(len(lesson.problems))} problems. For an experiment on one of these "
        "problems, koderz derives the lesson only from the evidence of the other problems."
    )
    st.dataframe(table, hide_index=True, column_config={"experiment": links}, alt="Evidence for the lesson")


def _first(experiments: Sequence[str]) -> str | None:
    return next((experiment for experiment in experiments if _EXPERIMENT.fullmatch(experiment)), None)


def _show_origin(metadata: Mapping[str, object]) -> None:
    """Links to its experiment, benchmark and problem, if the ids have the form of ours."""
    experiment, benchmark, problem = (
        str(metadata.get(name) or "") for name in ("experiment_id", "benchmark_id", "problem_id")
    )
    with st.container(horizontal=True):
        if _EXPERIMENT.fullmatch(experiment):
            link("experiment", "Experiment of this memory", "🔬", experiment=experiment)
        if _BENCHMARK.fullmatch(benchmark):
            link("live", "Benchmark of this memory", "📡", benchmarks=benchmark)
        if problem and _BENCHMARK.fullmatch(benchmark):
            link("problems", "Problem of this memory", "🧩", benchmarks=benchmark, problem=problem)

"""Memories on screen: the table to choose from, one in full, where it comes from, what it has to do with."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.errors import UsageError
from koderz_core.memory.cortex.search import SearchResult, StoredMemory, one_line
from koderz_core.memory.lessons import Lesson
from koderz_core.memory.memory_file import KINDS, MOST, ORDERS, Counts, MemoryQuery, Related
from koderz_core.report.formats import count, plain
from koderz_core.workspace.memories import Shown
from pages.ui.address import choice, chosen_line, keep
from pages.ui.frame import facts, show_remarks
from pages.ui.text import show_text

ANY = "any"
TITLE_CHARS = 120
MOST_WORDS = 500  # characters
IN_SIGHT, TALL = 10, 360  # lines of the table in full height; pixels of a longer one: the memory stands below
MEBIBYTE = 2**20
_EXPERIMENT, _BENCHMARK = re.compile(r"exp_[0-9a-f]{12}"), re.compile(r"bench_[0-9a-f]{12}")
COLUMNS = {
    "memory": st.column_config.NumberColumn(format="%d", width="small"),
    "kind": st.column_config.TextColumn(width="small"),
    "weight": st.column_config.ProgressColumn(format="percent", min_value=0, max_value=1, width="small"),
}


def choose_sought(counts: Counts) -> MemoryQuery:
    """What is looked for; all of it is part of the page's address."""
    words = _words()
    with st.container(horizontal=True):  # two beside each other where the screen is narrow
        of = choice("kind", "Kind", (ANY, *KINDS))
        within = choice("category", "Category", (ANY, *counts.by_category), plain)
        by = choice("order", "First come", ORDERS)
        more = choice("faded", "Faded and retired", ("without", "with"))
    return MemoryQuery(words, "" if of == ANY else of, "" if within == ANY else within, by, more == "with", MOST)


def with_asked(workspace: Workspace, found: SearchResult, sought: MemoryQuery) -> SearchResult:
    """What was found, with the memory that the address asks for; a choice among what another search found is over."""
    asked, beside = st.query_params.get("memory", ""), "memory beside what was found"
    if not re.fullmatch(r"[0-9]{1,18}", asked) or int(asked) in {memory.id for memory in found.memories}:
        return found
    chosen_before = st.session_state.get("memory in the URL", ("",))[0] == asked
    if chosen_before and st.session_state.get(beside) != (asked, sought):
        keep("memory", None)
        return found
    try:
        memory = workspace.memories.show(int(asked)).memory
    except UsageError:
        return found
    st.session_state[beside] = (asked, sought)
    return replace(found, memories=(memory, *found.memories))


def choose_memory(found: SearchResult) -> int:
    """The table of what was found, at least one; the id of the chosen memory."""
    table = pd.DataFrame([_line(memory) for memory in found.memories])
    keys = [str(memory.id) for memory in found.memories]
    alt, columns = "Memories that were found", COLUMNS
    chosen = chosen_line(table, "memory", keys, alt=alt, column_config=columns, height=_height(len(keys)))
    notes = [f"The first {count(len(keys))}; more fit: add words." if found.more else ""]
    notes += ["Of the very many that fit only the newest were ranked." if found.newest_only else ""]
    st.caption(" ".join(note for note in notes if note) or f"{count(len(keys))} found.")
    return int(chosen)


def show_memory(shown: Shown) -> None:
    """One memory in full. Hostile texts."""
    memory = shown.memory
    st.text(plain(one_line(memory.title), TITLE_CHARS * 4))
    if shown.retired:
        st.text("RETIRED: found only on demand, and told to nobody.")
    show_remarks([plain(memory.about())])
    if shown.lesson:
        _show_lesson(shown.lesson)
    show_text(memory.content, f"memory-{memory.id}")
    _show_origin(shown.metadata)
    if shown.metadata:
        with st.expander("Everything that is known about it"):
            show_text(json.dumps(shown.metadata, indent=2, ensure_ascii=False), f"metadata-{memory.id}", "json")


def show_related(related: Sequence[Related]) -> None:
    """Links to other memories; their titles are shown as text beside."""
    if not related:
        st.caption("Nothing is linked to it, and nothing else is remembered of its experiment.")
    for memory in related:
        with st.container(horizontal=True, vertical_alignment="center"):
            number = memory.memory.id
            st.page_link("pages/memory.py", label=f"Memory {number}", query_params={"memory": str(number)})
            st.text(f"{plain(one_line(memory.how), 40)}: {plain(one_line(memory.memory.title), TITLE_CHARS)}")


def show_counts(counts: Counts) -> None:
    """How much there is."""
    facts(
        {
            "memories": count(counts.total),
            "lasting": count(counts.by_type.get("long_term", 0)),
            "retired": count(counts.retired),
            "file": f"{counts.file_bytes / MEBIBYTE:.1f} of {counts.most_bytes / MEBIBYTE:.0f} MiB",
        }
    )


def offer_retirement(workspace: Workspace, shown: Shown) -> None:
    """The button that retires a memory, or takes that back."""
    if st.button("Restore" if shown.retired else "Retire", icon="♻️" if shown.retired else "🗄️", key="retire"):
        change = workspace.memories.restore if shown.retired else workspace.memories.retire
        change(shown.memory.id)
        st.rerun()
    st.caption("What is retired is kept: it is left out of searches, and a lesson reaches no prompt any more.")


def _words() -> str:
    asked, key, seen = st.query_params.get("words", "")[:MOST_WORDS], "words", "words in the URL"
    if st.session_state.get(seen) != asked:
        st.session_state[key] = asked
    words = str(st.text_input("Words", key=key, placeholder="HumanEval/31, IndexError, exp_…", max_chars=MOST_WORDS))
    keep("words", words or None)
    st.session_state[seen] = words
    return words


def _line(memory: StoredMemory) -> Mapping[str, object]:
    tags = json.loads(memory.tags)
    kinds = [name for name, tag in KINDS.items() if tag in tags]
    return {
        "memory": memory.id,
        "kind": kinds[0] if kinds else "",
        "title": plain(one_line(memory.title), TITLE_CHARS),
        "weight": memory.decayed_score,
        "when": memory.created_at[:16].replace("T", " "),
        "begins": plain(one_line(memory.content[:TITLE_CHARS])),
    }


def _height(lines: int) -> int | Literal["content"]:
    return TALL if lines > IN_SIGHT else "content"


def _show_lesson(lesson: Lesson) -> None:
    """What it was learnt from, problem by problem, with the way to an experiment of each."""
    table = pd.DataFrame(
        [
            {
                "problem": plain(failure.problem),
                "dataset": plain(failure.dataset),
                "failed so": failure.times,
                "next passed": failure.fixed,
                "experiment": f"experiment?experiment={first}" if (first := _first(failure.experiments)) else None,
            }
            for failure in lesson.evidence
        ]
    )
    way = st.column_config.LinkColumn(display_text=r"experiment=(exp_\w+)")
    st.text(
        f"Learnt from {count(len(lesson.problems))} problems; whoever solves one of them is told of the others only."
    )
    st.dataframe(table, hide_index=True, column_config={"experiment": way}, alt="Where the lesson comes from")


def _first(experiments: Sequence[str]) -> str | None:
    return next((experiment for experiment in experiments if _EXPERIMENT.fullmatch(experiment)), None)


def _show_origin(metadata: Mapping[str, object]) -> None:
    """Links to where it comes from, by ids that look as ours do."""
    experiment, benchmark, problem = (
        str(metadata.get(name) or "") for name in ("experiment_id", "benchmark_id", "problem_id")
    )
    with st.container(horizontal=True):
        if _EXPERIMENT.fullmatch(experiment):
            _link("experiment", "Its experiment", "🔬", {"experiment": experiment})
        if _BENCHMARK.fullmatch(benchmark):
            _link("live", "Its benchmark", "📡", {"benchmark": benchmark})
        if problem and _BENCHMARK.fullmatch(benchmark):
            _link("problems", "Its problem", "🧩", {"benchmarks": benchmark, "problem": problem})


def _link(page: str, label: str, icon: str, query: Mapping[str, str]) -> None:
    st.page_link(f"pages/{page}.py", label=label, icon=icon, query_params=dict(query))

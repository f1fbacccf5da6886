"""The draft of the page New run, which survives leaving the page, a reload and a restart of koderz.

The server keeps it in a file, and the address holds only its id: a draft may contain a whole problem, the browser's
history would get an entry per change, and a change that is made while the page is still being redrawn would arrive with
the address from before the last one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import streamlit as st

from koderz_core import Clone, KoderzError, Preset, Workspace
from koderz_core.records.rows import BenchmarkRow
from koderz_core.workspace.drafts import Draft, draft_of_clone, draft_of_preset
from pages.ui.address import keep, matching_option, warn_of_missing

KEY = "draft"  # in the address and in the session
PRESET, CLONE = "preset", "clone"  # in the address: what a draft starts from
Presets = Mapping[str, Preset]


@dataclass(slots=True)
class OpenDraft:
    """The draft of this session, and its state before the first change (``base``).

    ``kept``: as it was last written. ``id``: empty until the first change. ``generation``: part of the keys of the
    widgets, so that another draft gets new widgets, which do not keep the values of older ones. ``usual``: the page was
    opened without any choice in its address. ``newer``: its preset with the models that can run now, if these differ.
    """

    draft: Draft
    base: Draft
    kept: Draft
    generation: int
    id: str = ""
    clone: Clone | None = None
    usual: bool = False
    newer: Draft | None = None

    def key(self, name: str) -> str:
        """The key of a widget."""
        return f"{name} {self.generation}"

    @property
    def changed(self) -> tuple[str, ...]:
        """The parts that a person has changed."""
        return self.draft.changed(self.base)

    def keep(self, workspace: Workspace, draft: Draft) -> None:
        """Take the draft as it was entered; from the first change on, write it, and put its id into the address.

        A dashboard that shows a bundle is read-only and writes nothing.
        """
        self.draft = draft
        self._follow_models()
        written = not workspace.bundles.shown_level and (self.id or draft.started or self.changed)
        if draft != self.kept and written:
            self.id, self.kept = workspace.drafts.keep(draft, self.id), draft
        if self.id or not (self.usual or {PRESET, CLONE} & {*st.query_params}):
            _put_into_address(self)

    def _follow_models(self) -> None:
        """Start over with the newer preset, unless the person has changed anything, also during this run."""
        newer, self.newer = self.newer, None
        if newer and not (self.id or self.changed):
            self.draft = self.base = self.kept = newer
            self.generation += 1
            st.rerun()

    def reset(self) -> None:
        """Return to the starting point; for callbacks."""
        self.draft = self.base
        self.generation += 1


def open_draft(workspace: Workspace, presets: Presets, rows: Sequence[BenchmarkRow]) -> OpenDraft:
    """The draft that the address names, else that of this session, else the first preset. Raises as ``Planner.clone``.

    A preset that has not been changed yet follows the models that can run now.
    """
    last: OpenDraft | None = st.session_state.get(KEY)
    if requested := st.query_params.get(KEY, ""):
        if last and last.id == requested:
            return last
        if found := workspace.drafts.find(requested):
            return _reopened(workspace, found, presets, requested)
        warn_of_missing(KEY)
        keep(KEY, None)
    requested = st.query_params.get(CLONE, "")
    if clone := _named(CLONE, [row.id for row in rows]):
        return last if last and last.base.clone == clone else _of_clone(workspace, clone)
    if requested and last and last.base.clone == requested:
        last.usual = True  # its benchmark was deleted: the address must not name it again
    preset = _named(PRESET, list(presets))
    if last and preset in ("", last.base.preset) and (last.id or last.base.clone):
        return last
    base = draft_of_preset(presets[preset or (last.base.preset if last else "") or next(iter(presets))])
    if last and last.base.preset == base.preset:
        last.newer = base if base != last.base else None
        return last
    opened = _opened(base, base)
    opened.usual = not (preset or last)
    return opened


def _named(name: str, known: Sequence[str]) -> str:
    """The benchmark or the preset that the address names, in full or by its beginning; empty if it names none."""
    requested = st.query_params.get(name, "")
    chosen = matching_option(requested.replace(" ", "-") if name == PRESET else requested, known)
    if chosen in known:
        return chosen
    if requested:
        warn_of_missing(name)
        keep(name, None)
    return ""


def _of_clone(workspace: Workspace, benchmark: str) -> OpenDraft:
    with st.spinner("Reading the plan of the benchmark"):
        clone = workspace.plans.clone(benchmark)
    base = draft_of_clone(clone)
    return _opened(base, base, clone=clone)


def _reopened(workspace: Workspace, draft: Draft, presets: Presets, name: str) -> OpenDraft:
    """A draft from its file. If its starting point no longer exists, it counts as changed."""
    clone, base = None, replace(draft, rows=())
    if draft.preset in presets:
        base = draft_of_preset(presets[draft.preset])
    elif draft.clone:
        with suppress(KoderzError):
            clone = workspace.plans.clone(draft.clone)
            base = draft_of_clone(clone)
    return _opened(draft, base, name, clone)


def _opened(draft: Draft, base: Draft, name: str = "", clone: Clone | None = None) -> OpenDraft:
    """A draft in place of the one of the session."""
    last: OpenDraft | None = st.session_state.get(KEY)
    opened = OpenDraft(draft, base, draft, last.generation + 1 if last else 1, name, clone)
    st.session_state[KEY] = opened
    return opened


def choose_preset(opened: OpenDraft, presets: Presets) -> None:
    """The choice of a preset as the starting point of the draft."""
    key, chosen = opened.key(PRESET), opened.draft.preset
    st.segmented_control(
        "Preset",
        list(presets),
        default=chosen if chosen in presets else None,
        format_func=lambda name: presets[name].title,
        key=key,
        wrap=True,
        on_change=lambda: start_from(presets[st.session_state[key] or chosen], key),
    )


def start_from(preset: Preset, key: str) -> None:
    """Replace the draft of this session by a preset; for the callback of the widget ``key`` that chooses presets.

    A request that the browser sends before it receives another draft still contains the widget of the previous one.
    For Streamlit that is a change, so the other draft would be lost.
    """
    last: OpenDraft | None = st.session_state.get(KEY)
    if last is None or last.key(PRESET) != key:
        return
    base = draft_of_preset(preset)
    _put_into_address(_opened(base, base))


def _put_into_address(opened: OpenDraft) -> None:
    """The id of a changed draft, else its starting point."""
    keep(KEY, opened.id or None)
    keep(PRESET, None if opened.id else opened.base.preset or None)
    keep(CLONE, None if opened.id else opened.base.clone or None)

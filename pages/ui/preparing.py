"""What takes long when it is asked for the first time: read beside the page, which says so until it is there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

import streamlit as st

from pages.ui.edge import edge

PATIENCE_SECONDS = 0.15  # what is there by then is shown at once
BEAT_SECONDS = 0.5
NAME = "preparing"  # of its threads


def prepared(name: str, work: Callable[[], object], meanwhile: Callable[[], None]) -> bool:
    """Whether ``work`` has been done for this browser, so that what it keeps can be asked for at once.

    Else it goes on beside the page, of which ``meanwhile`` is drawn, and all of it when the work has ended. ``name``
    tells it from others. It is done once: a page that is full is waited for rather than emptied for a moment. What
    broke the work breaks the question that follows too, which says so.
    """
    threads: dict[str, threading.Thread] = st.session_state.setdefault(NAME, {})
    if name not in threads:
        threads[name] = threading.Thread(target=_worked, args=[work], name=NAME)
        threads[name].start()
    thread = threads[name]
    thread.join(PATIENCE_SECONDS)
    if thread.is_alive():
        meanwhile()
        _await(thread)
        return False
    return True


def _worked(work: Callable[[], object]) -> None:
    with suppress(Exception):  # whoever asks next meets it where it can be shown
        work()


def _await(thread: threading.Thread) -> None:
    """Have the page drawn anew when the thread has ended."""

    @st.fragment(run_every=BEAT_SECONDS, key="preparing")
    def look() -> None:
        with edge():
            if not thread.is_alive():
                st.rerun()

    look()

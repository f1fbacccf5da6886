"""What takes long when it is asked for the first time: read beside the page, which says so until it is there."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

import streamlit as st

from pages.ui.edge import edge

Answer = TypeVar("Answer")
PATIENCE_SECONDS = 0.15  # what is there by then is shown at once
BEAT_SECONDS = 0.5
NAME = "preparing"
WORKERS = ThreadPoolExecutor(1, NAME)  # one thread for all: side by side all would be slower


def prepared(name: str, work: Callable[[], Answer], meanwhile: Callable[[], None]) -> Answer | None:
    """What ``work`` comes to, which is not None; None: it goes on beside the page, of which ``meanwhile`` is drawn.

    The page is drawn anew when it has ended. ``name`` tells it from others. Once a session has had an answer it waits
    for later ones: a page that is full is not emptied for a moment. Raises what broke the work, which is tried again
    when it is asked for again.
    """
    # Any: what the name tells; None: it has been answered.
    begun: dict[str, Future[Any] | None] = st.session_state.setdefault(NAME, {})
    if name not in begun:
        begun[name] = WORKERS.submit(work)
    future = begun[name]
    if future is None:
        return work()
    wait([future], PATIENCE_SECONDS)
    if not future.done():
        meanwhile()
        _await(future)
        return None
    del begun[name]
    answer: Answer = future.result()
    begun[name] = None
    return answer


def _await(future: Future[Any]) -> None:
    """Have the page drawn anew when it is done."""

    @st.fragment(run_every=BEAT_SECONDS, key=NAME)
    def look() -> None:
        with edge():
            if future.done():
                st.rerun()

    look()

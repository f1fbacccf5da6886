"""The edge at which errors end: every page, and every part that redraws itself, runs inside ``edge``."""

from __future__ import annotations

import logging
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb
from uuid import uuid4

import streamlit as st

from koderz_core import KoderzError, __version__, the_workspace
from pages.ui.bug_report import offer_error_report

_LOG = logging.getLogger("koderz")
FRAMES = 4  # the innermost; they hold no values and therefore no secrets


@contextmanager
def edge() -> Iterator[None]:
    """Show errors with what to do. Messages may quote hostile text, so they are shown as text."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 (the edge of a page)
        _log(error)
        _show_error(error)


def redrawn(key: str, draw: Callable[[], None], seconds: float | None = None) -> None:
    """Draw a part of the page now and, unless it is None, then every ``seconds``. ``key``: unique on the page."""

    def part() -> None:
        with edge():
            draw()

    part.__qualname__ = f"redrawn {key}"  # by which Streamlit tells parts apart, with their place on the page
    st.fragment(part, run_every=seconds, key=key)()


def attempt(place: str, act: Callable[[], object]) -> None:
    """Run the action of a button in a part that redraws itself; ``show_failure`` shows an error later.

    A callback must not draw there: Streamlit would put it in place of the page's head, and the next part that is drawn
    into the head would break the page in the browser.
    """
    forget_failure(place)
    try:
        act()
    except Exception as error:  # noqa: BLE001 (the edge of a callback)
        _log(error)
        st.session_state[_failure_key(place)] = error
    the_workspace().results.shared.forget()  # so that the next read shows the change


def show_failure(place: str) -> None:
    """Show the error of the last ``attempt`` at that place, until the next attempt or ``forget_failure``."""
    if error := st.session_state.get(_failure_key(place)):
        _show_error(error)


def forget_failure(place: str) -> None:
    """Drop the error of that place, for instance after the page has changed."""
    st.session_state.pop(_failure_key(place), None)


def _failure_key(place: str) -> str:
    return f"failure of {place}"


def _log(error: Exception) -> None:
    if not isinstance(error, KoderzError):
        _LOG.error("A page failed because of a bug in koderz", exc_info=error)


def _show_error(error: Exception) -> None:
    if isinstance(error, KoderzError):
        st.error("An error occurred.", icon="⚠️")
        st.text(str(error))
        _details(f"{type(error).__name__}: {error}", error)
    else:
        st.error("This is a bug in koderz. No recorded data is lost.", icon="🐞")
        st.text("Reload the page. If the error persists, please report it with the details below.")
        _details(f"{type(error).__name__}\n{_places(error)}\nThe full traceback is in the server's log.", error)


def _details(summary: str, error: Exception) -> None:
    """The details that a bug report needs, to copy, or as a file in which keys and names are masked."""
    with st.expander("Details to copy"):
        st.code(f"{summary}\nkoderz {__version__}, Python {platform.python_version()}", language=None, wrap_lines=True)
        offer_error_report(error, f"bug report {uuid4()}")  # several parts of a page may fail with the same error


def _places(error: Exception) -> str:
    innermost = extract_tb(error.__traceback__)[-FRAMES:]
    return "\n".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in innermost)

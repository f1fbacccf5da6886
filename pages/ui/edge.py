"""Where errors end: a page, and each part of one that repeats by itself, stands inside ``edge``."""

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
from koderz_core.workspace.bundles import FILE_NAME, bug_report

_LOG = logging.getLogger("koderz")
FRAMES = 4  # the innermost; no value stands in them, so no secret does


@contextmanager
def edge() -> Iterator[None]:
    """Where a page's errors end: said with what to do. Messages may quote hostile text, so they are shown as text."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 (the edge of a page)
        _log(error)
        _show(error)


def attempt(place: str, act: Callable[[], object]) -> None:
    """What the callback of a button does in a part that repeats by itself: an error waits for ``show_failure``.

    Whatever a callback draws there takes the place of the page's head, and the next part that is drawn into the head
    breaks the whole page in the browser.
    """
    forget_failure(place)
    try:
        act()
    except Exception as error:  # noqa: BLE001 (the edge of a callback)
        _log(error)
        st.session_state[_failure(place)] = error
    the_workspace().results.shared.forget()  # whoever looks next sees what was done


def show_failure(place: str) -> None:
    """What went wrong with the last ``attempt`` of that place, until the next one or until ``forget_failure``."""
    if error := st.session_state.get(_failure(place)):
        _show(error)


def forget_failure(place: str) -> None:
    """The page has changed since."""
    st.session_state.pop(_failure(place), None)


def _failure(place: str) -> str:
    return f"failure of {place}"


def _log(error: Exception) -> None:
    if not isinstance(error, KoderzError):
        _LOG.error("A bug of koderz in a page", exc_info=error)


def _show(error: Exception) -> None:
    if isinstance(error, KoderzError):
        st.error("This could not be done.", icon="⚠️")
        st.text(str(error))
        _details(f"{type(error).__name__}: {error}", error)
    else:
        st.error("This is a bug of koderz. Nothing that was recorded is lost.", icon="🐞")
        st.text("Load the page again. If it comes back, please report it with the details below.")
        _details(f"{type(error).__name__}\n{_places(error)}\nThe whole of it is in the log of the server.", error)


def _details(said: str, error: Exception) -> None:
    """What a report of it needs, to be copied, or as a file in which keys and names are masked."""
    with st.expander("Details to copy"):
        st.code(f"{said}\nkoderz {__version__}, Python {platform.python_version()}", language=None, wrap_lines=True)
        report, key = bug_report(error), f"bug report {uuid4()}"  # several parts of a page may fail alike
        st.download_button("Bug report", report, FILE_NAME, "application/zip", key=key, icon="🧳", on_click="ignore")
        st.caption("Keys, paths, hosts and user names are masked in the file. It is sent to nobody.")


def _places(error: Exception) -> str:
    innermost = extract_tb(error.__traceback__)[-FRAMES:]
    return "\n".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in innermost)

"""Where errors end: a page, and each part of one that repeats by itself, stands inside ``edge``."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from koderz_core import KoderzError

_LOG = logging.getLogger("koderz")


@contextmanager
def edge() -> Iterator[None]:
    """Where a page's errors end: said with what to do. Messages may quote hostile text, so they are shown as text."""
    try:
        yield
    except KoderzError as error:
        st.error("This could not be done.", icon="⚠️")
        st.text(str(error))
    except Exception as error:  # noqa: BLE001 (the edge of a page)
        _LOG.exception("A bug of koderz in a page")
        st.error("This is a bug of koderz. Nothing that was recorded is lost.", icon="🐞")
        st.text(f"{type(error).__name__}. The lines that explain it are in the log of the server.")

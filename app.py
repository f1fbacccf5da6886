"""The dashboard: Streamlit runs this file as the script of the menu, and uvicorn serves ``app`` from it."""

from __future__ import annotations

import asyncio
import signal
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import click
import streamlit as st
import uvicorn
from starlette.middleware import Middleware
from starlette.routing import Route, WebSocketRoute
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from koderz_core.addresses import url_of
from koderz_core.config import load_settings
from koderz_core.errors import KoderzError
from koderz_core.workspace import leave, the_workspace
from pages.ui import document, live_board
from pages.ui.downloads import PATH, send
from pages.ui.server import (
    SameOrigin,
    SecureHeaders,
    ask_login,
    begin_warm_up,
    check_exposure,
    fix_streamlit,
    wait_for_imports,
)
from pages.ui.shell import PAGES

SHUTDOWN_SECONDS = 3  # for answers that are being sent when the dashboard is asked to end
MIDDLEWARE = (Middleware(SecureHeaders), Middleware(SameOrigin))
ASSETS = Path(__file__).parent / "pages" / "ui"
FIRST = Path(__file__).parent / "pages" / "overview.py"
UNKNOWN = "unknown address"
NO_PAGE = "The dashboard has no page at this address, so it shows Home."


def menu() -> None:
    """Show the page that the URL names."""
    st.set_page_config(page_title="koderz", page_icon=ASSETS / "koderz.svg", layout="wide")
    ask_login()
    st.logo(ASSETS / "wordmark.svg", size="large", icon_image=ASSETS / "koderz.svg")
    pages = [
        st.Page(f"pages/{name}.py", title=place.title, icon=place.icon, url_path=path, default=not path)
        for name, place in PAGES.items()
        for path in ["" if name == "overview" else name]  # the address of Home is /
    ]
    if unknown := _unknown_address():  # otherwise Streamlit opens a dialog of its own
        home = PAGES["overview"]
        pages.append(st.Page("pages/overview.py", title=home.title, icon=home.icon, url_path=unknown))
    chosen = st.navigation(pages, position="hidden")
    st.set_page_config(page_title=f"{chosen.title} · koderz")
    wait_for_imports()
    if unknown and chosen.url_path == unknown:
        st.warning(NO_PAGE, icon="🧭")
    chosen.run()


def _unknown_address() -> str:
    """The address without a page at which the browser opened the dashboard, "" if there is a page."""
    context = get_script_run_ctx()
    if context and context.pages_manager.intended_page_name:  # later runs name their page only by its hash
        st.session_state[UNKNOWN] = context.pages_manager.intended_page_name
    asked = str(st.session_state.get(UNKNOWN, ""))
    is_usable = asked == asked.strip() and "/" not in asked  # Streamlit refuses or changes all other addresses
    return asked if is_usable and asked not in PAGES.keys() - {"overview"} else ""


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Print the dashboard's address and open it; at the end, stop running benchmarks, which closes their journals."""
    url = url_of(st.get_option("server.address") or "localhost", st.get_option("server.port"))
    click.echo(f"koderz is at {url}  (Ctrl-C stops the server)")
    if not st.get_option("server.headless"):
        asyncio.get_running_loop().run_in_executor(None, webbrowser.open, url)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # unless started by nohup, a closed terminal ends it
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, signal.raise_signal, signal.SIGTERM)
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    if isinstance(server, uvicorn.Server):  # otherwise it waits for every open browser
        server.config.timeout_graceful_shutdown = SHUTDOWN_SECONDS
    asyncio.get_running_loop().run_in_executor(None, begin_metrics)
    yield
    await asyncio.to_thread(leave)


def begin_metrics() -> None:
    """If it is set, serve or send metrics before the first benchmark runs. Pages show the errors of settings."""
    with suppress(KoderzError):
        settings = load_settings()
        if settings.metrics_address or settings.metrics_otlp:
            the_workspace().monitoring.begin()


if get_script_run_ctx(suppress_warning=True):
    menu()
else:
    check_exposure()
    fix_streamlit()
    begin_warm_up(FIRST)
    # Otherwise Streamlit opens each file of pages/ at its own URL, without this menu and without the login.
    PagesManager.uses_pages_directory = False
    app = st.App(
        __file__,
        routes=[Route(PATH, send), WebSocketRoute(live_board.PATH, live_board.report), *document.routes()],
        middleware=MIDDLEWARE,
        lifespan=lifespan,
    )

"""Protection of the dashboard: who may reach it, the headers of its answers, and requests for pages that were left.

It runs code and spends money, so beyond this machine only logged-in users may reach it. The browser loads nothing from
elsewhere, whatever text a page shows. Streamlit 1.67 keeps the request of a repeating part until the next page is drawn
and then draws the part as one of the page that was left: the browser throws the new page away, finds no place for the
part ("Cannot set a node at a delta path") and shows nothing from then on. Such requests are ignored here.
"""

from __future__ import annotations

import click
import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.errors import StreamlitSecretNotFoundError
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

from koderz_core.addresses import is_loopback, url_of
from koderz_core.errors import UsageError

PROTECTIONS: tuple[tuple[str, object, str], ...] = (
    ("server.enableCORS", True, "'false' lets every website use the dashboard, which runs code"),
    ("server.enableXsrfProtection", True, "'false' lets every website upload files to the dashboard"),
    ("server.corsAllowedOrigins", [], "lets other websites use the dashboard, which runs code"),
    ("server.enableAgentApi", False, "lets programs press every button of the dashboard"),
    ("global.developmentMode", False, "lets every website read the dashboard's answers"),
    ("logger.hideWelcomeMessage", True, "'false' asks an outside server for the address of this machine"),
)
"""Options of Streamlit with the only value that the dashboard starts with, and what another one does."""
POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",  # Streamlit's and Plotly's own code needs both
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}


def check_exposure() -> None:
    """End the process with a message if the server's options would let strangers in."""
    try:
        _check()
    except UsageError as error:
        click.echo(f"Error: {error}", err=True)
        raise SystemExit(error.exit_code) from error


def ask_login() -> None:
    """Let nobody see a page who has not logged in, where a log-in is set up."""
    if _login_wanted() and not st.user.is_logged_in:
        st.title("koderz")
        st.button("Log in", on_click=st.login, icon="🔑")
        st.stop()


def _check() -> None:
    address = str(st.get_option("server.address") or "")  # empty: all interfaces
    wanted = _login_wanted()
    if not wanted and not is_loopback(url_of(address)):
        raise UsageError(
            f"The dashboard runs code, and server.address {address!r} would offer that to the network. Leave the "
            "option out and come through an SSH tunnel, or set up a log-in: [auth] in .streamlit/secrets.toml, with "
            "streamlit[auth] installed."
        )
    for option, safe, why in PROTECTIONS:
        if st.get_option(option) != safe:
            raise UsageError(f"{option} {why}. Remove this option: the dashboard does not start with it.")
    hosts = st.get_option("server.allowedHosts")
    if not wanted and (not hosts or "*" in hosts):
        raise UsageError(
            "server.allowedHosts accepts every host name, so any website could reach the dashboard by DNS rebinding. "
            "List the host names that you use, or remove this option."
        )


def _login_wanted() -> bool:
    try:
        return "auth" in st.secrets
    except StreamlitSecretNotFoundError as error:
        if error.error_id == "no-secrets-found":
            return False
        raise UsageError(f"Whether a log-in is wanted cannot be told: {error}. Mend that file.") from error


class Headers:
    """ASGI middleware that sets ``HEADERS`` on each response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def pass_over_left_pages() -> None:
    """From now on, in every session of this process."""
    run = ScriptRunner._run_script

    def run_if_shown(self: ScriptRunner, rerun_data: RerunData) -> None:
        shown = self._pages_manager.current_page_script_hash
        if not rerun_data.fragment_id_queue or rerun_data.page_script_hash == shown:
            run(self, rerun_data)

    ScriptRunner._run_script = run_if_shown  # type: ignore[method-assign]

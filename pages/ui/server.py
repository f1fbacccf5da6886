"""The dashboard's server: who may reach it, the headers of its answers, fixes of Streamlit, and imports ahead of time.

The dashboard runs code and spends money, so users beyond this machine must log in. Only its own pages may send it
requests, and the browser loads nothing from elsewhere, whatever text a page shows.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import wraps
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import click
import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from streamlit.errors import StreamlitSecretNotFoundError
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequestType

from koderz_core import lazy
from koderz_core.addresses import is_loopback, url_of
from koderz_core.errors import UsageError

PROTECTIONS: tuple[tuple[str, object, str], ...] = (
    ("server.enableCORS", True, "with the value 'false' lets every website use the dashboard and run code"),
    ("server.enableXsrfProtection", True, "with the value 'false' lets every website upload files to the dashboard"),
    ("server.corsAllowedOrigins", [], "lets other websites use the dashboard and run code"),
    ("server.enableAgentApi", False, "lets programs press every button of the dashboard"),
    ("global.developmentMode", False, "lets every website read the dashboard's HTTP responses"),
    (
        "logger.hideWelcomeMessage",
        True,
        "with the value 'false' makes Streamlit ask an outside server for the address of this machine",
    ),
)
"""Options of Streamlit, the only value with which the dashboard starts, and the effect of any other value."""
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
REFUSED = "The request does not come from the dashboard's own pages. Open the dashboard at its own address.\n"
WARM_UP = "warming"
RETRY_SECONDS = 0.005  # until the thread of an ended script has sent its last message
CHANGE_SECONDS = 0.1  # until the browser has sent a change that it has stored
CHANGE_STEPS = 5  # in which this time is waited: a busy machine that uses up one has read the next request in another


def check_exposure() -> None:
    """End the process with a message if the server's options would let strangers in."""
    try:
        _check()
    except UsageError as error:
        click.echo(f"Error: {error}", err=True)
        raise SystemExit(error.exit_code) from error


def ask_login() -> None:
    """If a login is configured, show pages only to users who have logged in."""
    if _login_wanted() and not st.user.is_logged_in:
        st.title("koderz")
        st.button("Log in", on_click=st.login, icon="🔑")
        st.stop()


def _check() -> None:
    address = str(st.get_option("server.address") or "")  # empty: all interfaces
    wanted = _login_wanted()
    if not wanted and not is_loopback(url_of(address)):
        raise UsageError(
            f"server.address {address!r} would open the dashboard to the network, and the dashboard runs code. "
            "Remove the option and use an SSH tunnel. Alternatively, configure a login: install streamlit[auth], and "
            "add the section [auth] to .streamlit/secrets.toml."
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
        raise UsageError(f"The login settings cannot be read: {error}. Fix the file secrets.toml.") from error


class SecureHeaders:
    """ASGI middleware that sets ``HEADERS`` on each response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class SameOrigin:
    """ASGI middleware that answers 403 to every request whose ``Origin`` is not the host and port it was sent to.

    It runs before Streamlit's own check, which accepts ``localhost`` on any port. For any other origin that check asks
    an outside server for this machine's public address and trusts the answer. Browsers always send the origin when they
    open a WebSocket; other programs need not. Streamlit checks the host itself (``server.allowedHosts``), which stops
    DNS rebinding. A reverse proxy must pass the ``Host`` header on. Source: RFC 6454 and RFC 6455, section 10.2.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or _is_own(Headers(scope=scope)):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)  # before it is accepted: the server answers 403
        else:
            await PlainTextResponse(REFUSED, status_code=403)(scope, receive, send)


def _is_own(headers: Headers) -> bool:
    origins, hosts = headers.getlist("origin"), headers.getlist("host")
    if not origins:
        return True
    return len(origins) == len(hosts) == 1 and _host_of(origins[0]) == hosts[0].lower()


def _host_of(origin: str) -> str | None:
    """Host and port of an ``http`` or ``https`` origin in the form of a ``Host`` header; None for any other."""
    try:
        parts = urlsplit(origin)
    except ValueError:  # brackets that hold no address
        return None
    return parts.netloc.lower() if parts.scheme in ("http", "https") else None


def fix_streamlit() -> None:
    """Apply two fixes of Streamlit 1.67 to every session of this process."""
    ignore_left_pages()
    AppSession.request_rerun = in_turn(AppSession.request_rerun)  # type: ignore[method-assign, assignment]


def ignore_left_pages() -> None:
    """Ignore requests of repeating parts that belong to a page which the user has left.

    Streamlit would run such a part after the next page is drawn, as part of the page that was left. The browser then
    discards the new page, finds no place for the part ("Cannot set a node at a delta path") and stays empty.
    """
    run = ScriptRunner._run_script

    def run_if_shown(self: ScriptRunner, rerun_data: RerunData) -> None:
        shown = self._pages_manager.current_page_script_hash
        if not rerun_data.fragment_id_queue or rerun_data.page_script_hash == shown:
            run(self, rerun_data)

    ScriptRunner._run_script = run_if_shown  # type: ignore[method-assign]


Request = Callable[[AppSession, ClientState | None], None]


def in_turn(request: Request) -> Request:
    """Keep the request of a part that repeats from replacing a request of the user or the answer to it.

    The thread of a run ends before the event loop has handled all its messages. If the request of a part arrives in
    between, Streamlit starts a new thread and ignores what the old one sent, so the result of a click never reaches the
    browser. Therefore such a request waits. (``AppSession.request_rerun`` describes the cause.)

    The browser stores a change of the user and sends it a moment later. If a part is due in between, its request
    already contains the change: Streamlit calls the callbacks of the change, but runs only the part. Then the request
    of the change itself arrives, with the address from before the callbacks, and what they wrote into the address is
    lost. A request that a part sends before the browser has received the new address undoes the change, too. Therefore
    a part's request is dropped if it arrives while a request of the user is being answered, or up to
    ``CHANGE_SECONDS`` before one. The part is drawn by the answer, or due again after its interval.
    """
    answering: WeakKeyDictionary[AppSession, ScriptRunner | None] = WeakKeyDictionary()  # the user's last request

    @wraps(request)
    def request_in_turn(self: AppSession, client_state: ClientState | None) -> None:
        if client_state is not None and client_state.is_auto_rerun:
            last = answering.get(self)
            if last is None or last is not self._scriptrunner:
                request_of_part(self, client_state, last, CHANGE_STEPS)
        elif client_state is not None and client_state.fragment_id and _is_ending(self):
            answering[self] = None
            self._event_loop.call_later(RETRY_SECONDS, request_in_turn, self, client_state)
        else:
            request(self, client_state)
            answering[self] = self._scriptrunner

    def request_of_part(self: AppSession, state: ClientState, last: ScriptRunner | None, steps: int) -> None:
        if answering.get(self) is not last:
            return
        if steps or _is_ending(self):
            wait = CHANGE_SECONDS / CHANGE_STEPS
            self._event_loop.call_later(wait, request_of_part, self, state, last, max(steps - 1, 0))
        else:
            request(self, state)

    return request_in_turn


def _is_ending(session: AppSession) -> bool:
    """Whether the last run has ended, but not all its messages are handled."""
    runner = session._scriptrunner
    return runner is not None and runner._requests._state is ScriptRequestType.STOP


def begin_warm_up(script: Path) -> None:
    """Import, in a thread of its own, the modules that a page's script imports.

    The thread only imports, because a process that is asked to end waits for it.
    """
    lazy.the_one(WARM_UP, lambda: _submitted(script))


def wait_for_imports() -> None:
    """Wait until the warm-up has ended, so that two threads never import the same packages at once.

    Packages that import each other could otherwise be used half imported. Returns at once if no warm-up was started, as
    in a test of one page. An import that failed fails again in the page, which shows the error.
    """
    wait([lazy.the_one(WARM_UP, _nothing_to_import)])


def imported_by(script: Path) -> Iterator[str]:
    """The modules that a script imports at its top."""
    for node in ast.parse(script.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def _submitted(script: Path) -> Future[None]:
    worker = ThreadPoolExecutor(1, WARM_UP)
    future = worker.submit(_import, script)
    worker.shutdown(wait=False)  # the thread ends after this job
    return future


def _import(script: Path) -> None:
    for name in imported_by(script):
        import_module(name)


def _nothing_to_import() -> Future[None]:
    done: Future[None] = Future()
    done.set_result(None)
    return done

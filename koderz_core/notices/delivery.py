"""Notices to all configured places: Slack-compatible webhooks, and whatever else the optional Apprise package knows.

Sending ends within ten seconds and never raises; it reports what did not arrive. To Slack, and to Mattermost and
Rocket.Chat, a notice is a POST of JSON with ``text``, in which ``&``, ``<`` and ``>`` are written as in HTML;
``mrkdwn`` false shows it as it is
(https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks, 21 Nov 2026).
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from urllib.parse import urlsplit

from koderz_core.addresses import address, is_loopback
from koderz_core.config import Settings
from koderz_core.errors import KoderzError, NoticeError
from koderz_core.notices.mask import masked
from koderz_core.notices.messages import Notice

SECONDS = 10.0
UNSET = "No notices are set. Set SLACK_WEBHOOK_URL or KODERZ_NOTICES, in the environment, .env or settings.toml."

Send = Callable[[Notice], None]
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
SCHEMES = "https://appriseit.com/services/"


class Notices:
    """The places that a person wants to be told at. Of no secret anything is ever said."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @property
    def wanted(self) -> bool:
        """Whether a place is set."""
        return bool(self._settings.slack_webhook_url or self._settings.notices)

    def send(self, notice: Notice, seconds: float = SECONDS) -> tuple[str, ...]:
        """Why it did not arrive where it did not; empty if it arrived everywhere. Raises nothing, takes no longer.

        What is still being sent then may yet arrive, while this process lives.
        """
        clean = self._clean(notice)
        attempts = [_Attempt(send, clean) for send in self._places(seconds)]
        deadline = time.monotonic() + seconds
        return tuple(trouble for attempt in attempts if (trouble := attempt.trouble(deadline - time.monotonic())))

    def _clean(self, notice: Notice) -> Notice:
        secrets = self._settings.secrets()
        return Notice(
            _quiet(masked(notice.title, secrets)), tuple(_quiet(masked(line, secrets)) for line in notice.lines)
        )

    def _places(self, seconds: float) -> Iterator[Send]:
        if self._settings.slack_webhook_url:
            yield partial(self._post, self._settings.slack_webhook_url.get_secret_value(), seconds)
        for place in self._settings.notice_addresses():
            yield partial(self._tell, place)

    def _post(self, url: str, seconds: float, notice: Notice) -> None:
        try:
            address(url)
        except ValueError:
            raise NoticeError("SLACK_WEBHOOK_URL is no address. Copy it anew from where the webhook was made") from None
        self._settings.check_egress(url, "a notice")
        post(url, notice, seconds)

    def _tell(self, place: str, notice: Notice) -> None:
        if self._settings.offline:
            raise NoticeError("KODERZ_OFFLINE is set, and nobody can tell where an address in KODERZ_NOTICES leads")
        tell(place, notice)


class _Attempt:
    """One notice on its way to one place, in a thread that nobody has to wait for."""

    def __init__(self, send: Send, notice: Notice) -> None:
        self._trouble = "it took too long"
        self._thread = threading.Thread(target=self._try, args=(send, notice), name="notice", daemon=True)
        self._thread.start()

    def trouble(self, seconds: float) -> str:
        """Why it has not arrived within so many seconds; "" if it has."""
        self._thread.join(max(seconds, 0.0))
        return self._trouble

    def _try(self, send: Send, notice: Notice) -> None:
        try:
            send(notice)
            self._trouble = ""
        except KoderzError as error:
            self._trouble = str(error).rstrip(".")
        except Exception as error:  # noqa: BLE001 (the edge of this thread; the text of an error may quote an address)
            self._trouble = f"a bug, in koderz or in what it sends with: {type(error).__name__}"


def _quiet(text: str) -> str:
    """A text in which nobody is called: many places tell everyone of a line with @all in it."""
    return text.replace("@", "@\N{ZERO WIDTH SPACE}")


def post(url: str, notice: Notice, seconds: float) -> None:
    """Raises NoticeError, which shows nothing of the address: whoever knows it may write there."""
    import httpx  # noqa: PLC0415 (heavy, and most notices are never sent)

    message = {"text": notice.text.translate(_ENTITIES), "mrkdwn": False, "unfurl_links": False, "unfurl_media": False}
    timeouts = {"timeout": httpx.Timeout(seconds).as_dict()}
    try:
        # Straight through a transport: a client would log the address, and follow where it is sent on to.
        with httpx.HTTPTransport(proxy=_proxy(url)) as transport:
            answer = transport.handle_request(httpx.Request("POST", url, json=message, extensions=timeouts))
            said = next(answer.iter_bytes(), b"") if answer.status_code >= 300 else b""
            answer.close()
    except httpx.HTTPError as error:
        raise NoticeError(f"the webhook cannot be reached ({type(error).__name__})") from None
    if answer.status_code >= 300:
        reason = said.decode(errors="replace")
        why = f": {reason}" if re.fullmatch("[a-z_]{1,60}", reason) else ""  # Slack's; others may quote what was sent
        raise NoticeError(f"the webhook answered {answer.status_code}{why}")


def _proxy(url: str) -> str | None:
    """What the environment, or on macOS the system, wants asked in between; nobody sees what stays on this machine."""
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 (heavy)

    parts = urlsplit(url)
    straight = is_loopback(url) or proxy_bypass(parts.hostname or "")
    return None if straight else getproxies().get(parts.scheme)


def tell(address: str, notice: Notice) -> None:
    """Send to one address as Apprise writes them. Raises NoticeError, which shows nothing of it."""
    try:
        from apprise import Apprise, AppriseAsset, NotifyFormat  # noqa: PLC0415 (optional, heavy)
    except ImportError:
        raise NoticeError("KODERZ_NOTICES needs a package: pip install 'koderz[notices]'") from None
    log = logging.getLogger("apprise")
    log.propagate = False  # one warning is enough, and that is ours
    log.addHandler(logging.NullHandler())
    place = Apprise(asset=AppriseAsset(app_id="koderz", http_redirects=False))
    if not place.add(address):
        raise NoticeError(f"KODERZ_NOTICES has an address that Apprise does not know; {SCHEMES} lists them")
    if not place.notify(title=notice.title, body="\n".join(notice.lines), body_format=NotifyFormat.TEXT):
        raise NoticeError("an address in KODERZ_NOTICES did not take it; `apprise -vv ADDRESS` tells why")

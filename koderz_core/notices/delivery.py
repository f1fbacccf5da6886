"""Sends notices to all configured addresses: a Slack-compatible webhook, and those of the optional Apprise package.

Sending ends within ten seconds and never raises; it reports which notices did not arrive. For Slack, Mattermost and
Rocket.Chat a notice is a POST of JSON with ``text``, in which ``&``, ``<`` and ``>`` are escaped as in HTML;
``mrkdwn`` false shows the text unchanged
(https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks, 21 Nov 2026).
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

from koderz_core.addresses import address
from koderz_core.config import Settings
from koderz_core.egress import trace
from koderz_core.errors import KoderzError, NoticeError
from koderz_core.notices.mask import masked
from koderz_core.notices.messages import Notice
from koderz_core.proxies import proxy_of

SECONDS = 10.0
UNSET = (
    "No address for notifications is set. Set SLACK_WEBHOOK_URL or KODERZ_NOTICES in the environment, .env or "
    "settings.toml."
)

Send = Callable[[Notice], None]
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
SCHEMES = "https://appriseit.com/services/"


class Notices:
    """The addresses that receive notices. A notice or message never contains a secret."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @property
    def configured(self) -> bool:
        """Whether an address is set."""
        return bool(self._settings.slack_webhook_url or self._settings.notices)

    def send(self, notice: Notice, seconds: float = SECONDS) -> tuple[str, ...]:
        """Send a notice within the time limit. Returns why it did not arrive, for each address where it did not.

        Raises nothing. A notice that is still being sent at the end may arrive later, while this process lives.
        """
        secrets = self._settings.secrets()
        clean = Notice(
            _without_mentions(masked(notice.title, secrets)),
            tuple(_without_mentions(masked(line, secrets)) for line in notice.lines),
        )
        attempts = [_Attempt(send, clean) for send in self._channels(seconds)]
        deadline = time.monotonic() + seconds
        return tuple(trouble for attempt in attempts if (trouble := attempt.trouble(deadline - time.monotonic())))

    def _channels(self, seconds: float) -> Iterator[Send]:
        if self._settings.slack_webhook_url:
            yield partial(self._post, self._settings.slack_webhook_url.get_secret_value(), seconds)
        addresses = self._settings.notices
        for url in addresses.get_secret_value().split() if addresses else ():
            yield partial(self._send_by_apprise, url)

    def _post(self, url: str, seconds: float, notice: Notice) -> None:
        """Send to a webhook. Raises NoticeError, which does not show the address: it allows anyone to write there."""
        import httpx  # noqa: PLC0415 (heavy, and most notices are never sent)

        try:
            address(url)
        except ValueError:
            raise NoticeError(
                "SLACK_WEBHOOK_URL is not an address. Copy the address again from the webhook's page in Slack"
            ) from None
        self._settings.check_egress(url, "a notification", "SLACK_WEBHOOK_URL")
        message = {
            "text": notice.text.translate(_ENTITIES),
            "mrkdwn": False,
            "unfurl_links": False,
            "unfurl_media": False,
        }
        extensions = {"timeout": httpx.Timeout(seconds).as_dict(), "trace": trace}
        try:
            # A transport instead of a client, which would log the address and follow redirects.
            with httpx.HTTPTransport(proxy=proxy_of(url)) as transport:
                answer = transport.handle_request(httpx.Request("POST", url, json=message, extensions=extensions))
                body = next(answer.iter_bytes(), b"") if answer.status_code >= 300 else b""
                answer.close()
        except httpx.HTTPError as error:
            raise NoticeError(f"the webhook cannot be reached ({type(error).__name__})") from None
        if answer.status_code >= 300:
            reason = body.decode(errors="replace")
            why = f": {reason}" if re.fullmatch("[a-z_]{1,60}", reason) else ""  # Slack's reasons; others may quote
            raise NoticeError(f"the webhook answered {answer.status_code}{why}")

    def _send_by_apprise(self, url: str, notice: Notice) -> None:
        """Send to one address in the format of Apprise. Raises NoticeError, which does not show the address."""
        scheme, separator, _ = url.partition("://")
        service = scheme if separator and re.fullmatch("[a-z0-9]{1,20}", scheme) else "unknown"
        # An address of Apprise may contain a key in any of its parts, so the gate gets only the name of the service.
        self._settings.check_egress(f"{service} (Apprise)", "a notification", "KODERZ_NOTICES", metered=False)
        try:
            from apprise import Apprise, AppriseAsset, NotifyFormat  # noqa: PLC0415 (optional, heavy)
        except ImportError:
            raise NoticeError("KODERZ_NOTICES needs a package: pip install 'koderz[notices]'") from None
        log = logging.getLogger("apprise")
        log.propagate = False  # koderz itself warns once
        log.addHandler(logging.NullHandler())
        apprise = Apprise(asset=AppriseAsset(app_id="koderz", http_redirects=False))
        if not apprise.add(url):
            raise NoticeError(f"KODERZ_NOTICES contains an address that Apprise does not support; see {SCHEMES}")
        if not apprise.notify(title=notice.title, body="\n".join(notice.lines), body_format=NotifyFormat.TEXT):
            raise NoticeError(
                "an address in KODERZ_NOTICES did not accept the notification; `apprise -vv ADDRESS` shows why"
            )


class _Attempt:
    """Sends one notice to one address in a thread of its own, which may outlive the time limit."""

    def __init__(self, send: Send, notice: Notice) -> None:
        self._trouble = "sending exceeded the time limit"
        self._thread = threading.Thread(target=self._try, args=(send, notice), name="notice", daemon=True)
        self._thread.start()

    def trouble(self, seconds: float) -> str:
        """Why the notice has not arrived within this number of seconds; "" if it has."""
        self._thread.join(max(seconds, 0.0))
        return self._trouble

    def _try(self, send: Send, notice: Notice) -> None:
        try:
            send(notice)
            self._trouble = ""
        except KoderzError as error:
            self._trouble = str(error).rstrip(".")
        except Exception as error:  # noqa: BLE001 (the edge of this thread; the text of an error may quote an address)
            self._trouble = f"a bug in koderz or in a library that it uses: {type(error).__name__}"


def _without_mentions(text: str) -> str:
    """The text without mentions: many services notify all members of a line that contains @all."""
    return text.replace("@", "@\N{ZERO WIDTH SPACE}")

"""A notice to an incoming webhook of Slack, or of what takes the same messages, as Mattermost and Rocket.Chat do.

https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks (21 Nov 2026): a POST of JSON with ``text``,
in which ``&``, ``<`` and ``>`` are written as in HTML; ``mrkdwn`` false shows it as it is.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from koderz_core.addresses import is_loopback
from koderz_core.errors import NoticeError
from koderz_core.notices.wording import Notice

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


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

"""Notices to Teams, Discord, e-mail, ntfy and all else that Apprise knows (an optional package)."""

from __future__ import annotations

import logging

from koderz_core.errors import NoticeError
from koderz_core.notices.wording import Notice

SCHEMES = "https://appriseit.com/services/"


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

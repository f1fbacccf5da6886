"""Keys of publishers: whether one is there, and what is sent where none is needed."""

from __future__ import annotations

from koderz_core.config import Settings
from koderz_core.errors import ModelError, OfflineError
from koderz_core.models.provider import Lack
from koderz_core.settings_fields import SecretStr

NO_KEY = "local-servers-ask-for-none"
"""Sent where no key is set: the official clients insist on one, and would else look for one themselves."""


def key_text(key: SecretStr | None, variable: str, publisher: str, *, needed: bool) -> str:
    """What is sent as the key. Raises ModelError if it is needed and missing, or cannot be one."""
    text = key.get_secret_value() if key else ""
    if not text and needed:
        raise ModelError(
            f"{variable} is not set, and {publisher} answers nobody without a key. Set it in the environment or .env, "
            "or use a local model: `koderz models list` shows what is ready."
        )
    if not text.isascii():
        raise ModelError(f"{variable} holds characters that no key has. Copy it anew.")
    return text or NO_KEY


def lack_of(key: SecretStr | None, variable: str, url: str, settings: Settings) -> Lack | None:
    """What all models of a publisher lack: the way there, or a key."""
    try:
        settings.check_egress(url, "an answer")
    except OfflineError:
        return Lack("KODERZ_OFFLINE is set", "Unset KODERZ_OFFLINE")
    return None if key else Lack(f"{variable} is not set", f"Set {variable} in the environment or .env")


def bearer(key: SecretStr | None) -> dict[str, str]:
    """The header that carries a key, none without one."""
    return {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}

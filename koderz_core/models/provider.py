"""The definition of a provider of models: its address, its list of models, how a model is opened, and its key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from koderz_core.config import Settings
from koderz_core.errors import ModelError, OfflineError
from koderz_core.models.connection import is_at
from koderz_core.protocols import Model
from koderz_core.records import Tier
from koderz_core.settings_fields import SecretStr

Programs = Callable[[], Mapping[str, str]]
"""Gives a right program for each problem's text as prompts show it; only scripted models ask."""
NO_KEY = "local-servers-ask-for-none"
"""Sent where no key is set: the official clients insist on one, and would else look for one themselves."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What koderz knows of a model without asking it. ``id`` is ``provider/name``."""

    id: str
    provider: str
    name: str
    tier: Tier


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a model can be asked now. ``id`` ends in ``/*`` where a whole provider is meant.

    ``reason`` says why or why not; ``cure`` what a person does about it, empty if it is ready.
    """

    id: str
    tier: Tier
    ready: bool
    reason: str
    cure: str


@dataclass(frozen=True, slots=True)
class Lack:
    """Why a model cannot be asked now, and what a person does about it."""

    reason: str
    cure: str


@dataclass(frozen=True, slots=True)
class ModelList:
    """The address where a server lists its models, and the headers that it wants to see."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Advice:
    """What a person does when a server does not answer as it should.

    ``start``: nothing answers; ``fetch``: the model is not there (MODEL stands for its name); ``key``: it wants one
    (MODEL as well); ``variable``: the setting of its address, with how that ends; ``context``: what may be too short;
    ``silence``: the setting of how long it may write nothing; ``place``: what is said instead of its address.
    """

    start: str = ""
    fetch: str = ""
    key: str = ""
    variable: str = ""
    context: str = "its context length"
    silence: str = "KODERZ_FIRST_TOKEN_TIMEOUT"
    place: str = ""


def _none(*_: object) -> None:
    """Nothing: no address, no list, no lack, nowhere else."""


@dataclass(frozen=True, slots=True)
class Provider:
    """One origin of models.

    ``address``: its base URL, None for models that work in this process or a child of it. ``lists``: where it says
    which models it has, None if ``names`` are offered instead; ``closed``: it has no others. ``lack``: what a model
    (by its name) lacks, ``ready`` why it lacks nothing. ``typed``: a pattern of names that people type without the
    provider. ``home``: the publisher's own host, where keys are needed and prices known; "" for what runs locally.
    ``away``: the address of the publisher's servers where a model (by its name) runs although it is asked locally.
    """

    create: Callable[[ModelCard, Settings, Programs], Model]
    address: Callable[[Settings], str | None] = _none
    lists: Callable[[Settings], ModelList | None] = _none
    lack: Callable[[str, Settings], Lack | None] = _none
    ready: str = ""
    names: tuple[str, ...] = ()
    closed: bool = False
    typed: str = r"(?!)"
    home: str = ""
    away: Callable[[str], str | None] = _none
    advice: Advice = Advice()

    def at_home(self, settings: Settings) -> bool:
        """Whether it is asked at the publisher's own address."""
        return is_at(self.address(settings), self.home)


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

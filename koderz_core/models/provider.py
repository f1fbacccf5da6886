"""The definition of a provider of models: its address, its key, its list of models, and how a model is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from koderz_core.config import Settings
from koderz_core.errors import ModelError
from koderz_core.models.capabilities import SERVED, Capabilities, Rows, row_of, with_stated
from koderz_core.models.connection import identity, is_at
from koderz_core.models.residency import Loadable
from koderz_core.protocols import Model
from koderz_core.records import Tier
from koderz_core.settings_fields import SecretStr

Programs = Callable[[], Mapping[str, str]]
"""Returns a correct program for each problem, by the problem's text in prompts. Only scripted models call it."""
NO_KEY = "local-servers-ask-for-none"
"""Sent if no key is set: the official clients require a key, and would otherwise look for one in the environment."""
MISTRAL = "api.mistral.ai"
SEEDLESS = (MISTRAL, "generativelanguage.googleapis.com")
"""Servers that refuse every request with the field ``seed``."""
AZURE = ("openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com")
"""Microsoft's servers. They know the publisher's own name of the token limit; newer models accept only this name."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What koderz knows of a model without asking it. ``id`` is ``provider/name``."""

    id: str
    provider: str
    name: str
    tier: Tier


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a model can answer now. An ``id`` that ends in ``/*`` means the whole provider.

    ``reason`` explains why or why not; ``cure`` is what the user can do about it, "" if the model is ready.
    ``unread``: the list of its server could not be read, but calls may work.
    """

    id: str
    tier: Tier
    ready: bool
    reason: str
    cure: str
    unread: bool = False


@dataclass(frozen=True, slots=True)
class Lack:
    """Why a model cannot answer now, and what the user can do about it."""

    reason: str
    cure: str


@dataclass(frozen=True, slots=True)
class ModelList:
    """The address at which a server lists its models, and the headers of that request."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Advice:
    """What the user can do when a server does not answer as expected.

    ``start``: if nothing answers; ``fetch``: if the model is missing; ``key``: if the server requires a key (in both,
    MODEL stands for the model's name); ``variable``: the setting of the address, and how its value ends;
    ``context``: what may be too small for the prompt; ``silence``: the setting that limits pauses in an answer;
    ``place``: the name of the server in messages, "" for its address.
    """

    start: str = ""
    fetch: str = ""
    key: str = ""
    variable: str = ""
    context: str = "the context length of the model"
    silence: str = "KODERZ_FIRST_TOKEN_TIMEOUT"
    place: str = ""


@dataclass(frozen=True, slots=True)
class Key:
    """The key that a publisher requires. ``variable``: the environment variable of the setting that holds it."""

    variable: str
    publisher: str

    def value(self, settings: Settings) -> SecretStr | None:
        """The key that the user has set, None if there is none."""
        key: SecretStr | None = getattr(settings, self.variable.lower())
        return key

    def text(self, key: SecretStr | None, *, needed: bool) -> str:
        """What is sent as the key. Raises ModelError if a key is needed and missing, or cannot be a key."""
        text = key.get_secret_value() if key else ""
        if not text and needed:
            raise ModelError(
                f"{self.variable} is not set, and {self.publisher} requires a key. Set it in the environment or .env, "
                "or use a local model: `koderz models list` shows which models are ready."
            )
        if not text.isascii():
            raise ModelError(f"{self.variable} contains characters that are not allowed in keys. Copy the key again.")
        return text or NO_KEY

    def lack(self, url: str, settings: Settings) -> Lack | None:
        """What all models of the publisher lack: permission to connect, or a key."""
        if not settings.allows_egress(url):
            return Lack("KODERZ_OFFLINE is set", "Unset KODERZ_OFFLINE")
        if self.value(settings):
            return None
        return Lack(f"{self.variable} is not set", f"Set {self.variable} in the environment or .env")


def bearer(key: SecretStr | None) -> dict[str, str]:
    """The header that carries a key, no header without one."""
    return {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}


def _none(*_: object) -> None:
    """The default of ``Provider``'s functions: no address, no list, no lack, no other place, no service tier."""


def _no_version(_name: str, _settings: Settings) -> str:
    """The default of ``Provider.version``."""
    return ""


@dataclass(frozen=True, slots=True)
class Provider:
    """One source of models, with all that koderz knows of it.

    ``address``: its base URL or several, separated by spaces; None if its models run in this process or a child
    process. The other functions receive settings with one address, those of ``places``. ``lists``: where it lists its
    models, None if koderz offers ``names`` instead; ``closed``: it has no models beyond ``names``. ``lack``: what a
    model (by its name) lacks; ``ready``: the reason shown if it lacks nothing. ``typed``: a pattern of the names that
    people type without the provider. ``home``: the publisher's own host, which requires the ``key`` and whose prices
    are known; "" for local models. ``away``: the publisher's address if a model (by its name) runs there although a
    local server is asked for it.

    ``rows``: what its models accept. ``context_set``: the setting num_ctx sets the length of their context.
    ``memory``: the memory of a model (by its name), if its server can unload it.
    ``one_by_one``: a model answers one call at a time. ``timeouts``: how many times the setting timeout an answer may
    take. ``priciest_tier``: the service tier with the highest price that it may use, None if there is only one.
    ``version``: what a model (by its name) is now, such as a hash of its weights; "" if the provider reports nothing,
    so that a model may change silently. It raises ModelError if the provider cannot say it now.
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
    key: Key | None = None
    away: Callable[[str], str | None] = _none
    advice: Advice = Advice()
    rows: Rows = SERVED
    context_set: bool = False
    memory: Callable[[str, Settings], Loadable | None] = _none
    one_by_one: bool = False
    timeouts: int = 1
    priciest_tier: Callable[[Settings], str | None] = _none
    version: Callable[[str, Settings], str] = _no_version

    def urls(self, settings: Settings) -> tuple[str, ...]:
        """Its base URLs, in the user's order; none if its models need no server."""
        return tuple((self.address(settings) or "").split())

    def places(self, settings: Settings) -> Mapping[str, Settings]:
        """The settings for each of its addresses, by the ``identity`` of the address; empty if it has no address."""
        whole, urls = self.address(settings) or "", self.urls(settings)
        return {identity(url): settings if url == whole else settings.at(whole, url) for url in urls}

    def version_at(self, name: str, places: Mapping[str, Settings]) -> str:
        """The version of a model at these addresses. Raises ModelError as ``version``, and if the versions differ."""
        versions = {address: self.version(name, settings) for address, settings in places.items()}
        if len(set(versions.values())) > 1:
            raise ModelError(
                f"The version of {name} differs between {' and '.join(versions)}. Load the same version at all "
                "addresses."
            )
        return next(iter(versions.values()), "")

    def at_home(self, settings: Settings) -> bool:
        """Whether its addresses are the publisher's own."""
        urls = self.urls(settings)
        return bool(urls) and all(is_at(url, self.home) for url in urls)

    def capabilities(self, card_id: str, settings: Settings) -> Capabilities:
        """What a model (by id) accepts: its row, the settings of its server, and above all `models.toml`.

        Raises ConfigError if that file is wrong.
        """
        name, away = card_id.partition("/")[2], self.home and not self.at_home(settings)
        row = row_of(self.rows, name.rpartition("/")[2] if away else name)  # routers prepend the publisher's name
        if self.context_set and not self.away(name):  # models in its publisher's cloud ignore the setting
            row = replace(row, context_tokens=settings.num_ctx)
        if away:  # most other servers do not know the publisher's own name of the limit
            seedless = any(is_at(url, host) for url in self.urls(settings) for host in SEEDLESS)
            own_name = all(any(is_at(url, host) for host in AZURE) for url in self.urls(settings))
            limit = row.max_tokens_parameter if own_name else "max_tokens"
            row = replace(row, max_tokens_parameter=limit, seed=row.seed and not seedless)
        return with_stated(row, card_id, settings)

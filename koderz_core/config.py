"""Settings: command line > environment > ``.env`` and ``settings.toml`` > default.

The only reader of the environment. A file may hold only known settings; ``.env`` may name no program.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, get_origin, get_type_hints
from urllib.parse import urlsplit, urlunsplit

import msgspec
from platformdirs import user_data_path

from koderz_core.addresses import address, is_loopback, ollama_address, secrets_of
from koderz_core.errors import ConfigError, DataError, OfflineError
from koderz_core.input_files import read_text
from koderz_core.redaction import Redaction, redaction_of
from koderz_core.settings_fields import SecretStr, Setting

CHECKOUT = Path(__file__).resolve().parent.parent
PROGRAMS = frozenset(
    {f"{prefix}{name}" for prefix in ("", "koderz_") for name in ("cortex_path", "cortex_command", "llama_server")}
)
"""Settings that say which program is started."""
Whole = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
PerMinute = Annotated[float, msgspec.Meta(gt=0)]


def default_home() -> Path:
    """``data/`` inside a checkout, elsewhere the platform's folder for user data."""
    inside_checkout = (CHECKOUT / "pyproject.toml").is_file() and (CHECKOUT / "data" / "README.md").is_file()
    return CHECKOUT / "data" if inside_checkout else user_data_path("koderz")


def _setting(
    default: Any,  # Any: a value, or what makes one
    description: str,
    *,
    prefixed: bool = True,
    names: tuple[str, ...] = (),
    check: Callable[[Any], Any] | None = None,
    **bounds: float,
) -> Any:  # Any: what a dataclass makes a field of
    """One line of ``Settings``; what it takes is told at ``Setting``."""
    about = {"default": default, "description": description, "prefixed": prefixed, "names": names, "check": check}
    return field(default=None, metadata={**about, **bounds})


def _key(key: SecretStr) -> SecretStr | None:
    text = key.get_secret_value().strip()
    if not re.fullmatch("[!-~]*", text):
        raise ValueError("a key has only ASCII characters that can be seen: was something else pasted?")
    return SecretStr(text) if text else None


def _address(text: str) -> str:
    return urlunsplit(address(text))


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of one provider. None: only the provider itself says when it is too much.

    ``concurrency``: calls at the same time; the others: calls, and tokens both ways, in any minute. Tokens count with
    what a call may take at most as long as it is under way, and with what it took afterwards.
    """

    concurrency: Whole = 64
    requests_per_minute: PerMinute | None = None
    tokens_per_minute: PerMinute | None = None


@dataclass(frozen=True, init=False)
class Settings:
    """Everything a user may set. Secrets never leave this record.

    In the environment and ``.env`` a field is ``KODERZ_<FIELD>``, those named after a provider go without the prefix;
    in ``settings.toml``, which stands in the data folder, it has its own name.
    """

    home: Path = _setting(default_home, "folder of journals, index, weights and settings.toml")
    offline: bool = _setting(False, "refuse every address beyond this machine")
    models_dir: Path | None = _setting(None, "folder of GGUF files; else models in home")
    datasets_dir: Path | None = _setting(None, "folder of published datasets; else datasets in home")
    humaneval_path: Path | None = _setting(None, "a HumanEval file of your own (.jsonl or .jsonl.gz)")

    openai_api_key: SecretStr | None = _setting(None, "key of OpenAI", prefixed=False, check=_key)
    openai_base_url: str = _setting(
        "https://api.openai.com/v1", "any server of OpenAI's protocol", prefixed=False, check=_address
    )
    openai_org_id: str | None = _setting(None, "sent with OpenAI's key", prefixed=False)
    openai_project_id: str | None = _setting(None, "as openai_org_id", prefixed=False)
    anthropic_api_key: SecretStr | None = _setting(None, "key of Anthropic", prefixed=False, check=_key)
    anthropic_base_url: str = _setting(
        "https://api.anthropic.com", "Anthropic, without /v1", prefixed=False, check=_address
    )
    ollama_api_key: SecretStr | None = _setting(
        None, "only for an Ollama server elsewhere that wants one", prefixed=False, check=_key
    )
    ollama_base_url: str = _setting(
        "http://127.0.0.1:11434",
        "where Ollama answers, as OLLAMA_HOST says it too",
        prefixed=False,
        names=("ollama_base_url", "ollama_host"),
        check=ollama_address,
    )
    lmstudio_base_url: str = _setting(
        "http://127.0.0.1:1234/v1", "where LM Studio answers", prefixed=False, check=_address
    )
    vllm_base_url: str = _setting(
        "http://127.0.0.1:8000/v1", "where vLLM or llama-server answers", prefixed=False, check=_address
    )

    openai_service_tier: Literal["auto", "default", "flex", "priority"] = _setting(
        "default", "how OpenAI processes requests; flex costs less", prefixed=False
    )

    slack_webhook_url: SecretStr | None = _setting(
        None, "where to tell that a benchmark or a command has ended", prefixed=False, check=_key
    )
    notices: SecretStr | None = _setting(None, "more such places: addresses as Apprise has them, with spaces")

    memory: Literal["on", "all", "off"] = _setting(
        "on", "whether cortex remembers what experiments leave behind; all: also of scripted models"
    )
    cortex_path: Path | None = _setting(None, "claude-cortex-core's index.js", prefixed=False)
    cortex_db: Path | None = _setting(None, "the file of all memories", prefixed=False)
    cortex_command: str = _setting("", "any other memory server: its command line, which speaks MCP")

    tiers: dict[str, Literal["local", "small_frontier", "frontier"]] = _setting(
        dict, "tier by model id or provider, where koderz cannot know it"
    )

    allowed_models: str = _setting("", "models that may be asked, with spaces between; empty: all")
    timeout: float = _setting(300.0, "seconds one request takes; embedded, until a next word", above=0, most=86_400)
    connect_timeout: float = _setting(10.0, "seconds that reaching a server may take", above=0, most=600)
    first_token_timeout: float = _setting(
        180.0, "seconds a streamed answer may be silent, above all before its first token", above=0, most=86_400
    )
    retries: int = _setting(7, "attempts after the first, of a call that failed in passing", least=0, most=100)
    patience: float = _setting(
        300.0, "seconds calls wait for a provider that keeps failing, before they fail", least=0, most=604_800
    )
    limits: dict[str, Limits] = _setting(dict, "calls at the same time, requests and tokens per minute, by provider")
    sandbox: Literal["auto", "hardened", "strong", "limited"] = _setting(
        "auto", "tier that programs are judged in; auto: the best that holds here, never limited"
    )
    test_timeout: float = _setting(
        10.0,
        "seconds one program may take on its tests; unless it is set, 4 times what the canonical solution "
        "takes, at least 4, where there is one",
        above=0,
        most=3600,
    )
    num_ctx: int = _setting(8192, "context of an embedded or Ollama model, in tokens", least=512, most=100_000_000)
    llama_server: Path | None = _setting(None, "a llama-server that embedded models run in, for GPUs say")
    reproducible: bool = _setting(
        False, "embedded models repeat a text for the same seed, but read every prompt from its beginning"
    )
    local_watts: float = _setting(65.0, "power this machine draws while a local model works", least=0, most=1e6)
    measure_gpu: bool = _setting(
        True, "measure NVIDIA GPUs if nvidia-ml-py is there; local_watts is then the rest of the machine"
    )
    usd_per_kwh: float = _setting(0.15, "price of electricity", least=0, most=1e6)
    confirm_usd: float = _setting(
        1.0, "dollars; what may cost more in one case of ten, Launch asks about first", least=0, most=1e6
    )
    confirm_hours: float = _setting(1.0, "hours; what may take longer, it asks about too", least=0, most=1e6)
    local_usd_per_hour: float = _setting(0.0, "amortisation of this machine", least=0, most=1e6)
    stated: frozenset[str] = field(default=frozenset(), repr=False, compare=False)
    """The settings that some source gives, even if it gives the default."""

    def __init__(self, **given: Any) -> None:  # Any: one value per field, checked
        """``given``: as on the command line. Raises ConfigError, DataError."""
        in_env_file = env_file()
        refuse_programs(in_env_file)
        above = (given, said_by(environment()), said_by(in_env_file))
        home = next((Path(one["home"]) for one in above if "home" in one), default_home())
        merged: dict[str, Any] = by_field(settings_file(home.expanduser()))
        for source in reversed(above):
            merged = _merged(merged, source)
        self._set({name: setting.usual() for name, setting in SETTINGS.items()} | _checked(merged))
        self._set({"stated": frozenset(merged)})

    def changed(self, **values: Any) -> Settings:  # Any: one value per field, taken as it is
        """The same with other values."""
        other = copy(self)
        other._set(values)
        return other

    def _set(self, values: Mapping[str, Any]) -> None:  # Any: as above
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def bwrap(self) -> str | None:
        """Where bubblewrap is, None if it is not installed."""
        return shutil.which("bwrap")

    @property
    def journals_dir(self) -> Path:
        return self.home / "journals"

    @property
    def store_path(self) -> Path:
        return self.home / "koderz.duckdb"

    @property
    def weights_dir(self) -> Path:
        return self.models_dir or self.home / "models"

    @property
    def published_dir(self) -> Path:
        """Where the files of published datasets are."""
        return self.datasets_dir or self.home / "datasets"

    @property
    def cache_dir(self) -> Path:
        """What koderz can compute anew."""
        return self.home / "cache"

    def secrets(self) -> tuple[str, ...]:
        """The values of all keys that are set, and what is secret in addresses: what must never be written anywhere."""
        keys = (self.openai_api_key, self.anthropic_api_key, self.ollama_api_key, self.slack_webhook_url)
        whole = (*(key.get_secret_value() for key in keys if key), *self.notice_addresses())
        servers = (getattr(self, name) for name in SETTINGS if name.endswith("_base_url"))
        return tuple(dict.fromkeys((*whole, *(part for url in (*servers, *whole) for part in secrets_of(url)))))

    def redaction(self) -> Redaction:
        """Masks ``secrets``, and what looks like a key for certain, in any text."""
        return redaction_of(self.secrets())

    def notice_addresses(self) -> tuple[str, ...]:
        return tuple(self.notices.get_secret_value().split()) if self.notices else ()

    def check_egress(self, url: str, purpose: str) -> None:
        """The one gate for every outbound address; raises OfflineError beyond loopback when ``offline`` is set."""
        if self.offline and not is_loopback(url):
            host = urlsplit(url).hostname or url
            raise OfflineError(f"KODERZ_OFFLINE is set, so {host} was not asked for {purpose}. Unset it to allow that.")


def _settings() -> dict[str, Setting]:
    kinds = get_type_hints(Settings)
    about = {one.name: dict(one.metadata) for one in fields(Settings) if one.metadata}
    return {
        name: Setting(**{"name": name, "annotation": kinds[name], **said, "names": said["names"] or (name,)})
        for name, said in about.items()
    }


SETTINGS: Mapping[str, Setting] = _settings()
"""Every field of ``Settings`` by its name, except ``stated``."""


def load_settings(**overrides: Any) -> Settings:  # Any: one value per field
    """Settings with the command line's ``overrides`` on top; None means not given. Raises ConfigError."""
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        return Settings(**given)
    except DataError as error:
        raise ConfigError(str(error)) from error  # settings stand for options of a command line
    except UnicodeDecodeError as error:
        raise ConfigError("settings.toml or .env is not UTF-8 text. Save it as UTF-8, or remove it.") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"settings.toml is not valid TOML: {error}. Mend that line or remove the file.") from error


def _checked(said: Mapping[str, Any]) -> dict[str, Any]:  # Any: one value per field
    """The values as they are kept. Raises ConfigError for all that cannot be, and never quotes one."""
    found, faults = {}, []
    for name, value in said.items():
        try:
            found[name] = SETTINGS[name].taken(value)
        except ValueError as error:
            faults.append(f"{name}: {error}")
    if faults:
        raise ConfigError(
            f"Settings are wrong: {'; '.join(faults)}. Correct them on the command line, in the environment, .env or "
            "settings.toml."
        )
    return found


def environment() -> dict[str, str]:
    """The variables of the process that are not empty; names in lower case."""
    return {name.lower(): value for name, value in os.environ.items() if value}


def env_file() -> dict[str, str]:
    """What ``.env`` in the current folder sets, as ``environment`` has it."""
    path = Path(".env")
    if not (path.is_file() or path.is_fifo()):
        return {}
    from dotenv import dotenv_values  # noqa: PLC0415 (most folders have no such file)

    return {name.lower(): value for name, value in dotenv_values(path, encoding="utf-8-sig").items() if value}


def settings_file(home: Path) -> dict[str, Any]:
    """What ``settings.toml`` of a data folder holds, by the names that stand there.

    Raises ConfigError for a key that no setting has, DataError, TOMLDecodeError.
    """
    path = home / "settings.toml"
    found = tomllib.loads(read_text(path, "Mend or remove it.")) if path.is_file() else {}
    refuse_unknown(found, {name for setting in SETTINGS.values() for name in setting.names}, path)
    return found


def said_by(variables: Mapping[str, str]) -> dict[str, Any]:
    """Field -> what variables of an environment say of it. Raises ConfigError."""
    own = {f"koderz_{name}": name for name, setting in SETTINGS.items() if setting.prefixed}
    named = {own.get(name, name): value for name, value in variables.items() if name not in own.values()}
    return {name: _decoded(SETTINGS[name], value) for name, value in by_field(named).items()}


def by_field(said: Mapping[str, Any]) -> dict[str, Any]:
    """The same under the names of fields; what is no setting is left out."""
    found = {name: [said[name] for name in setting.names if name in said] for name, setting in SETTINGS.items()}
    return {name: values[0] for name, values in found.items() if values}


def _decoded(setting: Setting, value: str) -> object:
    """A table stands as JSON where there is only text."""
    if get_origin(setting.annotation) is not dict:
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise ConfigError(
            f'{setting.variable} is not JSON. Write it as {{"openai": ...}}, or as a table in settings.toml, '
            "[limits.openai] or [tiers]."
        ) from error


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Both, where ``above`` counts first; tables that both have are merged alike."""
    tables = {
        name: _merged(below[name], value)
        for name, value in above.items()
        if isinstance(value, dict) and isinstance(below.get(name), dict)
    }
    return {**below, **above, **tables}


def refuse_unknown(keys: Iterable[str], known: set[str], path: Path) -> None:
    """Raise ConfigError for what would be ignored without a word: a folder of that name, or a key that nobody knows.

    Written as in the environment, a key is near to the one that is meant.
    """
    if path.is_dir():
        raise ConfigError(f"{path} is a folder, so no settings can be read from it. Remove it.")
    faults = [f"{key!r}{_meant(key.lower().removeprefix('koderz_'), known)}" for key in keys if key not in known]
    if faults:
        raise ConfigError(f"{path} sets what koderz does not know: {'; '.join(faults)}. Correct or remove it there.")


def refuse_programs(keys: Iterable[str]) -> None:
    """Raise ConfigError for a ``.env`` that names a program: it lies in whatever folder koderz is started in."""
    for key in sorted(PROGRAMS.intersection(map(str.lower, keys))):
        raise ConfigError(
            f".env sets {key.upper()}, which would let any folder choose a program to be started. Set it in the "
            "environment or in settings.toml, and remove it from .env."
        )


def _meant(key: str, known: set[str]) -> str:
    near = get_close_matches(key, sorted(known), n=3)
    return f" (did you mean {', '.join(near)}?)" if near else f" (known: {', '.join(sorted(known))})"

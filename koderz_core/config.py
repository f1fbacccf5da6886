"""Settings: command line > environment > ``.env`` and ``settings.toml`` > default.

The only reader of the environment.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_origin
from urllib.parse import urlsplit, urlunsplit

from platformdirs import user_data_path
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from koderz_core.addresses import address, is_loopback, ollama_address, secrets_of
from koderz_core.errors import ConfigError, DataError, OfflineError
from koderz_core.limits import Limits
from koderz_core.reading import read_text
from koderz_core.redaction import Redaction, redaction_of
from koderz_core.settings_files import refuse_programs, refuse_unknown

CHECKOUT = Path(__file__).resolve().parent.parent


def default_home() -> Path:
    """``data/`` inside a checkout, elsewhere the platform's folder for user data."""
    inside_checkout = (CHECKOUT / "pyproject.toml").is_file() and (CHECKOUT / "data" / "README.md").is_file()
    return CHECKOUT / "data" if inside_checkout else user_data_path("koderz")


class Settings(BaseModel):
    """Everything a user may set. Secrets never leave this record.

    In the environment and ``.env`` a field is ``KODERZ_<FIELD>``, those named after a provider go without the prefix;
    in ``settings.toml``, which stands in the data folder, it has its own name.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    home: Path = Field(default_factory=default_home, description="folder of journals, index, weights and settings.toml")
    offline: bool = Field(False, description="refuse every address beyond this machine")
    models_dir: Path | None = Field(None, description="folder of GGUF files; else models in home")
    datasets_dir: Path | None = Field(None, description="folder of published datasets; else datasets in home")
    humaneval_path: Path | None = Field(None, description="a HumanEval file of your own (.jsonl or .jsonl.gz)")

    openai_api_key: SecretStr | None = Field(None, validation_alias="openai_api_key", description="key of OpenAI")
    openai_base_url: str = Field(
        "https://api.openai.com/v1", validation_alias="openai_base_url", description="any server of OpenAI's protocol"
    )
    openai_org_id: str | None = Field(None, validation_alias="openai_org_id", description="sent with OpenAI's key")
    openai_project_id: str | None = Field(None, validation_alias="openai_project_id", description="as openai_org_id")
    anthropic_api_key: SecretStr | None = Field(
        None, validation_alias="anthropic_api_key", description="key of Anthropic"
    )
    anthropic_base_url: str = Field(
        "https://api.anthropic.com", validation_alias="anthropic_base_url", description="Anthropic, without /v1"
    )
    ollama_api_key: SecretStr | None = Field(
        None, validation_alias="ollama_api_key", description="only for an Ollama server elsewhere that wants one"
    )
    ollama_base_url: str = Field(
        "http://127.0.0.1:11434",
        validation_alias=AliasChoices("ollama_base_url", "ollama_host"),
        description="where Ollama answers, as OLLAMA_HOST says it too",
    )
    lmstudio_base_url: str = Field(
        "http://127.0.0.1:1234/v1", validation_alias="lmstudio_base_url", description="where LM Studio answers"
    )
    vllm_base_url: str = Field(
        "http://127.0.0.1:8000/v1", validation_alias="vllm_base_url", description="where vLLM or llama-server answers"
    )

    openai_service_tier: Literal["auto", "default", "flex", "priority"] = Field(
        "default", validation_alias="openai_service_tier", description="how OpenAI processes requests; flex costs less"
    )

    slack_webhook_url: SecretStr | None = Field(
        None, validation_alias="slack_webhook_url", description="where to tell that a benchmark or a command has ended"
    )
    notices: SecretStr | None = Field(None, description="more such places: addresses as Apprise has them, with spaces")

    memory: Literal["on", "all", "off"] = Field(
        "on", description="whether cortex remembers what experiments leave behind; all: also of scripted models"
    )
    cortex_path: Path | None = Field(None, validation_alias="cortex_path", description="claude-cortex-core's index.js")
    cortex_db: Path | None = Field(None, validation_alias="cortex_db", description="the file of all memories")
    cortex_command: str = Field("", description="any other memory server: its command line, which speaks MCP")

    tiers: dict[str, Literal["local", "small_frontier", "frontier"]] = Field(
        default_factory=dict, description="tier by model id or provider, where koderz cannot know it"
    )

    allowed_models: str = Field("", description="models that may be asked, with spaces between; empty: all")
    timeout: float = Field(300.0, gt=0, le=86_400, description="seconds one request takes; embedded, until a next word")
    connect_timeout: float = Field(10.0, gt=0, le=600, description="seconds that reaching a server may take")
    first_token_timeout: float = Field(
        180.0, gt=0, le=86_400, description="seconds a streamed answer may be silent, above all before its first token"
    )
    retries: int = Field(7, ge=0, le=100, description="attempts after the first, of a call that failed in passing")
    patience: float = Field(
        300.0, ge=0, le=604_800, description="seconds calls wait for a provider that keeps failing, before they fail"
    )
    limits: dict[str, Limits] = Field(
        default_factory=dict, description="calls at the same time, requests and tokens per minute, by provider"
    )
    sandbox: Literal["auto", "hardened", "strong", "limited"] = Field(
        "auto", description="tier that programs are judged in; auto: the best that holds here, never limited"
    )
    test_timeout: float = Field(
        10.0,
        gt=0,
        le=3600,
        description="seconds one program may take on its tests; unless it is set, 4 times what the canonical solution "
        "takes, at least 4, where there is one",
    )
    num_ctx: int = Field(8192, ge=512, le=100_000_000, description="context of an embedded or Ollama model, in tokens")
    llama_server: Path | None = Field(None, description="a llama-server that embedded models run in, for GPUs say")
    reproducible: bool = Field(
        False, description="embedded models repeat a text for the same seed, but read every prompt from its beginning"
    )
    local_watts: float = Field(
        65.0, ge=0, allow_inf_nan=False, description="power this machine draws while a local model works"
    )
    measure_gpu: bool = Field(
        True, description="measure NVIDIA GPUs if nvidia-ml-py is there; local_watts is then the rest of the machine"
    )
    usd_per_kwh: float = Field(0.15, ge=0, le=1e6, description="price of electricity")
    confirm_usd: float = Field(
        1.0, ge=0, le=1e6, description="dollars; what may cost more in one case of ten, Launch asks about first"
    )
    confirm_hours: float = Field(1.0, ge=0, le=1e6, description="hours; what may take longer, it asks about too")
    local_usd_per_hour: float = Field(0.0, ge=0, le=1e6, description="amortisation of this machine")

    @field_validator("home", "models_dir", "datasets_dir", "humaneval_path", "cortex_path", "cortex_db", "llama_server")
    @classmethod
    def _in_full(cls, value: Path | None) -> Path | None:
        return value and value.expanduser()

    @field_validator("openai_api_key", "anthropic_api_key", "ollama_api_key", "slack_webhook_url")
    @classmethod
    def _a_key(cls, value: SecretStr | None) -> SecretStr | None:
        key = value.get_secret_value().strip() if value else ""
        if not re.fullmatch("[!-~]*", key):
            raise ValueError("a key has only ASCII characters that can be seen: was something else pasted?")
        return SecretStr(key) if key else None

    @field_validator("openai_base_url", "anthropic_base_url", "lmstudio_base_url", "vllm_base_url")
    @classmethod
    def _an_address(cls, value: str) -> str:
        return urlunsplit(address(value))

    @field_validator("ollama_base_url")
    @classmethod
    def _ollama_address(cls, value: str) -> str:
        return ollama_address(value)

    def __init__(self, **given: Any) -> None:  # Any: one value per field, validated
        """``given``: as on the command line. Raises ValidationError, ConfigError, DataError."""
        in_env_file = env_file()
        refuse_programs(in_env_file)
        above = (given, said_by(environment()), said_by(in_env_file))
        home = next((Path(one["home"]) for one in above if "home" in one), default_home())
        merged: dict[str, Any] = by_field(settings_file(home.expanduser()))
        for source in reversed(above):
            merged = _merged(merged, source)
        super().__init__(**merged)

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
        servers = (getattr(self, name) for name in type(self).model_fields if name.endswith("_base_url"))
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


def load_settings(**overrides: Any) -> Settings:  # Any: one value per field, validated by pydantic
    """Settings with the command line's ``overrides`` on top; None means not given. Raises ConfigError."""
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        raise ConfigError(_explain(error)) from None  # its text may hold a secret's value
    except DataError as error:
        raise ConfigError(str(error)) from error  # settings stand for options of a command line
    except UnicodeDecodeError as error:
        raise ConfigError("settings.toml or .env is not UTF-8 text. Save it as UTF-8, or remove it.") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"settings.toml is not valid TOML: {error}. Mend that line or remove the file.") from error


def _explain(error: ValidationError) -> str:
    told = ((".".join(map(str, fault["loc"])), fault["msg"].removeprefix("Value error, ")) for fault in error.errors())
    faults = "; ".join(f"{name}: {message}" for name, message in told)
    return f"Settings are wrong: {faults}. Correct them on the command line, in the environment, .env or settings.toml."


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
    refuse_unknown(found, {name for field in Settings.model_fields for name in names_of(field)}, path)
    return found


def names_of(field: str) -> tuple[str, ...]:
    """What a setting may be called in settings.toml; the first one counts where there are several."""
    alias = Settings.model_fields[field].validation_alias
    return tuple(map(str, alias.choices)) if isinstance(alias, AliasChoices) else (field,)


def said_by(variables: Mapping[str, str]) -> dict[str, Any]:
    """Field -> what variables of an environment say of it. Raises ConfigError."""
    own = {f"koderz_{field}": field for field, about in Settings.model_fields.items() if not about.validation_alias}
    named = {own.get(name, name): value for name, value in variables.items() if name not in own.values()}
    return {field: _decoded(field, value) for field, value in by_field(named).items()}


def by_field(said: Mapping[str, Any]) -> dict[str, Any]:
    """The same under the names of fields; what is no setting is left out."""
    found = {field: [said[name] for name in names_of(field) if name in said] for field in Settings.model_fields}
    return {field: values[0] for field, values in found.items() if values}


def _decoded(field: str, value: str) -> object:
    """A table stands as JSON where there is only text."""
    if get_origin(Settings.model_fields[field].annotation) is not dict:
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise ConfigError(
            f'KODERZ_{field.upper()} is not JSON. Write it as {{"openai": ...}}, or as a table in settings.toml, '
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

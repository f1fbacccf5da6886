"""Settings: command line > environment > ``.env`` and ``settings.toml`` > default.

The only reader of the environment.
"""

from __future__ import annotations

import ipaddress
import shutil
import tomllib
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from koderz_core.errors import ConfigError, OfflineError

CHECKOUT = Path(__file__).resolve().parent.parent


def default_home() -> Path:
    """``data/`` inside a checkout, elsewhere the platform's folder for user data."""
    inside_checkout = (CHECKOUT / "pyproject.toml").is_file() and (CHECKOUT / "data" / "README.md").is_file()
    return CHECKOUT / "data" if inside_checkout else user_data_path("koderz")


class Settings(BaseSettings):
    """Everything a user may set. Secrets never leave this record.

    In the environment and ``.env`` a field is ``KODERZ_<FIELD>``, those named after a provider go without the prefix;
    in ``settings.toml``, which stands in the data folder, it has its own name.
    """

    model_config = SettingsConfigDict(
        env_prefix="KODERZ_",
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
    )

    home: Path = Field(default_factory=default_home)
    offline: bool = False
    models_dir: Path | None = None
    datasets_dir: Path | None = None
    humaneval_path: Path | None = None

    openai_api_key: SecretStr | None = Field(None, validation_alias="openai_api_key")
    openai_base_url: str = Field("https://api.openai.com/v1", validation_alias="openai_base_url")
    anthropic_api_key: SecretStr | None = Field(None, validation_alias="anthropic_api_key")
    anthropic_base_url: str = Field("https://api.anthropic.com", validation_alias="anthropic_base_url")
    ollama_api_key: SecretStr | None = Field(None, validation_alias="ollama_api_key")
    ollama_base_url: str = Field(
        "http://127.0.0.1:11434", validation_alias=AliasChoices("ollama_base_url", "ollama_host")
    )
    lmstudio_base_url: str = Field("http://127.0.0.1:1234/v1", validation_alias="lmstudio_base_url")
    vllm_base_url: str = Field("http://127.0.0.1:8000/v1", validation_alias="vllm_base_url")

    tiers: dict[str, Literal["local", "small_frontier", "frontier"]] = Field(
        default_factory=dict, description="tier by model id or provider, where koderz cannot know it"
    )

    timeout: float = Field(300.0, gt=0, le=86_400, description="seconds one request to a model may take")
    sandbox: Literal["auto", "hardened", "strong", "limited"] = Field(
        "auto", description="tier that programs are judged in; auto: the best that holds here, never limited"
    )
    test_timeout: float = Field(10.0, gt=0, le=3600, description="seconds one program may take on its tests")
    num_ctx: int = Field(8192, ge=512, description="context of an embedded or Ollama model, in tokens")
    local_watts: float = Field(
        65.0, ge=0, allow_inf_nan=False, description="power this machine draws while a local model works"
    )
    usd_per_kwh: float = Field(0.15, ge=0, le=1e6, description="price of electricity")
    local_usd_per_hour: float = Field(0.0, ge=0, le=1e6, description="amortisation of this machine")

    @field_validator("home", "models_dir", "datasets_dir", "humaneval_path")
    @classmethod
    def _in_full(cls, value: Path | None) -> Path | None:
        return value and value.expanduser()

    @field_validator("openai_api_key", "anthropic_api_key", "ollama_api_key")
    @classmethod
    def _a_key(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not value.get_secret_value().isascii():
            raise ValueError("a key has only ASCII characters: was something else pasted?")
        return value if value and value.get_secret_value().strip() else None

    @field_validator("ollama_base_url")
    @classmethod
    def _ollama_address(cls, value: str) -> str:
        """``OLLAMA_HOST`` may lack scheme and port, and may be the wildcard that the server listens on."""
        parts = urlsplit(value if "://" in value else f"http://{value}")
        host = "127.0.0.1" if parts.hostname in (None, "0.0.0.0", "::") else parts.hostname  # noqa: S104 (replaced)
        port = parts.port or (443 if parts.scheme == "https" else 11434)
        return f"{parts.scheme}://{f'[{host}]' if ':' in str(host) else host}:{port}"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 (the signature is pydantic-settings')
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        above = (init_settings, env_settings, dotenv_settings)
        home = next((source()["home"] for source in above if "home" in source()), default_home())
        return *above, TomlConfigSettingsSource(settings_cls, Path(home) / "settings.toml")

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
        """The values of all keys that are set: what must never be written anywhere."""
        keys = (self.openai_api_key, self.anthropic_api_key, self.ollama_api_key)
        return tuple(key.get_secret_value() for key in keys if key)

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
    except SettingsError:
        raise ConfigError(
            'KODERZ_TIERS is not JSON. Write it as {"openai": "local"}, or as a table [tiers] in settings.toml.'
        ) from None
    except UnicodeDecodeError as error:
        raise ConfigError("settings.toml or .env is not UTF-8 text. Save it as UTF-8, or remove it.") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"settings.toml is not valid TOML: {error}. Mend that line or remove the file.") from error


def _explain(error: ValidationError) -> str:
    faults = "; ".join(f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}" for fault in error.errors())
    return f"Settings are wrong: {faults}. Correct them on the command line, in the environment, .env or settings.toml."


def is_loopback(url: str) -> bool:
    """Whether an address with scheme stays on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")

"""Settings: command line > environment > ``.env`` and ``settings.toml`` > default.

Only this file reads settings from the environment. ``settings.toml`` may contain only known settings. ``.env`` may not
name a program, or contain an unknown variable that begins with ``KODERZ_``.
"""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_type_hints
from urllib.parse import urlsplit

from platformdirs import user_data_path

from koderz_core import egress
from koderz_core.addresses import endpoint, is_loopback, listen_address, normalised, ollama_address, secrets_of, several
from koderz_core.errors import ConfigError, DataError, OfflineError
from koderz_core.input_files import expand_home, read_text
from koderz_core.otlp import receiver_address
from koderz_core.redaction import Redaction, redaction_of
from koderz_core.settings_fields import (
    Limits,
    SecretStr,
    Setting,
    check_env_file,
    checked_headers,
    checked_token,
    decoded,
    key_of,
    merged_tables,
    refuse_unknown,
    words_of,
)

CHECKOUT = Path(__file__).resolve().parent.parent


def default_home() -> Path:
    """``data/`` inside a checkout, otherwise the platform's folder for user data."""
    inside_checkout = (CHECKOUT / "pyproject.toml").is_file() and (CHECKOUT / "data" / "README.md").is_file()
    return CHECKOUT / "data" if inside_checkout else user_data_path("koderz")


def _setting(
    default: Any,  # Any: a value, or a function that returns it
    description: str,
    *,
    prefixed: bool = True,
    names: tuple[str, ...] = (),
    check: Callable[[Any], Any] | None = None,
    listed: bool = False,
    **bounds: float,
) -> Any:  # Any: as ``dataclasses.field``
    """One field of ``Settings``, with the arguments of ``Setting``."""
    about = {"default": default, "description": description, "prefixed": prefixed, "names": names, "check": check}
    return field(default=None, metadata={**about, "listed": listed, **bounds})


def _addresses(default: str, description: str, one: Any = normalised, **about: Any) -> Any:  # Any: as above
    """The setting of the address of a model server, or of several; ``one``: the check of each."""
    description += " You can list several addresses."
    return _setting(default, description, prefixed=False, check=several(one), listed=True, **about)


@dataclass(frozen=True, init=False)
class Settings:
    """Everything that the user can set. Secrets never leave this record.

    In the environment and ``.env`` a field is ``KODERZ_<FIELD>``, or ``<FIELD>`` if it is named after another product.
    In ``settings.toml`` in the data folder it has its own name.
    """

    home: Path = _setting(default_home, "The data folder: journals, index, model weights and settings.toml.")
    offline: bool = _setting(False, "Refuse connections to addresses outside this machine.")
    models_dir: Path | None = _setting(None, "The folder of GGUF files. If not set: `models` in the data folder.")
    datasets_dir: Path | None = _setting(None, "The folder of datasets. If not set: `datasets` in the data folder.")
    humaneval_path: Path | None = _setting(None, "Your own HumanEval file (.jsonl, .jsonl.gz).")

    openai_api_key: SecretStr | None = _setting(None, "Your OpenAI key.", prefixed=False, check=key_of)
    openai_base_url: str = _addresses("https://api.openai.com/v1", "The address of OpenAI or of a compatible server.")
    openai_org_id: str | None = _setting(None, "The OpenAI organization that is sent with your key.", prefixed=False)
    openai_project_id: str | None = _setting(None, "The OpenAI project that is sent with your key.", prefixed=False)
    anthropic_api_key: SecretStr | None = _setting(None, "Your Anthropic key.", prefixed=False, check=key_of)
    anthropic_base_url: str = _addresses(
        "https://api.anthropic.com", "The address of Anthropic or of a server with the same API, without /v1."
    )
    ollama_api_key: SecretStr | None = _setting(
        None, "The key of an Ollama server on another machine, if it requires one.", prefixed=False, check=key_of
    )
    ollama_base_url: str = _addresses(
        "http://127.0.0.1:11434",
        "The address of Ollama. The variable OLLAMA_HOST also sets this address.",
        ollama_address,
        names=("ollama_base_url", "ollama_host"),
    )
    lmstudio_base_url: str = _addresses("http://127.0.0.1:1234/v1", "The address of LM Studio.")
    vllm_base_url: str = _addresses("http://127.0.0.1:8000/v1", "The address of vLLM or llama-server.")

    openai_service_tier: Literal["auto", "default", "flex", "priority"] = _setting(
        "default", "The service tier of requests to OpenAI. flex is cheaper and slower.", prefixed=False
    )

    stackexchange_base_url: str = _setting(
        "https://api.stackexchange.com/2.3", "The address of Stack Exchange's API.", check=normalised
    )
    stackexchange_key: SecretStr | None = _setting(None, "A Stack Exchange key, for more daily searches.", check=key_of)
    github_base_url: str = _setting("https://api.github.com", "The address of GitHub's API.", check=normalised)
    github_token: SecretStr | None = _setting(None, "Your GitHub token, for the parameter search=github.", check=key_of)

    slack_webhook_url: SecretStr | None = _setting(
        None,
        "The Slack webhook that receives a message when a benchmark or a command ends.",
        prefixed=False,
        check=key_of,
    )
    notices: SecretStr | None = _setting(None, "Apprise URLs, separated by spaces, to notify in addition to Slack.")

    memory: Literal["on", "all", "off"] = _setting(
        "on", "Store memories of experiments. 'all' includes experiments with scripted models (mock mode)."
    )
    cortex_path: Path | None = _setting(None, "The index.js of claude-cortex-core.", prefixed=False)
    cortex_db: Path | None = _setting(None, "The file in which the memory server stores all memories.", prefixed=False)
    cortex_command: str = _setting("", "The command that starts a memory server (MCP) other than koderz' own.")

    serve_token: SecretStr | None = _setting(
        None,
        "The token that every request to `koderz serve` must send. Without a token, the server starts no benchmarks, "
        "and only this machine can reach the server.",
        check=checked_token,
    )
    metrics_address: str = _setting(
        "", "The address at which Prometheus reads metrics: HOST:PORT, or PORT for loopback.", check=listen_address
    )
    metrics_otlp: str = _setting("", "The URL that receives metrics (OpenTelemetry OTLP/HTTP).", check=receiver_address)
    metrics_otlp_headers: SecretStr | None = _setting(
        None, "HTTP headers for metrics_otlp: NAME=VALUE,...", check=checked_headers
    )

    tiers: dict[str, Literal["local", "small_frontier", "frontier"]] = _setting(
        dict, "Model tiers (local, small_frontier, frontier) by model id or provider. They override koderz' own tiers."
    )

    allowed_models: str = _setting("", "The allowed models, separated by spaces. If not set: all models.")
    timeout: float = _setting(
        300.0,
        "The timeout of a request in seconds. For embedded models: the longest pause allowed in an answer.",
        above=0,
        most=86_400,
    )
    connect_timeout: float = _setting(10.0, "The time limit in seconds for opening a connection.", above=0, most=600)
    first_token_timeout: float = _setting(
        180.0,
        "The longest pause in seconds that is allowed in a streamed answer, before or after its first token.",
        above=0,
        most=86_400,
    )
    retries: int = _setting(7, "The maximum number of retries per call after temporary errors.", least=0, most=100)
    patience: float = _setting(
        300.0,
        "The time in seconds for which calls wait if a provider fails repeatedly. After that time, the calls fail.",
        least=0,
        most=604_800,
    )
    limits: dict[str, Limits] = _setting(dict, "Limits by provider: concurrency, calls per minute, tokens per minute.")
    sandbox: Literal["auto", "hardened", "strong", "limited"] = _setting(
        "auto", "The sandbox tier. 'auto': the strongest tier that works on this machine, but never 'limited'."
    )
    test_timeout: float = _setting(
        10.0,
        "The time limit in seconds for all tests of one program. If not set: 4 times the canonical solution's time (at "
        "least 4 s; 10 s without a canonical solution), and also a separate limit for each plus test.",
        above=0,
        most=3600,
    )
    num_ctx: int = _setting(8192, "Context size of embedded and Ollama models, in tokens.", least=512, most=100_000_000)
    cache: bool = _setting(False, "Reuse the recorded answer if an earlier benchmark made the same call.")
    cache_mb: float = _setting(500.0, "The size limit of the response cache in MB.", above=0, most=1e6)
    model_memory_gb: float | None = _setting(
        None,
        "The memory in GB that the local models of one koderz process may use together. If not set: the free memory "
        "minus memory_reserve_gb.",
        above=0,
        most=1e6,
    )
    memory_reserve_gb: float | None = _setting(
        None,
        "The memory in GB that koderz leaves free. If less is free, no experiment starts; below half of this amount, "
        "running experiments pause. 0: never pause. If not set: 10 % of the total memory, between 0.25 and 2 GB.",
        least=0,
        most=1e6,
    )
    llama_server: Path | None = _setting(
        None, "The path of your own llama-server program, such as one for GPUs. If not set: the server in xllamacpp."
    )
    reproducible: bool = _setting(
        False, "Make embedded models generate the same text for the same seed. Prompts are then not cached."
    )
    local_watts: float = _setting(65.0, "The power in watts of this machine while a model works.", least=0, most=1e6)
    measure_gpu: bool = _setting(
        True, "Measure the energy of NVIDIA GPUs (nvidia-ml-py). Set local_watts to the machine's power without GPUs."
    )
    measure_cpu: bool = _setting(
        False, "Use the energy of the processors from RAPL counters (usually requires root) instead of local_watts."
    )
    usd_per_kwh: float = _setting(0.15, "The price of electricity in dollars per kWh.", least=0, most=1e6)
    confirm_usd: float = _setting(
        1.0,
        "The page New run asks for confirmation before it starts a benchmark whose estimated cost in dollars (90th "
        "percentile) exceeds this amount.",
        least=0,
        most=1e6,
    )
    confirm_hours: float = _setting(
        1.0,
        "The page New run asks for confirmation before it starts a benchmark whose estimated time in hours (90th "
        "percentile) exceeds this number.",
        least=0,
        most=1e6,
    )
    local_usd_per_hour: float = _setting(0.0, "The cost of this machine's wear in dollars per hour.", least=0, most=1e6)
    records: str = ""  # the folder of journals and index within the data folder; "": the data folder itself
    stated: frozenset[str] = field(default=frozenset(), repr=False, compare=False)
    """The settings that some source sets, even if to the default."""

    def __init__(self, **options: Any) -> None:  # Any: one value per field, checked
        """``options``: those of the command line. Raises ConfigError, DataError."""
        in_env_file = env_file()
        check_env_file(in_env_file, {setting.variable for setting in SETTINGS.values()})
        sources = (options, from_variables(environment()), from_variables(in_env_file))
        home = next((Path(source["home"]) for source in sources if "home" in source), default_home())
        merged: dict[str, Any] = by_field(settings_file(expand_home(home)))
        for source in reversed(sources):
            merged = merged_tables(merged, source)
        self._set({name: setting.default_value() for name, setting in SETTINGS.items()} | _checked(merged))
        self._set({"stated": frozenset(merged)})

    def changed(self, **values: Any) -> Settings:  # Any: one value per field, not checked
        """A copy with other values."""
        other = copy(self)
        other._set(values)
        return other

    def at(self, addresses: str, url: str) -> Settings:
        """A copy for one address of a provider. ``addresses``: the present value of the provider's setting."""
        return self.changed(**{name: url for name in _BASE_URLS if getattr(self, name) == addresses})

    def _set(self, values: Mapping[str, Any]) -> None:  # Any: as above
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def bwrap(self) -> str | None:
        """The path of bubblewrap, None if it is not installed."""
        return shutil.which("bwrap")

    @property
    def journals_dir(self) -> Path:
        return self.home / self.records / "journals"

    @property
    def store_path(self) -> Path:
        return self.home / self.records / "koderz.duckdb"

    @property
    def weights_dir(self) -> Path:
        return self.models_dir or self.home / "models"

    @property
    def published_dir(self) -> Path:
        """The folder of the files of published datasets."""
        return self.datasets_dir or self.home / "datasets"

    @property
    def cache_dir(self) -> Path:
        """The folder of files that koderz can compute again."""
        return self.home / "cache"

    def secrets(self) -> tuple[str, ...]:
        """All keys and addresses of notices, and the secret parts of addresses: they must never be written anywhere."""
        values = ((name, getattr(self, name)) for name, setting in SETTINGS.items() if setting.secret)
        whole = [word for name, value in values if value for word in words_of(name, value)]
        servers = (url for name in (*_BASE_URLS, "metrics_otlp") for url in getattr(self, name).split())
        return tuple(dict.fromkeys((*whole, *(part for url in (*servers, *whole) for part in secrets_of(url)))))

    def redaction(self) -> Redaction:
        """Masks ``secrets``, and texts that certainly are keys."""
        return redaction_of(self.secrets())

    def check_egress(self, url: str, purpose: str, setting: str = "", *, metered: bool = True) -> None:
        """The gate of every outbound address: raises OfflineError beyond loopback if ``offline`` is set.

        The gate logs its decision (``egress.py``). ``setting``: what names the address if no base URL does.
        ``metered`` False: another program connects. Every call counts, so ask directly before the connection.
        """
        allowed = self.allows_egress(url)
        passage = egress.passage(url, purpose, setting or self._setting_of(url), allowed=allowed, metered=metered)
        egress.record(egress.log_in(self.home), passage)
        if not allowed:
            raise OfflineError(
                f"KODERZ_OFFLINE is set, so {urlsplit(url).hostname or url} was not contacted for {purpose}. Unset "
                "KODERZ_OFFLINE to allow the connection."
            )

    def allows_egress(self, url: str) -> bool:
        """Whether ``check_egress`` would allow an address, without a record in the log."""
        return not self.offline or is_loopback(url)

    def _setting_of(self, url: str) -> str:
        """The settings with an address of the same host and port, "" if there are none."""
        at = endpoint(url)
        names = [name for name in _BASE_URLS if at in map(endpoint, getattr(self, name).split())]
        return ", ".join(SETTINGS[name].variable + ("" if name in self.stated else " (default)") for name in names)


def _settings() -> dict[str, Setting]:
    kinds = get_type_hints(Settings)
    facts = {field_.name: dict(field_.metadata) for field_ in fields(Settings) if field_.metadata}
    return {
        name: Setting(**{"name": name, "annotation": kinds[name], **about, "names": about["names"] or (name,)})
        for name, about in facts.items()
    }


SETTINGS: Mapping[str, Setting] = _settings()
"""Every field of ``Settings`` by its name, except ``stated``."""
_BASE_URLS = tuple(name for name in SETTINGS if name.endswith("_base_url"))


def load_settings(**overrides: Any) -> Settings:  # Any: one value per field
    """Settings overridden by the options of the command line; None means not given. Raises ConfigError."""
    options = {name: value for name, value in overrides.items() if value is not None}
    try:
        return Settings(**options)
    except DataError as error:
        raise ConfigError(str(error)) from error  # settings stand for options of a command line
    except UnicodeDecodeError as error:
        raise ConfigError(".env is not UTF-8 text. Save the file as UTF-8, or remove it.") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"settings.toml is not valid TOML: {error}. Fix that line or remove the file.") from error


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:  # Any: one value per field
    """The final values. Raises ConfigError for all invalid ones, and never quotes a value."""
    checked, faults = {}, []
    for name, value in values.items():
        try:
            checked[name] = SETTINGS[name].parsed(value)
        except ValueError as error:
            faults.append(f"{name}: {error}")
    if faults:
        raise ConfigError(
            f"Settings are wrong: {'; '.join(faults)}. Correct them on the command line, in the environment, in .env "
            "or in settings.toml."
        )
    return checked


def environment() -> dict[str, str]:
    """The variables of this process that are not empty, by their names in lower case."""
    return {name.lower(): value for name, value in os.environ.items() if value}


def env_file() -> dict[str, str]:
    """The variables in ``.env`` of the current folder, as in ``environment``."""
    path = Path(".env")
    if not (path.is_file() or path.is_fifo()):
        return {}
    from dotenv import dotenv_values  # noqa: PLC0415 (most folders have no such file)

    return {name.lower(): value for name, value in dotenv_values(path, encoding="utf-8-sig").items() if value}


def settings_file(home: Path) -> dict[str, Any]:
    """The values in ``settings.toml`` of a data folder, by their names in the file.

    Raises ConfigError for an unknown key, DataError, TOMLDecodeError.
    """
    path = home / "settings.toml"
    values = tomllib.loads(read_text(path, "Fix or remove the file.")) if path.is_file() else {}
    refuse_unknown(values, {name for setting in SETTINGS.values() for name in setting.names}, path)
    return values


def from_variables(variables: Mapping[str, str]) -> dict[str, Any]:
    """The settings in the variables of an environment, by field. Raises ConfigError."""
    own = {f"koderz_{name}": name for name, setting in SETTINGS.items() if setting.prefixed}
    named = {own.get(name, name): value for name, value in variables.items() if name not in own.values()}
    return {name: decoded(SETTINGS[name], value) for name, value in by_field(named).items()}


def by_field(named: Mapping[str, Any]) -> dict[str, Any]:
    """The same values by field; names that are not settings are left out."""
    values = {field_: [named[name] for name in setting.names if name in named] for field_, setting in SETTINGS.items()}
    return {field_: sources[0] for field_, sources in values.items() if sources}

"""What the user states about models in `models.toml` in the data folder. It overrides all that koderz knows.

    ["openai/my-model"]
    tier = "small_frontier"
    context_tokens = 32768
    ["openai/my-model".capabilities]
    temperature = false
    ["openai/my-model".price]
    input_usd_per_mtok = 0.2
    output_usd_per_mtok = 0.8
    source = "the contract of March"
    date = 2026-03-01

A table named after a provider is about all its models; a table of one model overrides it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from datetime import date
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from koderz_core.config import Settings
from koderz_core.errors import ConfigError, DataError
from koderz_core.input_files import read_text, require_file
from koderz_core.records import Tier

Thinking = Literal["never", "optional", "always"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max", "tokens"]

FILE = "models.toml"
MOST_USD = 1e6  # per million tokens: a higher price is a typing mistake


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, allow_inf_nan=False)


class StatedPrice(_Closed):
    """US dollars per million tokens. By default cached input costs the same as other input."""

    input_usd_per_mtok: float = Field(ge=0, le=MOST_USD)
    output_usd_per_mtok: float = Field(ge=0, le=MOST_USD)
    cache_read_usd_per_mtok: float | None = Field(default=None, ge=0, le=MOST_USD)
    cache_write_usd_per_mtok: float | None = Field(default=None, ge=0, le=MOST_USD)
    source: str = Field(min_length=1, max_length=200)
    date: date


class StatedCapabilities(_Closed):
    """What a model accepts, None if not stated. The fields are those of ``Capabilities``.

    ``effort``: true means low, medium and high.
    """

    temperature: bool | None = None
    top_p: bool | None = None
    both: bool | None = None
    seed: bool | None = None
    effort: bool | tuple[Effort, ...] | None = None
    max_tokens_parameter: Literal["max_tokens", "max_completion_tokens", "num_predict"] | None = None
    default_tokens: int | None = Field(default=None, ge=1)
    thinking: Thinking | None = None
    thinking_tokens: int | None = Field(default=None, ge=0)
    streaming: bool | None = None
    cache: bool | None = None


class Stated(_Closed):
    """One table of the file."""

    tier: Tier | None = None
    context_tokens: int | None = Field(default=None, ge=1)
    capabilities: StatedCapabilities = StatedCapabilities()
    price: StatedPrice | None = None


NOTHING = Stated()


def stated(model: str, settings: Settings) -> Stated:
    """What the file states of a model (by id), completed by the table of its provider. Raises ConfigError."""
    tables = _read(settings.home / FILE)
    if not tables:
        return NOTHING
    own = tables.get(model, NOTHING)
    shared = tables.get(model.partition("/")[0], NOTHING)
    return Stated(
        tier=own.tier or shared.tier,
        context_tokens=own.context_tokens or shared.context_tokens,
        capabilities=shared.capabilities.model_copy(update=own.capabilities.model_dump(exclude_none=True)),
        price=own.price or shared.price,
    )


def prices_in(path: Path) -> dict[str, StatedPrice]:
    """The prices in a file of the same form, by the name of their table. Raises ConfigError, DataError."""
    require_file(path, "Give a file in the format of models.toml.")
    prices = {name: table.price for name, table in _read(path).items() if table.price}
    if not prices:
        raise ConfigError(f'{path} states no price. Write a table such as ["openai/my-model".price] into it.')
    return prices


def check_providers(settings: Settings, providers: Collection[str]) -> None:
    """Raise ConfigError if a table of the file names none of ``providers``."""
    path = settings.home / FILE
    for name in _read(path):
        if name.partition("/")[0] not in providers:
            raise ConfigError(
                f'{path}: the name of table ["{name}"] does not start with a provider. Write ["PROVIDER/NAME"]; '
                f"providers: {', '.join(providers)}."
            )


def _read(path: Path) -> Mapping[str, Stated]:
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):  # the last: of the folder, which koderz cannot use
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}. Fix or remove the file.") from error
    return _parse(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4)
def _parse(path: Path, _changed: int, _size: int) -> Mapping[str, Stated]:
    """The tables of this version of the file, cached because every call reads them."""
    try:
        return _TABLES.validate_python(tomllib.loads(read_text(path, "Fix or remove the file.")))
    except ValidationError as error:
        raise ConfigError(_explain(error, path)) from None
    except DataError as error:
        raise ConfigError(str(error)) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}. Fix that line or remove the file.") from error


_TABLES = TypeAdapter(dict[str, Stated])


def _explain(error: ValidationError, path: Path) -> str:
    """A message about the first fault: its table as in the file, its key, and what is valid there."""
    fault = error.errors()[0]
    model, *inside = map(str, fault["loc"])
    *tables, key = inside or [""]
    table = ".".join([f'"{model}"', *tables])
    message = f"{_unknown(key, tables)}" if fault["type"] == "extra_forbidden" else fault["msg"].lower()
    return f"{path}: in table [{table}]{f', key {key}' if key else ''}: {message}. Correct this table."


_INSIDE: Mapping[str, type[BaseModel]] = {"price": StatedPrice, "capabilities": StatedCapabilities}


def _unknown(key: str, tables: list[str]) -> str:
    kind = _INSIDE.get("".join(tables), Stated)
    near = get_close_matches(key, kind.model_fields, n=3)
    return f"unknown ({'did you mean' if near else 'known'}: {', '.join(near or kind.model_fields)})"

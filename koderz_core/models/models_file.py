"""What a person states of models in `models.toml` in the data folder: it stands above all that koderz knows.

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

A table named by the provider alone is about all its models; what is said of one model stands above it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import date
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from koderz_core.config import Settings
from koderz_core.errors import ConfigError, DataError
from koderz_core.input_files import read_text
from koderz_core.models.capability_table import TABLE, Thinking
from koderz_core.records import Tier

FILE = "models.toml"
MOST_USD = 1e6  # for a million tokens: more is a slip of the pen, and sums of it no numbers


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, allow_inf_nan=False)


class StatedPrice(_Closed):
    """US dollars per million tokens. Input read from or written to a cache costs as other input unless stated."""

    input_usd_per_mtok: float = Field(ge=0, le=MOST_USD)
    output_usd_per_mtok: float = Field(ge=0, le=MOST_USD)
    cache_read_usd_per_mtok: float | None = Field(default=None, ge=0, le=MOST_USD)
    cache_write_usd_per_mtok: float | None = Field(default=None, ge=0, le=MOST_USD)
    source: str = Field(min_length=1, max_length=200)
    date: date


class StatedCapabilities(_Closed):
    """What a model takes, as far as it is stated; the fields are those of ``Capabilities``."""

    temperature: bool | None = None
    top_p: bool | None = None
    both: bool | None = None
    seed: bool | None = None
    effort: bool | None = None
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
    """What is stated of a model, by id, and, where that says nothing, of its provider. Raises ConfigError."""
    tables = _read(settings.home / FILE)
    if not tables:
        return NOTHING
    one = tables.get(model, Stated())
    all_ = tables.get(model.partition("/")[0], Stated())
    return Stated(
        tier=one.tier or all_.tier,
        context_tokens=one.context_tokens or all_.context_tokens,
        capabilities=all_.capabilities.model_copy(update=one.capabilities.model_dump(exclude_none=True)),
        price=one.price or all_.price,
    )


def _read(path: Path) -> Mapping[str, Stated]:
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):  # the last: of the folder, in which nothing works
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}. Mend or remove it.") from error
    return _parse(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=4)
def _parse(path: Path, _changed: int, _size: int) -> Mapping[str, Stated]:
    """The tables of the file as it was then: it is looked at for every call."""
    try:
        tables = tomllib.loads(read_text(path, "Mend or remove it."))
        return _checked(_TABLES.validate_python(tables), path)
    except ValidationError as error:
        raise ConfigError(_explain(error, path)) from None
    except DataError as error:
        raise ConfigError(str(error)) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}. Mend that line or remove the file.") from error


_TABLES = TypeAdapter(dict[str, Stated])


def _checked(tables: dict[str, Stated], path: Path) -> Mapping[str, Stated]:
    for name in tables:
        if name.partition("/")[0] not in TABLE:
            raise ConfigError(
                f'{path}: table ["{name}"] names no provider. Write ["PROVIDER/NAME"]; providers: {", ".join(TABLE)}.'
            )
    return tables


def _explain(error: ValidationError, path: Path) -> str:
    """The first fault: its table as the file has it, its key, and what it should be."""
    fault = error.errors()[0]
    model, *inside = map(str, fault["loc"])
    *tables, key = inside or [""]
    table = ".".join([f'"{model}"', *tables])
    message = f"{_unknown(key, tables)}" if fault["type"] == "extra_forbidden" else fault["msg"].lower()
    return f"{path}: in table [{table}] {f'{key}: ' if key else ''}{message}. Correct it there."


_INSIDE: Mapping[str, type[BaseModel]] = {"price": StatedPrice, "capabilities": StatedCapabilities}


def _unknown(key: str, tables: list[str]) -> str:
    kind = _INSIDE.get("".join(tables), Stated)
    near = get_close_matches(key, kind.model_fields, n=3)
    return f"no such key ({'did you mean' if near else 'known'}: {', '.join(near or kind.model_fields)})"

"""Drafts of benchmarks: what a person has entered on the page New run. They are stored in the data folder."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from koderz_core.errors import KoderzError
from koderz_core.files import kept_names, replace_file
from koderz_core.plan.ablations import with_ablations
from koderz_core.plan.clone import Clone
from koderz_core.plan.command_line import same_configurations
from koderz_core.plan.order import Order, Wanted
from koderz_core.plan.presets import Preset
from koderz_core.plan.registration import RegistrationOrder, pair_typed
from koderz_core.records import Budget

__all__ = [
    "Draft",
    "Drafts",
    "RegistrationOrder",
    "Row",
    "Typed",
    "draft_of_clone",
    "draft_of_preset",
    "pair_typed",
]

MOST_DRAFTS = 100  # the oldest ones are deleted
MOST_SEED = 2**53 - 1  # that a browser can show
_NAME = re.compile(r"[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class Row:
    """A configuration and the names of its ablations."""

    wanted: Wanted
    ablations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Typed:
    """A problem that a person has typed."""

    prompt: str
    tests: str
    solution: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A benchmark as a person has entered it so far; it may be incomplete or invalid.

    ``preset``, ``clone``: the preset, or the id of the benchmark, that the draft started from; the other field is
    empty. ``dataset``: empty as long as ``typed``, the person's own problem, is not a dataset. ``concurrency`` None:
    the default. ``started``: the id of the benchmark that was last started from this draft. ``registration``:
    None for a benchmark that is not registered.
    """

    rows: tuple[Row, ...]
    problems: str
    dataset: str = "humaneval"
    preset: str = ""
    clone: str = ""
    typed: Typed | None = None
    seed: int = 0
    repeats: int = 1
    name: str = ""
    budget: Budget = field(default_factory=Budget)
    concurrency: int | None = None
    baselines: bool = True
    started: str = ""
    registration: RegistrationOrder | None = None
    allow_search: bool = False

    @property
    def order(self) -> Order:
        """Return the order that the draft describes."""
        wanted = with_ablations([(row.wanted, row.ablations) for row in self.rows])
        order = Order(wanted, self.problems, self.seed, self.repeats, self.name, self.budget)
        return replace(order, registration=self.registration, allow_search=self.allow_search)

    def changed(self, base: Draft) -> tuple[str, ...]:
        """Return the names of the parts in which the draft differs from ``base``, the draft that it started from."""
        return tuple(_changed(self, base))


def draft_of_preset(preset: Preset) -> Draft:
    """Return a preset as a draft."""
    return Draft(tuple(map(Row, preset.configurations)), preset.problems, preset=preset.name)


def draft_of_clone(clone: Clone) -> Draft:
    """Return a recorded benchmark as a draft that adds no baselines: the benchmark already contains its baselines."""
    order = clone.order
    rows = tuple(map(Row, order.configurations))
    draft = Draft(rows, order.problems, clone.dataset, clone=clone.plan.id, budget=order.budget, baselines=False)
    draft = replace(draft, seed=order.seed, repeats=order.repeats, name=order.name)
    return replace(draft, registration=order.registration, allow_search=order.allow_search)


def _changed(draft: Draft, base: Draft) -> Iterator[str]:
    try:
        same = same_configurations(draft.order.configurations, base.order.configurations)
    except KoderzError:
        same = False  # a value that no strategy accepts
    if not same:
        yield "configurations"
    if (draft.problems, draft.typed) != (base.problems, base.typed):
        yield "problems"
    names = ("dataset", "repeats", "seed", "name", "budget", "concurrency", "baselines", "registration", "allow_search")
    yield from (name.replace("_", " ") for name in names if getattr(draft, name) != getattr(base, name))


def _fits_form(draft: Draft) -> bool:
    """Whether the fields of the page accept the numbers of a draft file, which a person may have edited."""
    amounts = (draft.budget.usd, draft.budget.per_experiment_usd)
    limited = all(usd is None or usd >= 0 for usd in amounts) and draft.concurrency in (None, *range(65))
    return limited and 0 <= draft.seed <= MOST_SEED and draft.repeats >= 1


class Drafts:
    """The drafts of a data folder, by id.

    If a draft cannot be written, no error is raised. The draft is then lost when its page is reloaded.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, name: str) -> Draft | None:
        """Return the draft with this id; None if there is none, or if another version of koderz wrote it."""
        if not _NAME.fullmatch(name):
            return None
        with suppress(OSError, msgspec.DecodeError):
            draft = msgspec.json.decode(self._path(name).read_bytes(), type=Draft)
            return draft if _fits_form(draft) else None
        return None

    def keep(self, draft: Draft, name: str = "") -> str:
        """Write a draft and return its id, which is new if no ``name`` is given."""
        with suppress(OSError):
            if not name:
                for old in list(kept_names(self._folder, "*.json").values())[MOST_DRAFTS - 1 :]:
                    old.unlink(missing_ok=True)
            name = name or secrets.token_hex(4)
            replace_file(self._path(name), msgspec.json.encode(draft), durable=False)
        return name

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

"""Recorded benchmarks under other prices: copies of their journals with other costs, in a temporary workspace.

All numbers are computed from the copies as usual. The journals themselves are only read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import UNSET

from koderz_core.config import Settings
from koderz_core.errors import UsageError
from koderz_core.events import BenchmarkOpened, CallFailed, CallFinished, CallStarted, Entry, Event, ExperimentFinished
from koderz_core.events.lines import encode
from koderz_core.files import TEMPORARY, sha256_of
from koderz_core.journal import read_all
from koderz_core.models.models_file import StatedPrice, prices_in
from koderz_core.models.pricing import by_statement
from koderz_core.records import Cost, Tier, Usage
from koderz_core.records.completions import JOULES_PER_KWH, MachineRates
from koderz_core.records.shards import MergedShard
from koderz_core.workspace.workspace import Workspace

_RATES = re.compile(
    r"(?:([0-9.e+-]+) W|processors as measured)(?: \+ GPUs as measured)? at ([0-9.e+-]+) USD/kWh \+ ([0-9.e+-]+) USD/h"
)
_WATTS = re.compile(r"([0-9.e+-]+) W at ")  # the source of a local price without measured GPUs
_OWN = ("journals", "koderz.duckdb")  # what a temporary data folder has itself


@dataclass(frozen=True, slots=True)
class Repricing:
    """Other prices. ``prices``: by model or provider; None or empty: as recorded. ``file``: where they are stated.

    An answer from the response cache counts like its original call.
    """

    prices: Mapping[str, StatedPrice] = field(default_factory=dict)
    file: str = ""
    watts: float | None = None
    usd_per_kwh: float | None = None

    @property
    def mark(self) -> str:
        """What the version of the price list says."""
        rates = ((self.watts, "{:g} W"), (self.usd_per_kwh, "{:g} USD/kWh"))
        parts = [self.file, *(form.format(value) for value, form in rates if value is not None)]
        return f"re-priced with {', '.join(filter(None, parts)) or 'recorded prices'}"

    @property
    def rest(self) -> str:
        """What keeps its recorded price."""
        others = "Models without a price in the file keep their recorded prices. " if self.prices else ""
        return f"{others}Answers from the response cache count at the price of their original calls."

    def of_answer(self, model: str, usage: Usage, seconds: float | None, recorded: Cost, rates: MachineRates) -> Cost:
        """The cost of an answered call. Unknown tokens or times stay unknown."""
        if stated := self._stated(model):
            return by_statement(model, usage, stated, self.file)
        spent = seconds if usage.machine_seconds is None else usage.machine_seconds
        if recorded.kwh is None or spent is None or not self._other_energy:
            return recorded
        rates = self._of_run(recorded, rates)
        return rates.cost(spent, usage.gpu_joules, recorded.rental_usd, usage.cpu_joules)

    def of_energy(self, recorded: Cost, rates: MachineRates) -> Cost:
        """The cost of a call of which only the cost is recorded, by the energy that it used.

        Other watts count if nothing was measured, because the seconds then follow from the energy.
        """
        if recorded.kwh is None or not self._other_energy:
            return recorded
        rates = self._of_run(recorded, rates)
        known = _WATTS.match(recorded.source)
        if known and float(known[1]):
            return rates.cost(recorded.kwh * JOULES_PER_KWH / float(known[1]), rental_usd=recorded.rental_usd)
        energy_usd = recorded.kwh * rates.usd_per_kwh
        other_usd = (recorded.usd or 0.0) - (recorded.energy_usd or 0.0)
        return replace(recorded, usd=energy_usd + other_usd, energy_usd=energy_usd)

    def _of_run(self, recorded: Cost, rates: MachineRates) -> MachineRates:
        """The rates in the source of a cost, apart from those that are replaced; ``rates`` if it has none.

        A run at other rates writes a header with them, but earlier versions and merged shards do not have it.
        """
        if not (known := _RATES.fullmatch(recorded.source)):
            return rates
        watts = float(known[1] or rates.local_watts) if self.watts is None else self.watts
        usd_per_kwh = float(known[2]) if self.usd_per_kwh is None else self.usd_per_kwh
        return MachineRates(watts, usd_per_kwh, float(known[3]))

    def states(self, model: str) -> bool:
        """Whether the file has a price for a model."""
        return self._stated(model) is not None

    @property
    def _other_energy(self) -> bool:
        return self.watts is not None or self.usd_per_kwh is not None

    def _stated(self, model: str) -> StatedPrice | None:
        return self.prices.get(model) or self.prices.get(model.partition("/")[0])


def repricing(prices: Path | None, watts: float | None, usd_per_kwh: float | None) -> Repricing:
    """The prices of a file in the form of models.toml, and of energy. Raises ConfigError, DataError."""
    if prices is None:
        return Repricing(watts=watts, usd_per_kwh=usd_per_kwh)
    stated = prices_in(prices)
    return Repricing(stated, f"{prices.name} (SHA-256 {sha256_of(prices)[:12]})", watts, usd_per_kwh)


@contextmanager
def repriced(opened: Workspace, benchmarks: Collection[str], how: Repricing) -> Iterator[Workspace]:
    """A workspace with only these benchmarks (by id), re-priced. It exists until the end of the block.

    Raises UsageError if prices are stated for none of the models, JournalError.
    """
    settings = opened.settings
    _require_use(opened, benchmarks, how)
    with TemporaryDirectory(prefix=f"{TEMPORARY}repriced-", dir=settings.home) as folder:
        home = Path(folder)
        (home / "journals").mkdir()
        for benchmark in benchmarks:
            entries = _changed(read_all(settings.journals_dir / f"{benchmark}.jsonl"), how)
            with (home / "journals" / f"{benchmark}.jsonl").open("wb") as copy:
                copy.writelines(map(encode, entries))
        for path in settings.home.iterdir():
            if not path.name.startswith((*_OWN, ".")):
                (home / path.name).symlink_to(path.absolute())
        with Workspace(_under(settings, home)) as other:
            yield other


def _under(settings: Settings, home: Path) -> Settings:
    folders = {"datasets_dir": settings.published_dir, "models_dir": settings.weights_dir}
    return settings.changed(home=home, memory="off", **folders)


def _require_use(opened: Workspace, benchmarks: Collection[str], how: Repricing) -> None:
    models = sorted({model for row in opened.results.benchmarks() if row.id in benchmarks for model in row.models})
    if how.prices and not any(map(how.states, models)):
        raise UsageError(
            f"{how.file} states prices for {', '.join(how.prices)}, but the benchmarks used {', '.join(models)}. In "
            "the file, name each TOML table after a model of the benchmarks, or after the provider of such a model."
        )


def _changed(entries: Iterable[Entry], how: Repricing) -> Iterator[Entry]:
    """The entries of a journal under other prices."""
    change = _Change(how)
    for entry in entries:
        yield replace(entry, event=change.event(entry))


class _Change:
    """Changes the entries of one journal in order."""

    def __init__(self, how: Repricing) -> None:
        self._how = how
        self._tiers: Mapping[str, Tier] = {}
        self._before = self._rates = MachineRates(0.0, 0.0, 0.0)
        self._models: dict[tuple[str | None, int | None], str] = {}
        self._reused: set[str | None] = set()

    def event(self, entry: Entry) -> Event:
        match event := entry.event:
            case BenchmarkOpened():
                return self._opened(event)
            case CallStarted():
                self._models[entry.experiment, entry.ordinal] = event.model
                return replace(event, reserved_usd=self._reserved(event))
            case CallFailed() if event.cost:
                return replace(event, cost=self._failed(event.cost, entry))
            case CallFinished():
                return self._finished(event, entry)
            case ExperimentFinished() if entry.experiment in self._reused:
                return replace(event, seconds=None)  # nothing measured the time that its original calls took
        return event

    def _opened(self, event: BenchmarkOpened) -> BenchmarkOpened:
        recorded = {"local_watts": 0.0, "usd_per_kwh": 0.0, "local_usd_per_hour": 0.0, **event.energy}
        stated = {"local_watts": self._how.watts, "usd_per_kwh": self._how.usd_per_kwh}
        other = recorded | {name: value for name, value in stated.items() if value is not None}
        self._tiers, self._before, self._rates = event.tiers, MachineRates(**recorded), MachineRates(**other)
        if event.merged:
            event = replace(event, merged=tuple(map(self._shard, event.merged)))
        return replace(event, energy=other if event.energy else event.energy, price_version=self._version(event))

    def _shard(self, shard: MergedShard) -> MergedShard:
        """A merged shard with other costs of the calls whose cost its journal does not record."""
        lost = [replace(call, cost=self._how.of_energy(call.cost, self._rates)) for call in shard.lost or ()]
        return shard if shard.lost is None else replace(shard, lost=tuple(lost))

    def _version(self, event: BenchmarkOpened) -> str:
        """The mark, after the recorded version if a model keeps its price: a comparison warns of different ones."""
        if all(map(self._how.states, event.plan.models())):
            return self._how.mark
        return f"{event.price_version or 'imported prices'} {self._how.mark}"

    def _reserved(self, event: CallStarted) -> float | None:
        """The most that a local call can cost, which limits the cost that is derived for interrupted calls."""
        before = self._before.cost(1.0).usd
        if event.reserved_usd is None or self._rates == self._before or self._tiers.get(event.model) != "local":
            return event.reserved_usd
        return event.reserved_usd * (self._rates.cost(1.0).usd or 0.0) / before if before else None

    def _failed(self, recorded: Cost, entry: Entry) -> Cost:
        """The cost of a call without an answer, which has no tokens: unknown to a model that is priced by tokens."""
        model = self._models.get((entry.experiment, entry.ordinal), "")
        if self._how.states(model):
            return self._how.of_answer(model, Usage(), None, recorded, self._rates)
        return self._how.of_energy(recorded, self._rates)

    def _finished(self, event: CallFinished, entry: Entry) -> CallFinished:
        model = self._models.get((entry.experiment, entry.ordinal), "")
        if not event.cached:
            return replace(event, cost=self._how.of_answer(model, event.usage, event.seconds, event.cost, self._rates))
        self._reused.add(entry.experiment)
        original = event.cached
        cost = self._how.of_energy(original.cost, self._rates)
        if self._how.states(model):
            cost = self._how.of_answer(model, event.usage, original.seconds, original.cost, self._rates)
        return replace(event, cost=cost, seconds=original.seconds, cached=UNSET)

"""Where benchmarks run: in this process, or in workers of Dask. What a worker needs of a workspace is made here too."""

from __future__ import annotations

import math
import os
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from koderz_core.addresses import is_loopback
from koderz_core.conditions import check_same, conditions, of_kinds
from koderz_core.config import SETTINGS, Settings, load_settings
from koderz_core.errors import InfrastructureError, UsageError
from koderz_core.files import replace_file
from koderz_core.models.providers import PROVIDERS
from koderz_core.plan.strategy_files import require_strategies
from koderz_core.protocols import Judge
from koderz_core.records import Kind, Plan
from koderz_core.records.plans import default_concurrency
from koderz_core.runner.engine import LOCAL, Engine

if TYPE_CHECKING:
    from koderz_core.dask_engine.clusters import Place
    from koderz_core.dask_engine.door import Equipment
    from koderz_core.dask_engine.messages import Terms
    from koderz_core.workspace.workspace import Workspace

EQUIP, JUDGE = f"{__name__}:equip", f"{__name__}:judge"
EVERYWHERE = ("timeout", "connect_timeout", "first_token_timeout", "test_timeout", "num_ctx", "reproducible", "cache")
"""Settings that a user may state for one benchmark: workers on other machines use the owner's values too."""
OWNER, AT_ONCE = "owner_host", "programs_at_once"  # sent with the settings
STALE_SECONDS = 30.0  # after which a report that is written every second comes from an owner that has ended


@dataclass(frozen=True, slots=True)
class Engines:
    """Opens engines by the value of ``--engine``."""

    settings: Settings

    def open(self, name: str, plan: Plan, concurrency: int | None = None) -> Engine:
        """The engine of that name; close it. ``concurrency``: the one that the user has chosen.

        Raises UsageError for an unknown name, or if the Dask engine is not installed.
        """
        if (place := self._place(name)) is None:
            return LOCAL
        from koderz_core.dask_engine.engine import DaskEngine, Outfit  # noqa: PLC0415 (an extra, as in ``_place``)

        outfit = Outfit(
            EQUIP,
            _settings_for(self.settings, place),
            self.settings.cache_dir / "dask",
            partial(_write_workers, self.settings),
        )
        return DaskEngine(place, outfit, concurrency, default_concurrency(plan))

    def _place(self, name: str) -> Place | None:
        """Where Dask's workers come from; None for this process. Raises UsageError, OfflineError."""
        place = _place(name)
        if place and place.kind == "address":
            url = place.name if "://" in place.name else f"tcp://{place.name}"
            self.settings.check_egress(url, "Dask's scheduler and workers", "--engine", metered=False)
        return place

    @contextmanager
    def judging(self, name: str, workers: int, isolation: str, local: Judge) -> Iterator[Judge]:
        """The judge of programs at an engine, ``workers`` at a time: ``local``, or one whose programs run elsewhere.

        ``isolation``: the tier of the sandbox. Raises as ``open``, and InfrastructureError.
        """
        if (place := self._place(name)) is None:
            yield local
            return
        from koderz_core import __version__  # noqa: PLC0415 (this module is a part of that one)
        from koderz_core.dask_engine.clusters import opened  # noqa: PLC0415 (as in ``open``)
        from koderz_core.dask_engine.grading import Bench, ExecutorJudge  # noqa: PLC0415 (likewise)

        given = _settings_for(self.settings, place)
        bench = Bench(JUDGE, msgspec.json.encode(given).decode(), __version__, isolation)
        cluster = opened(place, self.settings.cache_dir / "dask", workers)
        try:
            with cluster.client.get_executor(pure=False, retries=2) as executor:
                yield ExecutorJudge(executor, bench, local)
        finally:
            cluster.close()


def _place(name: str) -> Place | None:
    """Where Dask's workers come from; None for this process. Raises UsageError."""
    if name in ("", "local"):
        return None
    if name.partition("=")[0] != "dask":
        raise UsageError(
            f"--engine {name} does not name an engine. Possible values: local, dask, dask=local:N, dask=ADDRESS, "
            "dask=slurm:FILE."
        )
    from koderz_core.dask_engine.clusters import Place  # noqa: PLC0415 (an extra: only this engine needs it)

    return Place.of(name.removeprefix("dask"))


def _settings_for(settings: Settings, place: Place) -> dict[str, Any]:  # Any: values of settings
    """The settings that workers use in place of their own. Never a key.

    Workers on this machine share its cores, so each tests fewer programs at the same time.
    """
    here = place.kind == "local"
    named = settings.stated if here else set(EVERYWHERE) & settings.stated
    plain = {name: getattr(settings, name) for name in named if not SETTINGS[name].secret and name != "limits"}
    given = plain | ({"home": settings.home} if here else {})
    texts = {name: str(value) if isinstance(value, Path) else value for name, value in given.items()}
    at_once = {AT_ONCE: math.ceil((os.cpu_count() or 1) / int(place.name))} if here else {}
    return texts | {OWNER: platform.node()} | at_once


def _opened(given: Mapping[str, Any]) -> Workspace:  # Any: as above
    """The workspace of a worker. Raises ConfigError."""
    from koderz_core.workspace.workspace import Workspace  # noqa: PLC0415 (it imports this module's users)

    named = {name: value for name, value in given.items() if name not in (OWNER, AT_ONCE)}
    opened = Workspace(load_settings(**named))
    opened.grading.sandbox.programs_at_once = given.get(AT_ONCE)
    return opened


def equip(terms: Terms) -> Equipment:
    """The parts of a worker for a benchmark, opened with its own settings.

    Raises KoderzError if the benchmark cannot run there under the conditions of its journal.
    """
    from koderz_core.dask_engine.door import Equipment, differing_isolation  # noqa: PLC0415 (as in ``Engines.open``)

    opened, header = _opened(terms.settings), terms.header
    settings, elsewhere = opened.settings, terms.settings[OWNER] != platform.node()
    try:
        require_strategies(header.benchmark, header.plan.configurations, settings)
        now = of_kinds(get_args(Kind)) | conditions(header.plan.configurations, settings)
        check_same(header.benchmark, now, header.plan.conditions)
        tested = opened.grading.sandbox.self_test()
        if reason := differing_isolation(tested.isolation, header.isolation):
            raise InfrastructureError(reason)
        models = opened.models.ready(terms.models, header.plan.dataset.name)
    except BaseException:
        opened.close()
        raise
    own = frozenset(name for name in models if _is_own(name, settings, elsewhere=elsewhere))
    grading = opened.grading
    return Equipment(models, own, grading.judge, grading.divide, grading.redactor, partial(_close, opened))


def judge(given: Mapping[str, Any]) -> tuple[Judge, str]:  # Any: values of settings
    """The judge of a worker that only grades, and the tier of its sandbox. Raises SandboxError."""
    opened = _opened(given)
    return opened.grading.judge, opened.grading.sandbox.self_test().isolation


def _is_own(model: str, settings: Settings, *, elsewhere: bool) -> bool:
    """Whether only this worker reaches a model: it runs in the worker, or on the loopback of another machine."""
    urls = PROVIDERS[model.partition("/")[0]].urls(settings)
    return not urls or (elsewhere and all(map(is_loopback, urls)))


def _close(opened: Workspace) -> None:
    opened.abandon()
    opened.close()


def _write_workers(settings: Settings, benchmark: str, workers: Mapping[str, tuple[str, ...]]) -> None:
    """Write the experiments of each worker where other processes find them; none: remove the file."""
    path = workers_file(settings, benchmark)
    with suppress(OSError):  # a full disk: nothing but the page Live needs it
        if workers:
            replace_file(path, msgspec.json.encode(workers), durable=False)
        else:
            path.unlink(missing_ok=True)


def workers_file(settings: Settings, benchmark: str) -> Path:
    """The file that names the experiments of each worker while a benchmark runs on workers."""
    return settings.cache_dir / "dask" / f"{benchmark}.workers"


def experiments_by_worker(settings: Settings, benchmark: str) -> Mapping[str, tuple[str, ...]]:
    """The ids of the experiments that each worker runs now; empty if the benchmark does not run on workers."""
    path = workers_file(settings, benchmark)
    try:
        if time.time() - path.stat().st_mtime > STALE_SECONDS:  # the owner was killed
            return {}
        return msgspec.json.decode(path.read_bytes(), type=dict[str, tuple[str, ...]])
    except (OSError, msgspec.MsgspecError):
        return {}

"""Repository tasks from packages and folders: one dataset file for all sources, and the trees in the data folder.

Trials are kept in the folder ``forge`` of the data folder, so that the same command continues after an interruption.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from koderz_core.config import Settings
from koderz_core.datasets.own_problems import load_path
from koderz_core.datasets.trees import keep_tree
from koderz_core.errors import DataError
from koderz_core.files import replace_file
from koderz_core.forge.instructions import fault_of_text, instruction, request, with_task
from koderz_core.forge.layout import layout_of
from koderz_core.forge.package_index import Release
from koderz_core.forge.ready import RELEASES, STANDARD, TASKS, wanted
from koderz_core.forge.sources import Source, read_release, read_source
from koderz_core.forge.tasks import Forge, Progress, Task
from koderz_core.forge.trials import LEAST_SECONDS, TrialLog, kept_base
from koderz_core.models.catalogue import resolve
from koderz_core.sandbox.repository.judge import RepositoryJudge
from koderz_core.workspace.grading import Grading, Watch, iter_only
from koderz_core.workspace.models import Models

__all__ = ["RELEASES", "STANDARD", "TASKS", "ForgeOrder", "Forged", "ForgedSource", "Forging"]

INSTRUCTION_TOKENS = 400


@dataclass(frozen=True, slots=True)
class ForgeOrder:
    """What to make. ``sources``: NAME==VERSION, folders, ``.tar.gz`` files, or only ``STANDARD``.

    ``tasks``: in total; None: the number of the ready set, otherwise 50 per source. ``name``: of the dataset file; ""
    for one that follows from the sources. ``output``: where to write it; None: the data folder. ``indexes``: addresses
    of package indexes; none: those of pip. ``model``: writes the texts of the tasks; "" for a template.
    """

    sources: tuple[str, ...]
    tasks: int | None = None
    seed: int = 0
    least_failing: int = 2
    name: str = ""
    output: Path | None = None
    indexes: tuple[str, ...] = ()
    model: str = ""
    workers: int = 1


@dataclass(frozen=True, slots=True)
class ForgedSource:
    """What became of a source. ``tests`` pass on the correct tree, ``protected`` of them are checked from outside.

    ``tried``: faults that were tried; ``reasons``: how many of them made no task, and why. ``seconds``: of all tests of
    the correct tree once. ``by_template``: texts of a model that were refused, with the reasons.
    """

    name: str
    licence: str
    tree: str
    archive: str
    tests: int
    protected: int
    tried: int
    tasks: int
    reasons: dict[str, int]
    seconds: float
    by_template: dict[str, int]


@dataclass(frozen=True, slots=True)
class Forged:
    """A dataset file. ``dataset``: the name for ``--dataset``. Texts may be hostile."""

    file: Path
    dataset: str
    tasks: int
    sources: tuple[ForgedSource, ...]


class Forging:
    """Makes tasks. Opens the sandbox only for trials that are not kept."""

    def __init__(self, settings: Settings, grading: Grading, models: Callable[[], Models]) -> None:
        self._settings, self._grading, self._models = settings, grading, models

    def forge(self, order: ForgeOrder, watch: Watch = iter_only) -> Forged:
        """Make the tasks of an order and write them. ``watch`` sees the tasks of each source, for progress.

        Raises UsageError, DataError, OfflineError, SandboxError, ModelError. Trials are kept, whatever ends the work.
        """
        wanted_sources, number = wanted(order.sources, order.tasks)
        if order.model:
            resolve(order.model, self._settings)
        read = [self._source(source, order) for source in wanted_sources]
        name = order.name or (STANDARD if STANDARD in order.sources else read[0].name)
        path = order.output or self._folder / f"{_file_name(name)}.jsonl"
        rows: list[dict[str, Any]] = []  # Any: JSON
        sources: list[ForgedSource] = []
        for place, source in enumerate(read):
            share = (number - len(rows)) // (len(read) - place)  # later sources make what an earlier one lacks
            found, made = self._forged(source, share, order, watch)
            rows += made
            sources.append(found)
        if not rows:
            raise DataError(_without(sources))
        replace_file(path, b"".join(json.dumps(row).encode() + b"\n" for row in rows), private=False)
        return Forged(path, load_path(path, self._settings).origin.name, len(rows), tuple(sources))

    @property
    def _folder(self) -> Path:
        return self._settings.home / "forge"

    def _source(self, source: str | Release, order: ForgeOrder) -> Source:
        if isinstance(source, Release):
            return read_release(source, order.indexes, self._settings)
        return read_source(source, order.indexes, self._settings)

    def _forged(
        self, source: Source, share: int, order: ForgeOrder, watch: Watch
    ) -> tuple[ForgedSource, list[dict[str, Any]]]:  # Any: JSON
        layout = layout_of(source.name, source.files)
        tree = keep_tree(source.files, source.name, source.licence, self._settings)
        isolation = self._grading.judge.isolation
        judge = RepositoryJudge(isolation, self._settings.bwrap, workers=order.workers, least_seconds=LEAST_SECONDS)
        kept = self._folder / f"{_file_name(source.name)}-{tree.sha256[:12]}"
        progress = [Progress(0, 0, Counter())]
        refused: Counter[str] = Counter()
        try:
            base = kept_base(kept.with_name(f"{kept.name}.base.json"), tree, layout, judge)
            log = TrialLog(kept.with_name(f"{kept.name}.trials.jsonl"))
            forge = Forge(base, judge, log, order.workers, order.seed, order.least_failing)
            with closing(forge.tasks(progress.append)) as tasks:
                rows = [
                    task.row(self._text(task, order.model, refused), source.sha256)
                    for task in watch(islice(tasks, share), share, source.name)
                ]
        finally:
            judge.close()
        last = progress[-1]
        found = ForgedSource(
            name=tree.name,
            licence=tree.licence,
            tree=tree.sha256,
            archive=source.sha256,
            tests=len(base.passing),
            protected=len(base.protected),
            tried=last.tried,
            tasks=len(rows),
            reasons=dict(last.reasons),
            seconds=base.seconds,
            by_template=dict(refused),
        )
        return found, rows

    def _text(self, task: Task, model: str, refused: Counter[str]) -> str:
        """The text that a model writes for a task, kept in a file; "" if the template is to be used."""
        if not model:
            return ""
        card = resolve(model, self._settings)
        path = self._folder / "texts" / _file_name(card.id) / f"{_file_name(task.id)}.txt"
        if path.is_file():
            text = path.read_text(encoding="utf-8")
        else:
            prompt = self._settings.redaction().text(request(task.base.tree.name, task.trial))
            text = self._models().ask(card.id, prompt, INSTRUCTION_TOKENS).text
            replace_file(path, text.encode(errors="replace"))
        known = instruction(task.base.tree.name, task.trial)
        if fault := fault_of_text(text, task.fault, task.mutation.place.name, known):
            refused[fault] += 1
            return ""
        return with_task(text, task.trial)


def _file_name(name: str) -> str:
    """A name that is safe as that of a file."""
    return "".join(sign if sign.isalnum() or sign in "._-" else "-" for sign in name)[:80].lstrip(".") or "tasks"


def _without(sources: Sequence[ForgedSource]) -> str:
    reasons = Counter[str]()
    for source in sources:
        reasons.update(source.reasons)
    listed = (
        "; ".join(f"{reason}: {number}" for reason, number in reasons.most_common(5))
        or "koderz could not insert any fault"
    )
    return (
        f"koderz made no task, because it found no suitable fault ({listed}). Choose another source or another "
        "--seed, or use --least-failing 1."
    )

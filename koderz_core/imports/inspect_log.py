"""Reads logs of Inspect (``.eval``) with the API of ``inspect_ai``, a few samples at a time.

Inspect reads a copy that koderz packed from the checked content, so every limit applies to what Inspect unpacks.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import isclose, isnan
from pathlib import Path
from typing import Any, TypeVar

from koderz_core.errors import DataError, UsageError
from koderz_core.grading.grader import KINDS
from koderz_core.imports.fields import cut, name, number, text, tier, truth, whole
from koderz_core.imports.inspect_archive import repack
from koderz_core.imports.records import NOT_STATED, STATED, Result, ResultFile
from koderz_core.input_files import listed_faults
from koderz_core.input_tables import Row
from koderz_core.records import Cost, Usage
from koderz_core.report.formats import numbered

FORMAT = "inspect"
_AT_ONCE = 16  # samples in memory
_OPTIONS: Mapping[str, Any] = {  # Any: arguments of inspect_ai
    "resolve_attachments": "core",
    "exclude_fields": {"events", "store", "timelines", "messages"},
}
_REPORTED = "reported"  # the kind of scores that an imported file stated; earlier logs have it only as the scorer
_MIXED = "mixed"  # the only scorer in a log that koderz wrote with scores of several kinds
_NO_MODEL = "none/none"
_NO_ANSWER = "N"  # Inspect counts it as incorrect
_NO_RESULT = (None, "")
_MOST_ERROR = 2000  # characters

Answer = TypeVar("Answer")
Key = tuple[int | str, int]
"""The id and the epoch of a sample."""


def read_inspect_log(path: Path, content: bytes, model: str, scorer: str) -> ResultFile:
    """The samples of a log. ``model``: if the log names none. ``scorer``: whose scores count, "" for the only one.

    Raises DataError, UsageError if ``inspect_ai`` is not installed.
    """
    _require_package()  # before unpacking: it teaches zipfile the compression of its logs
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "log.eval"
        repack(path, content, copy)
        log = _Log(path, copy, model, scorer)
        results, faults = [], []
        for place, sample in enumerate(log.samples(), start=1):
            try:
                results.append(log.result(place, sample))
            except DataError as fault:
                faults.append(f"sample {cut(str(sample.id))!r}, epoch {sample.epoch}: {fault}")
        remark = log.remark(len(results))
    if faults:
        raise DataError(
            f"{path} ({FORMAT}) has {numbered(len(faults), 'invalid sample')}, so nothing was imported:"
            f"{listed_faults(faults)}\nCorrect these samples with the API of Inspect, or run the evaluation again."
        )
    chosen = f"{FORMAT}, scorer {log.scorer}" if log.scorer else FORMAT
    return ResultFile(path, chosen, content, tuple(results), remark)


class _Log:
    """One log. Every method may raise DataError. ``scorer``: whose scores count, "" if the log has no scores."""

    def __init__(self, path: Path, copy: Path, model: str, scorer: str) -> None:
        from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries  # noqa: PLC0415 (optional, heavy)

        self._path, self._copy = path, copy
        self._header = self._read(lambda: read_eval_log(copy, header_only=True))
        if self._header.status == "started":
            raise DataError(
                f"{path} is the log of an evaluation that has not ended. Import it when the evaluation has ended. If "
                "the evaluation was killed, first run `inspect log recover` or `inspect eval-retry` on this log."
            )
        self._samples, self._scorers = self._read(lambda: _keys(read_eval_log_sample_summaries(copy)))
        self.scorer = self._choose(scorer)
        metadata = self._header.eval.metadata or {}
        self._own = "koderz_version" in metadata
        stated = metadata.get("label") if self._own else self._header.eval.model
        try:
            self._model = name({"model": None if stated == _NO_MODEL else stated}, "model", model)
            self._dataset = name({"dataset": self._header.eval.dataset.name}, "dataset", "")
        except DataError as fault:
            raise DataError(f"{path}, header: {fault}. Export the log again.") from fault

    def samples(self) -> Iterator[Any]:  # Any: EvalSample of inspect_ai
        """All samples, epoch by epoch."""
        for start in range(0, len(self._samples), _AT_ONCE):
            keys = self._samples[start : start + _AT_ONCE]
            try:
                yield from self._some(keys)
            except DataError:
                for id_, epoch in keys:  # one at a time, so that the message names the sample
                    self._some([(id_, epoch)], f", sample {cut(str(id_))!r}, epoch {epoch},")
                raise

    def _some(self, keys: Sequence[Key], where: str = "") -> list[Any]:  # Any: as above
        from inspect_ai.log import read_eval_log_samples_by_id  # noqa: PLC0415 (as above)

        samples: list[Any] = self._read(partial(read_eval_log_samples_by_id, self._copy, keys, **_OPTIONS), where)
        if [(sample.id, sample.epoch) for sample in samples] != list(keys):
            raise DataError(
                f"{self._path}{where} is inconsistent: the id or the epoch of a sample does not match the log's list "
                "of samples."
            )
        return samples

    def result(self, place: int, sample: Any) -> Result:  # Any: as above
        """The result of a sample. A DataError names neither the file nor the sample."""
        row: Row = {
            "id": str(sample.id),
            "input": _prompt(sample.input),
            **(self._program(sample) if self._own else {"answer": sample.output.completion or ""}),
            **(self._measured(sample) if self._own else _used(sample)),
        }
        usd = number(row, "cost_usd")
        error = _error(sample)
        kind = next((each for each in KINDS if each in row), "")
        return Result(
            place,
            self._model,
            name(row, "id"),
            self._dataset,
            text(row, "input"),
            None if error else self._passed(sample),
            text(row, kind) if kind else None,
            kind,
            Usage(whole(row, "input_tokens"), whole(row, "output_tokens")),
            NOT_STATED if usd is None else Cost(usd, STATED),
            number(row, "seconds"),
            error,
            tier=tier(sample.metadata, "tier") if self._own else None,
        )

    def remark(self, results: int) -> str:
        """What is missing from an incomplete log, "" if it is complete."""
        status = self._header.status
        if status == "success":
            return ""
        return f"The evaluation ended with the status {status!r}, so the log has only {numbered(results, 'result')}."

    def _choose(self, scorer: str) -> str:
        known = self._scorers
        names = ", ".join(map(cut, known)) or "none"
        if scorer and scorer not in known:
            raise UsageError(f"{self._path} has no scorer {scorer!r}. Its scorers: {names}.")
        if len(known) > 1 and not scorer:
            raise UsageError(f"{self._path} has several scorers: {names}. Choose one with --metric NAME.")
        return scorer or next(iter(known), "")

    def _passed(self, sample: Any) -> bool | None:  # Any: as above
        score = (sample.scores or {}).get(self.scorer)
        value = None if score is None else score.value
        if value in _NO_RESULT or (isinstance(value, float) and isnan(value)):
            return None
        field = f"score of {cut(self.scorer)}"
        return False if value == _NO_ANSWER else truth({field: value}, field)

    def _program(self, sample: Any) -> Row:  # Any: as above
        """The program of a sample in a log that koderz wrote, because the answer could be read as another program."""
        kind = sample.metadata.get("score_kind") or self.scorer
        if kind == _REPORTED:
            return {}
        scores = sample.scores or {}  # scores that another scorer added later have other answers
        score = scores.get(kind) or scores.get(_MIXED)
        if score is None or score.answer is None:
            return {"answer": sample.output.completion or ""}
        return {"solution": score.answer}

    def _measured(self, sample: Any) -> Mapping[str, object]:  # Any: as above
        """What koderz measured of the sample, in a log that koderz wrote."""
        fields = ("input_tokens", "output_tokens", "cost_usd", "seconds")
        return {field: sample.metadata.get(field) for field in fields}

    def _read(self, read: Callable[[], Answer], where: str = "") -> Answer:
        try:
            return read()
        except Exception as error:  # inspect_ai raises errors of any class for a damaged log
            why = cut(" ".join((str(error) or type(error).__name__).split()))
            raise DataError(
                f"{self._path}{where} cannot be read as a log of Inspect: {why}. Run the evaluation again, or ask the "
                "author of the log for another copy."
            ) from error


def _require_package() -> None:
    try:
        import inspect_ai.log  # noqa: F401, PLC0415 (as above)
    except ImportError:
        raise UsageError("To read logs of Inspect, install inspect-ai: pip install 'koderz[inspect]'") from None


def _keys(summaries: Iterable[Any]) -> tuple[tuple[Key, ...], tuple[str, ...]]:  # Any: EvalSampleSummary
    """The samples of a log, and the names of its scorers. Raises DataError for a sample that occurs twice."""
    samples: dict[tuple[str, int], Key] = {}
    scorers: dict[str, None] = {}
    for summary in summaries:
        if (str(summary.id), summary.epoch) in samples:
            raise DataError(f"sample {cut(str(summary.id))!r}, epoch {summary.epoch}, occurs twice")
        samples[str(summary.id), summary.epoch] = (summary.id, summary.epoch)
        scorers |= dict.fromkeys(summary.scores or ())
    if not samples:
        raise DataError("it has no samples")
    return tuple(sorted(samples.values(), key=lambda key: key[1])), tuple(scorers)


def _prompt(given: Any) -> str:  # Any: a text, or messages of inspect_ai
    if isinstance(given, str):
        return given
    return "\n\n".join(message.text for message in given if message.role == "user")


def _used(sample: Any) -> Mapping[str, object]:  # Any: as above
    """The usage of all models except that of a grader."""
    usages = [*sample.model_usage.values()]
    grader = sample.role_usage.get("grader")
    row: dict[str, object] = {"seconds": sample.total_time if sample.working_time is None else sample.working_time}
    if not usages:
        return row
    costs = [usage.total_cost for usage in usages]
    minus = 0 if grader is None else 1
    row["input_tokens"] = sum(map(_input, usages)) - (minus and _input(grader))
    row["output_tokens"] = sum(usage.output_tokens for usage in usages) - (minus and grader.output_tokens)
    row["cost_usd"] = None if None in costs else _rest(sum(costs), minus and (grader.total_cost or 0))
    return row


def _rest(total: float, part: float) -> float:
    """The total without a part. Rounding never makes it negative."""
    rest = total - part
    return 0.0 if rest < 0 and isclose(total, part) else rest


def _input(usage: Any) -> int:  # Any: a ModelUsage of inspect_ai, which counts cached tokens apart
    total: int = usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return total


def _error(sample: Any) -> str:  # Any: as above
    """Why a sample has no result, "" if it has one."""
    if sample.invalidation:
        return f"invalidated: {sample.invalidation.reason or 'no reason stated'}"[:_MOST_ERROR]
    if sample.error is None:
        return ""
    message = text({"error": sample.error.message}, "error").strip()
    return message[:_MOST_ERROR] or "an error without a message"

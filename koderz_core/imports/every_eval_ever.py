"""Reads Every Eval Ever of the EvalEval coalition: lines about single samples, and aggregates that name their file.

koderz' own exports and those of the format's converters (Inspect, HELM, lm-eval) differ in what they state; see
docs/importing.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Set
from pathlib import Path

from koderz_core.errors import DataError
from koderz_core.imports.fields import cut, name, number, text, tier, truth, whole
from koderz_core.imports.records import NOT_STATED, STATED, Result
from koderz_core.input_files import json_object, read_unpacked
from koderz_core.input_tables import Row
from koderz_core.records import Cost, Usage

_PARTS = ("input", "output", "evaluation", "token_usage", "performance", "metadata")
_REQUIRED = ("input", "evaluation")
_OWN = "metadata.koderz_configuration"
"""Only lines that koderz wrote have it; it names the configuration."""
_SHOWN = 5


def is_sample(fields: Set[str]) -> bool:
    """Whether a line with these fields is a sample of this format."""
    return {"evaluation_id", "sample_id", "evaluation"} <= fields


def of_every_eval_ever(line: int, row: Row, _model: str) -> Iterator[Result]:
    """One sample. A sample with an ``error`` has no result."""
    flat = _flat(row)
    passed = truth(flat, "evaluation.is_correct")
    if passed is None:
        raise DataError("evaluation.is_correct is missing")
    own = flat.get(_OWN) is not None
    cost = number(flat, "metadata.cost_usd")
    answer = _answer(flat)
    program, kind = _own_program(flat) if own else (answer, "" if answer is None else "answer")
    yield Result(
        line,
        name(flat, _OWN if own else "model_id"),
        name(flat, "sample_id"),
        name(flat, "evaluation_name", ""),
        text(flat, "input.raw"),
        passed=passed,
        program=program,
        kind=kind,
        usage=_usage(flat),
        cost=NOT_STATED if cost is None else Cost(cost, STATED),
        seconds=_seconds(flat, own=own),
        error=text(flat, "error") if flat.get("error") else "",
        metric=_metric(name(flat, "evaluation_result_id", "")),
        tier=tier(flat, "metadata.tier") if own else None,
    )


def _metric(result: str) -> str:
    """The metric of a result. The converter for HELM writes ``METRIC:SPLIT:PERTURBATION``; a sample has one split."""
    metric, *rest = result.split(":")
    return ":".join((metric, *rest[1:]))


def _flat(row: Row) -> Row:
    """The fields of a line; those of its parts have the name of the part before them. A part may be null."""
    flat = dict(row)
    for part in _PARTS:
        value = row.get(part)
        if value is None and part not in _REQUIRED:
            continue
        if not isinstance(value, dict):
            raise DataError(f"{part} is {'missing' if value is None else 'not a JSON object'}")
        flat |= {f"{part}.{key}": held for key, held in value.items()}
    return flat


def _answer(flat: Row) -> str | None:
    """The model's only or last answer; None without one, or if there are several to choose from."""
    if messages := _objects(flat, "messages"):
        said = [message for message in messages if message.get("role") == "assistant" and message.get("content")]
        return text(said[-1], "content") if said else None
    answers = flat.get("output.raw")
    if answers is not None and not isinstance(answers, list):
        raise DataError("output.raw is not a list")
    return text({"output.raw": answers[0]}, "output.raw") if answers and len(answers) == 1 else None


def _own_program(flat: Row) -> tuple[str | None, str]:
    """The program that koderz returned, "" for none; None if koderz has never had it."""
    if flat.get("metadata.koderz_score_kind") == "reported":
        return None, ""
    returned = [each for each in _objects(flat, "answer_attribution") if each.get("is_terminal") is True]
    return (text(returned[-1], "extracted_value") if returned else ""), "solution"


def _objects(flat: Row, key: str) -> list[Row]:
    value = flat.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise DataError(f"{key} is not a list of JSON objects")
    return value


def _usage(flat: Row) -> Usage:
    """The tokens as koderz counts them: input with those of a cache, output with those of thoughts.

    Some tools count one or both of these apart. Then the total is larger than the sum of input and output by exactly
    this number. If the total has another difference, the tokens are unknown.
    """
    kinds = ("input", "output", "total", "reasoning")
    input_, output, total, reasoning = (whole(flat, f"token_usage.{kind}_tokens") for kind in kinds)
    read, written = (whole(flat, f"token_usage.input_tokens_cache_{way}") for way in ("read", "write"))
    if input_ is None or output is None or total is None:
        return Usage(input_, output, read, written)
    cached, thoughts = (read or 0) + (written or 0), reasoning or 0
    known = {cached + thoughts: (cached, thoughts), thoughts: (0, thoughts), cached: (cached, 0), 0: (0, 0)}
    added = known.get(total - input_ - output)  # of equal differences, the last one counts
    return Usage() if added is None else Usage(input_ + added[0], output + added[1], read, written)


def _seconds(flat: Row, *, own: bool) -> float | None:
    """The time of the whole experiment if koderz wrote the line, else that of the model.

    The converter for Inspect writes only the time of waiting as ``latency_ms``.
    """
    latency, generation = (number(flat, f"performance.{kind}_ms") for kind in ("latency", "generation_time"))
    found = latency if own or generation is None else generation
    return None if found is None else found / 1000


def samples_of(path: Path, content: bytes, cure: str) -> tuple[Path, bytes]:
    """The file of samples that an aggregate names, and its content; of any other file, the file itself.

    Raises DataError if there is no such file beside the aggregate, or if it has changed since.
    """
    if ".json" not in path.suffixes:
        return path, content
    try:
        aggregate = json_object(content)
    except DataError:
        return path, content
    if not {"evaluation_results", "model_info"} <= aggregate.keys():
        return path, content
    details = aggregate.get("detailed_evaluation_results")
    details = details if isinstance(details, dict) else {}
    beside = _beside(path, details.get("file_path"))
    if beside is None:
        raise DataError(
            f"{path} has no results for individual samples, only {_scores(aggregate)}. koderz needs the result of each "
            "sample, because it compares models problem by problem. If there is a file "
            f"{path.stem.removesuffix('.json')}_samples.jsonl, put it into the folder of {path.name}."
        )
    samples = read_unpacked(beside, cure)
    checksum = details.get("checksum") if details.get("hash_algorithm") == "sha256" else None
    if checksum is not None and checksum != hashlib.sha256(samples).hexdigest():
        raise DataError(
            f"The SHA-256 of {beside} differs from the value in {path}, so these files do not belong together. To "
            f"import the samples anyway, give the path of {beside.name} instead."
        )
    return beside, samples


def _beside(path: Path, stated: object) -> Path | None:
    """The file of samples in the folder of an aggregate. The folders that the aggregate states are ignored."""
    last = stated.replace("\\", "/").rpartition("/")[2] if isinstance(stated, str) else ""
    names = (last, f"{path.stem.removesuffix('.json')}_samples.jsonl")
    return next((path.with_name(each) for each in names if _is_file(path, each)), None)


def _is_file(path: Path, beside: str) -> bool:
    try:
        return beside.endswith(".jsonl") and beside.isprintable() and path.with_name(beside).is_file()
    except (ValueError, OSError):
        return False


def _scores(aggregate: Row) -> str:
    """What an aggregate states: the score of each evaluation, and its number of samples."""
    found: list[str] = []
    results = aggregate.get("evaluation_results")
    for result in results if isinstance(results, list) else []:
        details = result.get("score_details") if isinstance(result, dict) else None
        if not isinstance(details, dict):
            continue
        uncertainty = details.get("uncertainty")
        samples = uncertainty.get("num_samples") if isinstance(uncertainty, dict) else None
        number_of = "an unknown number of" if samples is None else cut(str(samples))
        found.append(
            f"the score {cut(str(details.get('score')))} for {cut(str(result.get('evaluation_name')))!r} "
            f"({number_of} samples)"
        )
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ("; ".join(found[:_SHOWN]) or "an aggregate without scores") + more

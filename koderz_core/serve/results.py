"""The endpoints that read results and start benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, BinaryIO, TypeVar

from starlette.responses import Response, StreamingResponse

from koderz_core.errors import RequestError, UnknownNameError
from koderz_core.plan.order import Order, Wanted
from koderz_core.records import Budget
from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.report.comparison import comparison_numbers
from koderz_core.report.export_request import MEDIA_TYPES, ExportOrder
from koderz_core.serve.endpoint import HEADERS, Call, Endpoint
from koderz_core.serve.parts import Parts
from koderz_core.serve.records import (
    ComparisonQuery,
    ExperimentsQuery,
    LaunchAnswer,
    LaunchRequest,
    TableQuery,
)

Answer = TypeVar("Answer")
_PIECE_BYTES = 1 << 16


async def _read(parts: Parts, call: Call, read: Callable[[], Answer]) -> Answer:
    """The result of ``read``, in a thread. Raises RequestError if too many clients are reading, and as ``read``."""
    (result,) = await parts.reading.run(call.client, [read])
    if isinstance(result, Exception):
        raise result
    return result


async def benchmarks(parts: Parts, call: Call) -> list[BenchmarkRow]:
    return await _read(parts, call, parts.workspace.results.benchmarks)


async def benchmark(parts: Parts, call: Call) -> list[SummaryRow]:
    def read() -> list[SummaryRow]:
        results = parts.workspace.results
        return results.reached(results.summaries(parts.workspace.names.benchmark(call.path["benchmark"])))

    return await _read(parts, call, read)


async def experiments(parts: Parts, call: Call) -> list[ExperimentRow]:
    query: ExperimentsQuery = call.query

    def read() -> list[ExperimentRow]:
        results = parts.workspace.results
        found = parts.workspace.names.benchmark(call.path["benchmark"])
        problem, outcome = results.find_problem(query.problem, found), "solved" if query.solved else None
        return results.experiments(found, problem, outcome, query.limit)  # type: ignore[arg-type]  # a Literal

    return await _read(parts, call, read)


async def comparison(parts: Parts, call: Call) -> object:
    query: ComparisonQuery = call.query

    def read() -> object:
        comparisons = parts.workspace.comparisons
        rows = comparisons.named(query.of, same_problems=query.same_problems)
        if not rows:
            raise RequestError("There are no results to compare yet. Run a benchmark first.", 404)
        rows = rows if query.baseline else comparisons.with_baseline(rows)
        return comparison_numbers(comparisons.compare(rows, query.baseline))

    return await _read(parts, call, read)


async def table(parts: Parts, call: Call) -> Response:
    query: TableQuery = call.query

    def read() -> BinaryIO:
        exports = parts.workspace.exports
        order = ExportOrder(call.path["table"], "json", query.of, query.columns, same_problems=query.same_problems)
        return exports.file(exports.resolve(order))

    file = await _read(parts, call, read)
    return StreamingResponse(_pieces(file), headers=HEADERS, media_type=MEDIA_TYPES["jsonl"])


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


async def launch(parts: Parts, call: Call) -> LaunchAnswer:
    if not parts.token:
        raise RequestError(
            "This server cannot start benchmarks, because no token is set. Set KODERZ_SERVE_TOKEN, restart the server, "
            "and send the token in the header Authorization: Bearer TOKEN.",
            403,
        )
    return await _read(parts, call, partial(_launch, parts, call.body))


def _launch(parts: Parts, request: LaunchRequest) -> LaunchAnswer:
    """Start a benchmark in the background, never with another budget than that of the request.

    Raises UsageError, InfrastructureError. A strategy in a file is unknown here, because only ``configuration_of``
    reads such a file.
    """
    workspace = parts.workspace
    datasets = workspace.datasets.names()
    if request.dataset.partition(",")[0] not in datasets:  # never the path of a file
        raise UnknownNameError("dataset", request.dataset, datasets)
    wanted = [
        Wanted(each.strategy, each.models, each.parameters, each.gate, each.feedback) for each in request.configurations
    ]
    order = Order(wanted, request.problems, request.seed, request.repeats, request.name, Budget(request.max_cost_usd))
    plan = workspace.plans.plan(order, request.dataset)
    budget = workspace.runs.under_last_budget(plan).budget
    if budget != plan.budget:
        raise RequestError(
            f"The budget of {plan.id} was changed to {budget.usd} US dollars while the benchmark was running. To start "
            "the benchmark, send this amount or a new amount as max_cost_usd.",
            409,
        )
    started = workspace.runs.start(plan, request.concurrency)
    return LaunchAnswer(started, len(plan.experiments()))


_ROWS = list[dict[str, Any]]  # Any: JSON; the columns are those of the command in the summary
ENDPOINTS = (
    Endpoint("GET", "/v1/benchmarks", "All benchmarks, the newest first.", benchmarks, _ROWS),
    Endpoint("POST", "/v1/benchmarks", "Start a benchmark.", launch, LaunchAnswer, LaunchRequest, status=202),
    Endpoint(
        "GET",
        "/v1/benchmarks/{benchmark}",
        "The output of `koderz results BENCHMARK --limit 0 --json`.",
        benchmark,
        _ROWS,
    ),
    Endpoint(
        "GET",
        "/v1/benchmarks/{benchmark}/experiments",
        "The output of `koderz results BENCHMARK --experiments --json`, with at most `limit` experiments.",
        experiments,
        _ROWS,
        query=ExperimentsQuery,
    ),
    Endpoint(
        "GET",
        "/v1/comparison",
        "The output of `koderz compare --format json`.",
        comparison,
        dict[str, Any],
        query=ComparisonQuery,
    ),
    Endpoint(
        "GET",
        "/v1/tables/{table}",
        "The output of `koderz export --table TABLE --format json`: JSON lines.",
        table,
        "application/jsonl",
        query=TableQuery,
    ),
)

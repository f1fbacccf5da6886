"""The data dictionary: the columns of every table that koderz exports, and the meaning of each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from koderz_core.errors import UnknownNameError
from koderz_core.report.attempts import ATTEMPTS
from koderz_core.report.columns import Column, Type, json, number, text, usd, whole, yes
from koderz_core.report.configuration_columns import CONFIGURATIONS, SAW_BASE_TESTS, curve_columns
from koderz_core.report.difficulty import PROBLEMS
from koderz_core.report.pair_columns import PAIRS
from koderz_core.report.spending import MARGINS, TIERS
from koderz_core.report.supervision import REVIEW, SUPERVISION

SQL_TYPES: Mapping[Type, str] = {
    "text": "varchar",
    "integer": "bigint",
    "number": "double",
    "yes/no": "boolean",
    "JSON": "json",
}


@dataclass(frozen=True, slots=True)
class Table:
    """A table: what one of its lines is, and its columns in their order."""

    about: str
    columns: Sequence[Column]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


_BENCHMARK = text("benchmark", "id of the benchmark")
_ORIGIN = (
    text("dataset", "name of the dataset"),
    text("dataset_sha256", "SHA-256 of the dataset's unpacked file"),
    text("licence", "licence of the dataset"),
)
_CONFIGURATION = (
    text("configuration", "id of the configuration: strategy, parameters, models"),
    text("label", "short name of the configuration"),
    text("strategy", "name of the strategy"),
    text("models", "the models of each role: `coder: a, b; reviewer: c`"),
    text("problem", "id of the problem"),
    whole("repeat", "number of the repeat of the configuration on the problem, from 0"),
)
_OF = (_BENCHMARK, *_ORIGIN, *_CONFIGURATION)
_SHARED = "whether tests ran in the program's own process, which could in principle fake the results"

EXPERIMENTS: tuple[Column, ...] = (
    text("id", "id of the experiment"),
    *_OF,
    text("state", "`planned`, `running`, `interrupted` (no process runs it) or `finished`"),
    text(
        "outcome",
        "`solved`, `unsolved`, `cancelled` or `error` (koderz' or the provider's); during a retry, the previous one",
        "the experiment has not ended",
    ),
    text(
        "reason",
        "why it stopped: `gate`, `iterations`, `budget`, `context` or `gave_up`",
        "the experiment has no result",
    ),
    text("score_kind", "`held_out`, or `oracle` if the loop stopped on the tests that score it", "no result"),
    text("code", "SHA-256 of the program that was returned", "no program was returned"),
    yes(
        "gate_passed", "whether the returned program passed the gate tests", "the program was not scored on these tests"
    ),
    whole(
        "gate_tests_passed",
        "gate tests that the returned program passed",
        "the program was not scored on these tests",
        "tests",
    ),
    whole("gate_tests_total", "number of gate tests", "the program was not scored on these tests", "tests"),
    yes(
        "held_out_passed",
        "whether the returned program passed the held-out tests",
        "the program was not scored on these tests",
    ),
    whole(
        "held_out_tests_passed",
        "held-out tests that the returned program passed",
        "the program was not scored on these tests",
        "tests",
    ),
    whole("held_out_tests_total", "number of held-out tests", "the program was not scored on these tests", "tests"),
    whole("iterations", "programs that its loop tested; 0 if one was submitted untested, as by `direct`"),
    whole("calls", "requests to models that were answered"),
    whole("input_tokens", "tokens sent in answered calls, with cached ones", "a call did not report them", "tokens"),
    whole("output_tokens", "tokens received in answered calls", "a call did not report them", "tokens"),
    usd(
        "cost_usd",
        "price of its answered calls, and of local calls that failed or were interrupted",
        "an answered call has no known price",
    ),
    whole("unpriced", "answered calls without a known price"),
    number("seconds", "how long it took", "the experiment has not ended", "s"),
    number("started_at", "when it started", "the experiment has not started", "s since 1970"),
    number("finished_at", "when it ended", "the experiment has not ended", "s since 1970"),
    text("failure", "error class of the returned program", "the program passed, or there is no result"),
    text("error", "an error outside the model, or the prompt that did not fit, in words", "no error"),
    text("isolation", "sandbox tier that programs ran in: `hardened`, `strong` or `limited`"),
    text("self_test", "checks of the sandbox that passed before the benchmark, as `17/17`; empty if unknown"),
    yes("shared", _SHARED, "not scored"),
    yes("saw_base_tests", SAW_BASE_TESTS),
)

ITERATIONS: tuple[Column, ...] = (
    *_OF,
    text("experiment", "id of the experiment"),
    whole("iteration", "number of the iteration in its experiment, from 1"),
    whole("ordinal", "position among all steps of the experiment", "unknown"),
    number("at", "when its tests had finished", "", "s since 1970"),
    text("code", "SHA-256 of the program", "the reply contained no program"),
    text("how", "rule that extracted the program from the reply: `fence`, `fence-last`, `unfinished-fence`, ..."),
    yes("passed", "whether the program passed all gate tests"),
    text("marks", "a character per gate test: `P` passed, `F` failed, `-` not reached"),
    whole("tests_passed", "gate tests passed", "", "tests"),
    whole("tests_total", "number of gate tests", "", "tests"),
    text("error", "error class of the first failure, such as `syntax`, `assertion`, `timeout`", "no test failed"),
    text("message", "message of the first failure; text of the program; may be empty"),
    number("seconds", "how long its tests took", "", "s"),
    text("isolation", "sandbox tier in which the program ran"),
    json("failures", "the tests that failed: place, source, expected, actual, message"),
    yes("shared", _SHARED),
    json("test_seconds", "how long each test took, in order; empty if unknown", "", "s"),
    text("program", "the program, as the model wrote it", "the reply contained no program"),
)

CALLS: tuple[Column, ...] = (
    *_OF,
    text("experiment", "id of the experiment"),
    whole("ordinal", "position among all steps of the experiment"),
    whole("attempt", "attempt at the same request, from 1"),
    number("at", "when it started", "", "s since 1970"),
    text("role", "role of the model in the strategy, such as `coder` or `reviewer`"),
    whole("member", "number of the model within its role, from 0"),
    text("model", "id of the model"),
    text("tier", "`local`, `small_frontier` or `frontier`", "unknown"),
    text("state", "`started` (its end was not recorded), `finished`, `failed` or `interrupted` (by a stop or a crash)"),
    whole("input_tokens", "tokens sent, including cached ones", "not reported", "tokens"),
    whole("output_tokens", "tokens received", "not reported", "tokens"),
    whole("cache_read_tokens", "tokens read from the provider's cache", "not reported", "tokens"),
    whole("cache_write_tokens", "tokens written to the provider's cache", "not reported", "tokens"),
    usd(
        "cost_usd",
        "price of the call; for a local call without an answer, of the machine's time",
        "no known price, or a paid call that did not finish",
    ),
    text("cost_source", "source of the price, with its version", "as `cost_usd`"),
    number("seconds", "how long it took", "the end of the call was not recorded", "s"),
    number("first_token_seconds", "time until the first token arrived", "the answer was not streamed", "s"),
    text("finish", "how the answer ended: `stop`, `length`, `refused` or `empty`", "not finished"),
    json("sampling", "sampling that was requested; null means the provider's default"),
    json("honoured", "sampling that was sent", "not finished"),
    json("messages", "messages that were sent: role and SHA-256 of each text"),
    text("text", "SHA-256 of the answer", "not finished"),
    text("message", "reason for the failure", "the call did not fail"),
    text("service_tier", "service tier, as the provider names it (`flex`, `batch`, ...)", "not reported"),
    number("machine_seconds", "its share of this machine's time, for local models", "not local, or not finished", "s"),
    number("gpu_joules", "its share of the energy of this machine's GPUs", "not local, or not measured", "J"),
    number("kwh", "energy used, for local models", "not local, or unknown", "kWh"),
    usd("energy_usd", "the part of `cost_usd` that pays for energy", "not local, or unknown"),
    usd("rental_usd", "price of the same tokens if the same weights were rented", "no rental price is known"),
    whole("status", "HTTP status of a failure", "the call did not fail, or no HTTP answer arrived"),
    number("wait_seconds", "wait before the next attempt", "no further attempt", "s"),
    yes(
        "arrived",
        "whether a failed request may have reached the provider, who may charge for it",
        "the call did not fail",
    ),
)

TABLES: Mapping[str, Table] = {
    "experiments": Table("one line per experiment: outcome, tests, tokens, cost, time", EXPERIMENTS),
    "iterations": Table("one line per tested program, with the program and the test results", ITERATIONS),
    "calls": Table("one line per request to a model: tokens, time, price and its source", CALLS),
    "comparison": Table("one line per configuration: rate, price and ceiling, with intervals", CONFIGURATIONS),
    "pairs": Table("one line per configuration: compared with the baseline on the same problems", PAIRS),
}
"""By name; the columns are in the order in which they are written."""

HEAD = """# Data dictionary

The columns of the tables that the page Export and `koderz export` write, then of the tables that other pages and
commands give. `koderz export --dictionary` prints this.

Times are seconds since 1970 (UTC), durations are in seconds, money is in US dollars, intervals have a level of 95 %. A
missing value is an empty cell in CSV and null elsewhere; it is never zero. A SHA-256 identifies a text: a program, a
message, an answer. Texts of models, problems and tests are exported unchanged: treat them as untrusted. JSON is written
as text in CSV and Parquet.
"""


FURTHER: Mapping[str, Table] = {
    "attempts": Table(
        "one line per configuration and attempt; page Compare, `koderz compare --attempts --format json`", ATTEMPTS
    ),
    "tiers": Table(
        "one line per configuration and tier of models; page Compare, `koderz compare --format json`", TIERS
    ),
    "curves": Table(
        "one line per configuration and step of its curve, on the axis `usd`, `attempts` or `seconds`; page Compare, "
        "`koderz compare --format json`",
        curve_columns("usd"),
    ),
    "margins": Table("one line per step along the Pareto frontier; `koderz compare --format json`", MARGINS),
    "supervision": Table("one line per configuration with reviews; `koderz analyze --json`", SUPERVISION),
    "reviews": Table(
        "one line per configuration and checkpoint; `koderz compare --format json`, `koderz analyze --json`", REVIEW
    ),
    "problems": Table("one line per problem and configuration; page Problems, `koderz problems --json`", PROBLEMS),
}
"""Tables that pages and commands give together with what they show."""


def table_named(table: str) -> Table:
    """A table by its name. Raises UnknownNameError."""
    if table not in TABLES:
        raise UnknownNameError("table", table, TABLES)
    return TABLES[table]


def checked_columns(table: str, columns: Sequence[str]) -> tuple[str, ...]:
    """These columns without duplicates. Raises UnknownNameError for a column that the table does not have."""
    known = table_named(table).names
    for name in columns:
        if name not in known:
            raise UnknownNameError(f"column of {table}", name, known)
    return tuple(dict.fromkeys(columns))


def sql_types(table: str) -> Mapping[str, str]:
    """The SQL type of each column."""
    return {column.name: SQL_TYPES[column.type] for column in table_named(table).columns}


def markdown() -> str:
    """The whole dictionary, as in docs/data-dictionary.md."""
    parts = [HEAD]
    for name, table in (*TABLES.items(), *FURTHER.items()):
        head = ("| column | type | unit | meaning | missing means |", "|---|---|---|---|---|")
        lines = [
            f"| `{column.name}` | {column.type} | {column.unit} | {column.meaning} | {column.missing} |"
            for column in table.columns
        ]
        parts.append("\n".join((f"## {name}\n\n{table.about[0].upper()}{table.about[1:]}.\n", *head, *lines, "")))
    return "\n".join(parts)

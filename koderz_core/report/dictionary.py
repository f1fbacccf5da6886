"""The data dictionary: the columns of every table that koderz exports, and the meaning of each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from koderz_core.errors import UnknownNameError
from koderz_core.report.columns import Column, Type, json, number, text, usd, whole, yes
from koderz_core.report.configuration_columns import CONFIGURATIONS, SAW_BASE_TESTS, SEARCHED
from koderz_core.report.equal_cost import BANDS
from koderz_core.report.noise import NOISE
from koderz_core.report.pair_columns import PAIRS
from koderz_core.report.sampling import PASS_RATES
from koderz_core.report.trust import TRUST

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
    text("dataset_sha256", "SHA-256 of the decompressed file of the dataset"),
    text("licence", "licence of the dataset"),
)
_CONFIGURATION = (
    text("configuration", "id of the configuration (its strategy, parameters and models)"),
    text("label", "short name of the configuration"),
    text("strategy", "name of the strategy"),
    text("models", "the models of each role: `coder: a, b; reviewer: c`"),
    text("problem", "id of the problem"),
    whole(
        "repeat", "number of the repeat, from 0; each repeat is one experiment with the same configuration and problem"
    ),
)
_OF = (_BENCHMARK, *_ORIGIN, *_CONFIGURATION)
_OPEN = "the call did not finish"
_NO_ENERGY = "the model is not local, or the energy of the call is unknown"
_SHARED = "whether tests ran in the same process as the program; if yes, the program could fake their results"

EXPERIMENTS: tuple[Column, ...] = (
    text("id", "id of the experiment"),
    *_OF,
    text(
        "state",
        "`planned`, `running`, `interrupted` (started, but no process runs the experiment any more) or `finished`",
    ),
    text(
        "outcome",
        "`solved`, `unsolved`, `cancelled` or `error` (of koderz or a provider); during a retry, the previous outcome",
        "the experiment has not ended",
    ),
    text(
        "reason",
        "why the experiment stopped: `gate` (the returned program had passed the gate tests in the loop), `iterations` "
        "(the returned program had not passed the gate tests in the loop), `budget` (the limit per experiment was "
        "reached), `context` (a prompt was too long) or `gave_up` (no program was returned)",
        "the experiment has no result",
    ),
    text(
        "score_kind",
        "what scores the program: `held_out` tests, `oracle` if the tests that stop the loop also score the program, "
        "or `reported` if the result was taken from an imported file",
        "the experiment has no result",
    ),
    text("code", "SHA-256 of the program that was returned", "no program was returned"),
    yes(
        "gate_passed", "whether the returned program passed the gate tests", "the program was not scored on these tests"
    ),
    whole(
        "gate_tests_passed",
        "number of gate tests that the returned program passed",
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
        "number of held-out tests that the returned program passed",
        "the program was not scored on these tests",
        "tests",
    ),
    whole("held_out_tests_total", "number of held-out tests", "the program was not scored on these tests", "tests"),
    whole(
        "iterations",
        "number of programs that the loop tested; programs that were submitted without a test, as in `direct`, do not "
        "count",
    ),
    whole("calls", "number of answered calls to models"),
    whole(
        "input_tokens",
        "tokens sent in answered calls, including cached tokens",
        "the provider did not report the tokens of a call",
        "tokens",
    ),
    whole(
        "output_tokens",
        "tokens received in answered calls",
        "the provider did not report the tokens of a call",
        "tokens",
    ),
    usd(
        "cost_usd",
        "cost of all answered calls, and of local calls that failed or were interrupted",
        "an answered call has no known price",
    ),
    whole("unpriced", "number of answered calls without a known price"),
    number(
        "seconds",
        "duration of the experiment",
        "the experiment has not ended, or an imported file does not state the duration",
        "s",
    ),
    number("started_at", "time at which the experiment started", "the experiment has not started", "s since 1970"),
    number("finished_at", "time at which the experiment ended", "the experiment has not ended", "s since 1970"),
    text(
        "failure",
        "error class of the returned program, such as `syntax`, `assertion`, `timeout`",
        "the program passed, or there is no result",
    ),
    text(
        "error", "message of an error that the model did not cause, or the note that a prompt is too long", "no error"
    ),
    text("isolation", "sandbox tier in which the programs ran: `hardened`, `strong` or `limited`"),
    text("self_test", "result of the sandbox self-test, such as `17/17` if 17 of 17 checks passed; empty if unknown"),
    yes("shared", _SHARED, "the program was not scored"),
    whole(
        "reasoning_tokens",
        "number of reasoning tokens, which are part of `output_tokens`",
        "the provider did not report the reasoning tokens of a call",
        "tokens",
    ),
    yes("saw_base_tests", SAW_BASE_TESTS),
    yes("searched", SEARCHED),
    whole("cached", "number of answers from the response cache; they cost nothing, and their time is not measured"),
)

ITERATIONS: tuple[Column, ...] = (
    *_OF,
    text("experiment", "id of the experiment"),
    whole("iteration", "number of the iteration in its experiment, from 1"),
    whole("ordinal", "position among all recorded steps of the experiment (calls, tests, notes and others)", "unknown"),
    number("at", "time at which the tests of the program finished", "", "s since 1970"),
    text("code", "SHA-256 of the program", "the answer contained no program"),
    text("how", "rule that extracted the program from the answer: `fence`, `fence-last`, `unfinished-fence`, ..."),
    yes("passed", "whether the program passed all gate tests"),
    text("marks", "one character per gate test: `P` passed, `F` failed, `-` not reached"),
    whole("tests_passed", "number of gate tests that the program passed", "", "tests"),
    whole("tests_total", "number of gate tests", "", "tests"),
    text("error", "error class of the first failure, such as `syntax`, `assertion`, `timeout`", "no test failed"),
    text("message", "message of the first failure; it may be empty, and the program may have written it"),
    number("seconds", "duration of all tests of the program", "", "s"),
    text("isolation", "sandbox tier in which the program ran"),
    json("failures", "each failed test with its position, source, expected value, actual value and message"),
    yes("shared", _SHARED),
    json("test_seconds", "duration of each test, in the order of the tests; empty if unknown", "", "s"),
    text("program", "the program, as the model wrote it", "the answer contained no program"),
)

CALLS: tuple[Column, ...] = (
    *_OF,
    text("experiment", "id of the experiment"),
    whole("ordinal", "position among all recorded steps of the experiment (calls, tests, notes and others)"),
    whole("attempt", "1 for the first call with this request, 2 for the first retry, and so on"),
    number("at", "time at which the call started", "", "s since 1970"),
    text("role", "role of the model in the strategy, such as `coder` or `reviewer`"),
    whole("member", "number of the model within its role, from 0"),
    text("model", "id of the model"),
    text("tier", "`local`, `small_frontier` or `frontier`", "unknown"),
    text(
        "state",
        "`started` (the end of the call was not recorded), `finished`, `failed` or `interrupted` (by a stop or a "
        "crash)",
    ),
    whole("input_tokens", "tokens sent, including cached tokens", "not reported", "tokens"),
    whole("output_tokens", "tokens received", "not reported", "tokens"),
    whole("cache_read_tokens", "tokens read from the provider's cache", "not reported", "tokens"),
    whole("cache_write_tokens", "tokens written to the provider's cache", "not reported", "tokens"),
    usd(
        "cost_usd",
        "cost of the call; for a local call without an answer, the cost of the machine's time",
        "the price is unknown, or a paid call did not finish",
    ),
    text("cost_source", "source of the price, and the version of this source", "`cost_usd` is missing"),
    number(
        "seconds",
        "duration of the call",
        "the end of the call was not recorded, or an imported file does not state the duration",
        "s",
    ),
    number("first_token_seconds", "time until the first token arrived", "the answer was not streamed", "s"),
    text("finish", "how the answer ended: `stop`, `length`, `refused`, `empty` or `timeout`", _OPEN),
    json("sampling", "sampling parameters that the strategy requested; null or missing: the provider's default"),
    json("honoured", "sampling parameters that koderz sent", _OPEN),
    json("messages", "messages that koderz sent: role and SHA-256 of each text"),
    text("text", "SHA-256 of the answer", _OPEN),
    text("message", "reason for the failure", "the call did not fail"),
    text("service_tier", "service tier, as the provider names it (`flex`, `batch`, ...)", "not reported"),
    number(
        "machine_seconds",
        "the part of this machine's time that is attributed to the call, for local models",
        "the model is not local, or the call did not finish",
        "s",
    ),
    number(
        "gpu_joules",
        "the part of the energy of this machine's GPUs that is attributed to the call",
        "the model is not local, or the energy was not measured",
        "J",
    ),
    number(
        "cpu_joules",
        "the part of the energy of this machine's processors that is attributed to the call",
        "the model is not local, or the energy was not measured",
        "J",
    ),
    number("kwh", "energy that the call used, for local models", _NO_ENERGY, "kWh"),
    usd("energy_usd", "the part of `cost_usd` that pays for energy", _NO_ENERGY),
    usd(
        "rental_usd",
        "price that a provider hosting the same weights would charge for the tokens of the call, for local models",
        "no price of such a provider is known",
    ),
    whole("status", "HTTP status of the failed call", "the call did not fail, or no HTTP response arrived"),
    number("wait_seconds", "waiting time before the retry of this call", "no retry was planned", "s"),
    yes(
        "arrived",
        "whether a failed request may have reached the provider; if yes, the provider may charge for it",
        "the call did not fail",
    ),
    text(
        "cached_from",
        "id of the experiment from which koderz reused the answer",
        "the answer is not from the response cache",
    ),
    usd(
        "cached_usd",
        "cost of the original call, whose answer koderz reused",
        "the answer is not from the response cache, or the price is unknown",
    ),
    whole(
        "reasoning_tokens",
        "number of reasoning tokens, which are part of `output_tokens`",
        "not reported",
        "tokens",
    ),
)

LABELS: tuple[Column, ...] = (
    text("experiment", "id of the experiment"),
    text("kind", "`label`, or `note` for the note on the experiment"),
    text("text", "the label or the note, as a person wrote it"),
    number("at", "time at which the label was added or the note was written", "", "s since 1970"),
    *_OF,
)

TABLES: Mapping[str, Table] = {
    "experiments": Table("one line per experiment: outcome, tests, tokens, cost, time", EXPERIMENTS),
    "iterations": Table("one line per tested program, with the program and the test results", ITERATIONS),
    "calls": Table("one line per call to a model: tokens, time, price and source of the price", CALLS),
    "comparison": Table(
        "one line per configuration: success rate, cost and verifier precision, with intervals", CONFIGURATIONS
    ),
    "pairs": Table("one line per configuration that is compared with the baseline on the same problems", PAIRS),
    "pass_rates": Table(
        "one line per configuration, kind of draw (experiments or samples) and k: pass@k and pass^k, each with an "
        "interval for this k alone",
        PASS_RATES,
    ),
    "noise": Table(
        "one line per configuration, and one line per difference from the baseline: standard error of the success "
        "rate or of the difference, and how much the choice of problems and the randomness of draws add to this error",
        NOISE,
    ),
    "bands": Table(
        "one line per step of each configuration's success curve, for each axis (such as dollars): budget, share of "
        "problems solved within this budget, and simultaneous confidence band",
        BANDS,
    ),
    "trust": Table(
        "one line per configuration: results on variants of the problems, and likeness of the programs to the "
        "canonical solutions",
        TRUST,
    ),
    "labels": Table("one line per label or note that a person added to an experiment", LABELS),
}
"""By name; the columns are in the order in which they are written."""


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

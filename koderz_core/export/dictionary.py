"""The data dictionary: every table that can be taken away, with what each of its columns means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from koderz_core.errors import UnknownNameError

Type = Literal["text", "integer", "number", "yes/no", "JSON"]

SQL_TYPES: Mapping[Type, str] = {
    "text": "varchar",
    "integer": "bigint",
    "number": "double",
    "yes/no": "boolean",
    "JSON": "json",
}


SAW_BASE_TESTS = "whether the loop shows its models base tests with their expected values once a program has failed"


@dataclass(frozen=True, slots=True)
class Column:
    """One column; ``missing``: what it means that a cell is empty, itself empty where none ever is."""

    name: str
    type: Type
    meaning: str
    missing: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Described:
    """A table: what a line of it is, and its columns in their order."""

    about: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


def whole(name: str, meaning: str, missing: str = "", unit: str = "") -> Column:
    """A whole number."""
    return Column(name, "integer", meaning, missing, unit)


def text(name: str, meaning: str, missing: str = "") -> Column:
    return Column(name, "text", meaning, missing)


def number(name: str, meaning: str, missing: str = "", unit: str = "") -> Column:
    return Column(name, "number", meaning, missing, unit)


def yes(name: str, meaning: str, missing: str = "") -> Column:
    """A yes or a no."""
    return Column(name, "yes/no", meaning, missing)


def usd(name: str, meaning: str, missing: str = "a price is not known") -> Column:
    return Column(name, "number", meaning, missing, "USD")


def spread(name: str, meaning: str, missing: str, unit: str = "share") -> tuple[Column, ...]:
    """A number with both ends of its 95 % interval."""
    return (
        number(name, meaning, missing, unit),
        number(f"{name}_low", f"lower end of the 95 % interval of `{name}`", missing, unit),
        number(f"{name}_high", f"upper end of the 95 % interval of `{name}`", missing, unit),
    )


def said(name: str) -> Column:
    """What a number is that is missing because it has no end or makes no sense."""
    return text(
        f"{name}_is", f"`unbounded` or `undefined`: why `{name}` is missing", f"`{name}` is a number or unknown"
    )


_BENCHMARK = text("benchmark", "id of the benchmark")
_ORIGIN = (
    text("dataset", "name of the dataset"),
    text("dataset_sha256", "SHA-256 of the dataset's unpacked file"),
    text("licence", "licence of the dataset"),
)
_CONFIGURATION = (
    text("configuration", "id of the configuration: strategy, parameters, models"),
    text("label", "the configuration in short, as it is shown everywhere"),
    text("strategy", "name of the strategy"),
    text("models", "which models play which role: `coder: a, b; reviewer: c`"),
    text("problem", "id of the problem"),
    whole("repeat", "which repeat of the same configuration on the same problem, from 0"),
)
_OF = (_BENCHMARK, *_ORIGIN, *_CONFIGURATION)
_SHARED = "whether tests ran in the program's own process, which could in principle fake what it reports"

EXPERIMENTS: tuple[Column, ...] = (
    text("id", "id of the experiment"),
    *_OF,
    text("state", "`planned`, `running`, `interrupted` (nobody is at it) or `finished`"),
    text(
        "outcome",
        "`solved`, `unsolved`, `cancelled` or `error` (ours or the provider's); while it runs again, the one before",
        "it never ended",
    ),
    text("reason", "why it stopped: `gate`, `iterations`, `budget`, `context` or `gave_up`", "it has no result"),
    text("score_kind", "`held_out`, or `oracle` where the loop stopped on the very tests that score it", "no result"),
    text("code", "SHA-256 of the program that was returned", "none was returned"),
    yes("gate_passed", "whether the returned program passed the gate tests", "not scored on them"),
    whole("gate_tests_passed", "gate tests that the returned program passed", "not scored on them", "tests"),
    whole("gate_tests_total", "gate tests there are", "not scored on them", "tests"),
    yes("held_out_passed", "whether the returned program passed the held-out tests", "not scored on them"),
    whole("held_out_tests_passed", "held-out tests that the returned program passed", "not scored on them", "tests"),
    whole("held_out_tests_total", "held-out tests there are", "not scored on them", "tests"),
    whole("iterations", "programs that its loop tested; 0 if one was submitted untested, as by `direct`"),
    whole("calls", "requests to models that were answered"),
    whole("input_tokens", "tokens sent in answered calls, those of caches too", "a call did not report them", "tokens"),
    whole("output_tokens", "tokens received in answered calls", "a call did not report them", "tokens"),
    usd(
        "cost_usd",
        "price of its answered calls, and of the local calls that failed or were interrupted",
        "an answered call has no known price",
    ),
    whole("unpriced", "answered calls without a known price"),
    number("seconds", "how long it took", "it has not ended", "s"),
    number("started_at", "when it began", "it has not begun", "s since 1970"),
    number("finished_at", "when it ended", "it has not ended", "s since 1970"),
    text("failure", "error class of the returned program", "it passed, or there is no result"),
    text("error", "what went wrong beside the model, or which prompt did not fit, in words", "nothing did"),
    text("isolation", "sandbox tier that programs ran in: `hardened`, `strong` or `limited`"),
    text("self_test", "how many checks of the sandbox passed before the benchmark, as `17/17`; empty if unknown"),
    yes("shared", _SHARED, "not scored"),
    yes("saw_base_tests", SAW_BASE_TESTS),
)

ITERATIONS: tuple[Column, ...] = (
    *_OF,
    text("experiment", "id of the experiment"),
    whole("iteration", "number of the iteration in its experiment, from 1"),
    whole("ordinal", "place among all steps of the experiment, in program order", "not known"),
    number("at", "when its tests had run", "", "s since 1970"),
    text("code", "SHA-256 of the program", "the reply held none"),
    text("how", "rule that found the program in the reply: `fence`, `fence-last`, `unfinished-fence`, ..."),
    yes("passed", "whether it passed all gate tests"),
    text("marks", "a character per gate test: `P` passed, `F` failed, `-` not reached"),
    whole("tests_passed", "gate tests passed", "", "tests"),
    whole("tests_total", "gate tests there are", "", "tests"),
    text("error", "error class of the first failure, such as `syntax`, `assertion`, `timeout`", "none failed"),
    text("message", "what the first failure said; a program's words; may be empty"),
    number("seconds", "how long its tests took", "", "s"),
    text("isolation", "sandbox tier that ran it"),
    Column("failures", "JSON", "the tests that failed: place, source, expected, actual, message"),
    yes("shared", _SHARED),
    Column("test_seconds", "JSON", "how long each test took, in order; empty where that is not known", "", "s"),
    text("program", "the program itself, as the model wrote it", "the reply held none"),
)

CALLS: tuple[Column, ...] = (
    *_OF,
    text("experiment", "id of the experiment"),
    whole("ordinal", "place among all steps of the experiment, in program order"),
    whole("attempt", "attempt at the same request, from 1"),
    number("at", "when it was begun", "", "s since 1970"),
    text("role", "part of the model in the strategy, such as `coder` or `reviewer`"),
    whole("member", "which model of its role, from 0"),
    text("model", "id of the model"),
    text("tier", "`local`, `small_frontier` or `frontier`", "not known"),
    text("state", "`started` (its end was never seen), `finished`, `failed` or `interrupted` (by a stop or a crash)"),
    whole("input_tokens", "tokens sent, those of caches too", "not reported", "tokens"),
    whole("output_tokens", "tokens received", "not reported", "tokens"),
    whole("cache_read_tokens", "tokens read from the provider's cache", "not reported", "tokens"),
    whole("cache_write_tokens", "tokens written to the provider's cache", "not reported", "tokens"),
    usd(
        "cost_usd",
        "price of the call; without an answer, the machine's time",
        "no known price, or paid and not finished",
    ),
    text("cost_source", "where the price comes from, with its version", "as `cost_usd`"),
    number("seconds", "how long it took", "its end was never seen", "s"),
    number("first_token_seconds", "until the first token came", "it was not streamed", "s"),
    text("finish", "how the answer ended: `stop`, `length`, `refused` or `empty`", "not finished"),
    Column("sampling", "JSON", "sampling that was asked for; a null in it leaves the provider's default"),
    Column("honoured", "JSON", "sampling that was really sent", "not finished"),
    Column("messages", "JSON", "messages that were sent: role and SHA-256 of each text"),
    text("text", "SHA-256 of the answer", "not finished"),
    text("message", "why it failed", "it did not fail"),
    text("service_tier", "how the provider processed it, in its word (`flex`, `batch`, ...)", "not reported"),
    number("machine_seconds", "its share of this machine's time, of local models", "not local, or not finished", "s"),
    number("gpu_joules", "its share of the energy of this machine's GPUs", "not local, or not measured", "J"),
    number("kwh", "energy in it, of local models", "not local, or unknown", "kWh"),
    usd("energy_usd", "the part of `cost_usd` that pays for energy", "not local, or unknown"),
    usd(
        "rental_usd", "what the same tokens cost from the same weights where they are rented", "no such offer is known"
    ),
    whole("status", "HTTP status of a failure", "it did not fail, or there was none"),
    number("wait_seconds", "after which the next attempt was due", "there was to be none", "s"),
    yes("arrived", "whether a failed request may have reached somebody, who may bill it", "it did not fail"),
)

_NO_RESULT = "no experiment has a result"
_NO_PRICE = "no result, a price is not known, or see `usd_per_solved_is`"
_NO_CEILING = "no program was put to both kinds of tests"
_NO_REVIEW = "no checkpoint reviewed anything"
_NOT_BOTH = "no problem was given to both"
_REACHED = "`reached`, `never`, `no_target` (the baseline solved nothing) or `unknown`"

COMPARISON: tuple[Column, ...] = (
    text("letter", "what the configuration is called in this comparison"),
    text("benchmark", "id of the benchmark"),
    text("configuration", "id of the configuration"),
    text("label", "the configuration in short"),
    text("strategy", "name of the strategy"),
    text("tier", "highest tier that answered a call", "no call yet"),
    yes("scripted", "whether some answers come from a script, so that they show nothing about models"),
    text("score_kind", "`held_out`; `oracle` if the loop stopped on the tests that score it; `mixed`", _NO_RESULT),
    whole("oracle_problems", "problems with a result that are scored as `oracle`", _NO_RESULT, "problems"),
    yes("saw_base_tests", SAW_BASE_TESTS),
    whole("planned", "experiments that were planned"),
    whole("n", "experiments with a result: solved and unsolved"),
    whole("solved", "experiments solved"),
    whole("unsolved", "experiments unsolved"),
    whole("errors", "experiments that ended as our or the provider's error; no rate counts them"),
    whole("cancelled", "experiments that somebody or the benchmark's budget stopped; no rate counts them"),
    whole("running", "experiments that somebody is at now"),
    whole("not_ended", "planned experiments that have not ended, the running ones among them"),
    *spread("share", "share solved of `n`; interval by Wilson, with repeats clustered by problem", _NO_RESULT),
    number(
        "share_worst", "share solved of `planned` if none without a result was solved", "nothing is planned", "share"
    ),
    number(
        "share_best", "share solved of `planned` if all without a result were solved", "nothing is planned", "share"
    ),
    text("groups", "numbers of its rank groups, 1 the best: who shares one cannot be told apart; may be empty"),
    *spread("usd_per_solved", "dollars of the experiments with a result by how many were solved", _NO_PRICE, "USD"),
    *map(said, ("usd_per_solved", "usd_per_solved_low", "usd_per_solved_high")),
    usd("usd_per_experiment", "mean dollars of those that ended", "a price is not known, or see the next"),
    said("usd_per_experiment"),
    usd("cost_usd", "dollars of all its calls so far"),
    usd("rental_usd", "what its calls to local models would have cost where the same weights are rented", "not known"),
    number("seconds_per_experiment", "mean duration of those that ended", "none has ended", "s"),
    number("mean_iterations", "mean iterations of the solved and unsolved", _NO_RESULT),
    usd("usd_per_problem", "mean dollars per problem, on the problems that all have a result of", "not comparable"),
    usd("usd_per_problem_low", "lower end of the 95 % interval of `usd_per_problem`", "not comparable"),
    usd("usd_per_problem_high", "upper end of the 95 % interval of `usd_per_problem`", "not comparable"),
    yes("on_frontier", "whether nothing here is both cheaper and better", "not comparable"),
    number("frontier_probability", "share of resamples that leave it unbeaten", "not comparable", "share"),
    *spread("ceiling", "P(held-out tests pass if the gate passes): the ceiling of trying on", _NO_CEILING),
    *spread("false_positives", "P(gate passes though held-out tests fail)", _NO_CEILING),
    whole("solved_before_help", "solved before the first checkpoint", _NO_REVIEW),
    whole("solved_after_help", "solved after it", _NO_REVIEW),
    whole("never_solved", "not solved", _NO_REVIEW),
    number("frontier_share_of_usd", "dollars that went to models of the frontier tiers", "unknown, or none", "share"),
    number("frontier_share_of_tokens", "tokens that went to models of the frontier tiers", "unknown, or none", "share"),
)

PAIRS: tuple[Column, ...] = (
    text("letter", "what the configuration is called in this comparison"),
    text("configuration", "the configuration, as benchmark/configuration"),
    text("baseline", "what it is held against, as benchmark/configuration"),
    whole("n", "problems with a result of both", "", "problems"),
    whole("unpaired", "problems with a result of only one, left out", "", "problems"),
    whole("both", "problems that both solved, with repeats equally often", "", "problems"),
    whole("only_a", "problems that only the configuration solved, or more often", "", "problems"),
    whole("only_b", "problems that only the baseline solved, or more often", "", "problems"),
    whole("neither", "problems that neither solved", "", "problems"),
    number("difference", "share solved less the baseline's", "`n` is 0", "share"),
    number(
        "low",
        "lower end of the interval of `difference` (Bonett-Price, compatible with `told_apart`)",
        "`n` is 0",
        "share",
    ),
    number("high", "its upper end; an end of 0 is itself left out if `told_apart`", "`n` is 0", "share"),
    number("p", "two-sided p of `method`", "`n` is 0"),
    text("method", "`exact McNemar`, with repeats `label permutation`"),
    number("p_adjusted", "p adjusted by Holm over all pairs", "`n` is 0"),
    whole("missing", "experiments of the two without a result, on problems that both were given"),
    number(
        "p_worst",
        "the largest `p_adjusted` that the missing results allow; above 0.05 perhaps not the largest",
        "`n` is 0",
    ),
    number("difference_worst", "`difference` with its missing unsolved and the baseline's solved", _NOT_BOTH, "share"),
    number("difference_best", "`difference` with its missing solved and the baseline's unsolved", _NOT_BOTH, "share"),
    yes("told_apart", "whether `p_adjusted` and `p_worst` are at most 0.05", "`n` is 0"),
    *spread("price_ratio", "dollars per solved problem by the baseline's", "not known", "times"),
    *map(said, ("price_ratio", "price_ratio_low", "price_ratio_high")),
    whole("pairs_at_once", "how many pairs the intervals hold for at once (Bonferroni)"),
    usd("break_even_usd", "dollars per problem at which it solves as many as the baseline", "see the next"),
    text("break_even_is", f"{_REACHED}: whether there is such a price"),
    usd("break_even_low", "lower end of the interval of `break_even_usd`", "see the next"),
    text("break_even_low_is", f"{_REACHED}: what the lower end is"),
    usd("break_even_high", "upper end of the interval of `break_even_usd`", "see the next"),
    text("break_even_high_is", f"{_REACHED}: what the upper end is"),
    number("break_even_never", "share of resamples in which it never solves as many", "not known", "share"),
    whole(
        "saved_problems", "problems that both solved, which the next six are about", "nothing to compare", "problems"
    ),
    *spread("saved_usd", "mean dollars that it spent less than the baseline on each", "nothing to compare", "USD"),
    *spread("saved_share", "`saved_usd` by the baseline's dollars", "nothing to compare, or a free baseline"),
)

TABLES: Mapping[str, Described] = {
    "experiments": Described("one line per experiment: outcome, tests, tokens, cost, time", EXPERIMENTS),
    "iterations": Described(
        "one line per program that was tried, with the program and what the tests said", ITERATIONS
    ),
    "calls": Described("one line per request to a model: tokens, time, price and where it came from", CALLS),
    "comparison": Described("one line per configuration: rate, price, ceiling, with their intervals", COMPARISON),
    "pairs": Described("one line per configuration held against the baseline on the same problems", PAIRS),
}
"""By name; the columns of each stand in the order in which they are written."""

HEAD = """# Data dictionary

What the tables hold that the page Export and `koderz export` write. `koderz export --dictionary` prints this.

Times are seconds since 1970 (UTC), durations seconds, money US dollars, intervals 95 %. A missing value is an empty
cell in CSV and null elsewhere; it is never zero. SHA-256 names a text: a program, a message, an answer. Texts of
models, problems and tests are exported as they are: treat them as a stranger's. JSON stands as text in CSV and Parquet.
"""


def described(table: str) -> Described:
    """What a table is. Raises UnknownNameError."""
    if table not in TABLES:
        raise UnknownNameError("table", table, TABLES)
    return TABLES[table]


def checked(table: str, columns: Sequence[str]) -> tuple[str, ...]:
    """These columns, each once. Raises UnknownNameError for one that the table does not have."""
    known = described(table).names
    for name in columns:
        if name not in known:
            raise UnknownNameError(f"column of {table}", name, known)
    return tuple(dict.fromkeys(columns))


def sql_types(table: str) -> Mapping[str, str]:
    """The SQL type of each column."""
    return {column.name: SQL_TYPES[column.type] for column in described(table).columns}


def markdown() -> str:
    """The whole dictionary, as it stands in docs/data-dictionary.md."""
    parts = [HEAD]
    for name, table in TABLES.items():
        head = ("| column | type | unit | meaning | missing means |", "|---|---|---|---|---|")
        lines = [f"| `{one.name}` | {one.type} | {one.unit} | {one.meaning} | {one.missing} |" for one in table.columns]
        parts.append("\n".join((f"## {name}\n\n{table.about[0].upper()}{table.about[1:]}.\n", *head, *lines, "")))
    return "\n".join(parts)

"""The columns of configurations in a comparison: for files, tables and the data dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from koderz_core.report.columns import (
    NAMED,
    Column,
    Numbers,
    Shown,
    if_known,
    interval,
    json_rows,
    number,
    reasons,
    share,
    text,
    usd,
    whole,
    yes,
)
from koderz_core.report.formats import (
    CASES,
    case_bounds,
    chance,
    duration,
    marked_rate,
    money,
    money_of,
    money_span,
    rate,
    share_cases,
    solved_rate,
)

if TYPE_CHECKING:  # numpy is slow to import
    from koderz_core.analysis.comparison import Comparison, Measured
    from koderz_core.analysis.configurations import ConfigurationFigures
    from koderz_core.analysis.pairs import Key
    from koderz_core.analysis.tradeoff import Point

AXIS_UNITS = {
    "attempts": "attempts",
    "usd": "US dollars",
    "seconds": "seconds",
    "tokens": "tokens",
    "joules": "joules of local models",
}
SAW_BASE_TESTS = (
    "whether models see base tests with their expected values, in the feedback on failed programs or in the text of "
    "each problem"
)
SEARCHED = "whether prompts contained results of a web search, which may contain solutions"


@dataclass(frozen=True, slots=True)
class ConfigurationRow:
    """A configuration with all its results in a comparison.

    ``point``: None if it is not comparable in cost and success. ``groups``: numbers of its rank groups, 1 is the best.
    """

    of: ConfigurationFigures
    measured: Measured
    point: Point[Key] | None
    groups: str

    @property
    def oracle_problems(self) -> int | None:
        return self.of.marks.oracle_problems if self.of.n else None


def configurations(comparison: Comparison) -> list[ConfigurationRow]:
    """A row per configuration."""
    placed = {point.key: point for point in comparison.tradeoff.points}
    return [
        ConfigurationRow(
            configuration,
            comparison.measured[configuration.key],
            placed.get(configuration.key),
            " ".join(
                str(place) for place, group in enumerate(comparison.groups, start=1) if configuration.key in group
            ),
        )
        for configuration in comparison.configurations
    ]


def configuration_rows(comparison: Comparison) -> list[Numbers]:
    """One flat row per configuration."""
    return json_rows(CONFIGURATIONS, configurations(comparison))


def _of_planned(row: ConfigurationFigures) -> str:
    return f"{row.n}/{row.planned}"


def _cost(point: Point[Key]) -> str:
    return money_span(point.usd, point.usd_low, point.usd_high)


def _success(row: ConfigurationRow) -> str | None:
    point = row.point
    return marked_rate(point.success, point.success_low, point.success_high, row.of.marks) if point else None


_MEAN = if_known("{:.1f}".format)
_NO_RESULT = "no experiment has a result"
_NO_PRICE = "no result, an unknown price, or a number that is not finite (see `usd_per_solved_is`)"
_NO_CEILING = "no program ran on both gate tests and held-out tests"
_NO_REVIEW = "no review took place"
_NONE_PLANNED = "no experiment is planned"
_NOT_COMPARABLE = (
    "the configuration has no result, a price is unknown, or no problem has a result of every configuration"
)

CONFIGURATIONS: Sequence[Column] = [
    text("letter", "the configuration's letter in this comparison", shown=Shown("", 1)),
    text("benchmark", "id of the benchmark"),
    text("configuration", "id of the configuration"),
    text("label", "short name of the configuration", shown=Shown("configuration", 2)),
    text("strategy", "name of the strategy"),
    text(
        "tier",
        "highest tier of the models that answered a call: `local`, `small_frontier` or `frontier`, in rising order",
        "no call has been answered",
    ),
    yes(
        "scripted",
        "whether a script wrote some of the answers; results with such answers show nothing about real models",
    ),
    text(
        "score_kind",
        "`held_out` if held-out tests score the programs of every problem, `oracle` if gate tests score the programs "
        "of every problem, `reported` if every result was taken from an imported file, else `mixed`",
        _NO_RESULT,
        path="of.marks.kind",
    ),
    whole(
        "oracle_problems",
        "number of problems that have a result and for which gate tests score the programs, because no test could be "
        "held out",
        _NO_RESULT,
        "problems",
        "oracle_problems",
    ),
    yes("saw_base_tests", SAW_BASE_TESTS, path="of.marks.saw_base_tests"),
    yes("searched", SEARCHED, path="of.marks.searched"),
    whole("planned", "number of planned experiments"),
    whole("n", "number of experiments with a result: solved and unsolved", shown=Shown("n", 4, _of_planned, "of")),
    whole("solved", "number of solved experiments"),
    whole("unsolved", "number of unsolved experiments"),
    whole("errors", "number of experiments that ended with an error of koderz or the provider; rates exclude them"),
    whole(
        "cancelled",
        "number of experiments stopped by a user, or because the benchmark's budget was used up; rates exclude them",
    ),
    whole("running", "number of running experiments"),
    whole("not_ended", "number of planned experiments that have not ended, including running experiments"),
    *interval(
        share(
            "share",
            "share of solved experiments among the experiments with a result, averaged over problems; Wilson interval, "
            "with repeats clustered by problem",
            _NO_RESULT,
            path="of.rate",
            shown=Shown("solved [95 %]", 3, solved_rate, "of"),
        )
    ),
    share(
        "share_worst",
        "share of planned experiments that are solved if every experiment without a result counts as unsolved",
        _NONE_PLANNED,
        path="of.cases.worst",
        shown=Shown(CASES, 5, case_bounds, "of", optional=True),
    ),
    share(
        "share_best",
        "share of planned experiments that are solved if every experiment without a result counts as solved",
        _NONE_PLANNED,
        path="of.cases.best",
    ),
    text(
        "groups",
        "numbers of the rank groups that contain the configuration, empty if no group contains it; group 1 is the "
        "best, and differences within a group are not significant (the primary comparison of a sequential benchmark "
        "is not tested)",
        path="groups",
        shown=Shown("group", 6, lambda numbers: numbers or None),
    ),
    *interval(
        usd(
            "usd_per_solved",
            "mean cost per problem, divided by the success rate; only experiments with a result count, and every "
            "problem has the same weight",
            _NO_PRICE,
            path="measured.price",
            shown=Shown("$ per solved [95 %]", 7, money_of, "measured.price"),
        )
    ),
    *reasons("usd_per_solved", "usd_per_solved_low", "usd_per_solved_high"),
    usd(
        "usd_per_experiment",
        "mean cost per experiment, over the experiments that ended",
        "an unknown price, or a number that is not finite (see `usd_per_experiment_is`)",
        path="of.cost_per_experiment_usd",
        shown=Shown("mean $", 8, money),
    ),
    *reasons("usd_per_experiment"),
    usd("cost_usd", "cost of all calls of the configuration so far", "a price is unknown"),
    whole(
        "cached",
        "number of answers from the response cache; if it is above 0, costs per experiment and durations were not "
        "measured",
    ),
    whole(
        "reasoning_tokens",
        "number of reasoning tokens in all answered calls; the output tokens and the cost include them",
        "a provider did not report them",
        "tokens",
        path="of.reasoning_tokens",
    ),
    usd(
        "rental_usd",
        "price that a provider hosting the same weights would charge for the tokens of all local calls",
        "no such price is known",
    ),
    number(
        "seconds_per_experiment",
        "mean duration of the experiments that ended",
        "no experiment has ended, an answer came from the response cache, or an imported file does not state a "
        "duration",
        "s",
        shown=Shown("mean time", 11, duration),
    ),
    number(
        "mean_iterations",
        "mean number of iterations of the experiments with a result",
        _NO_RESULT,
        shown=Shown("iterations", 10, _MEAN),
    ),
    usd(
        "usd_per_problem",
        "mean cost per problem, over the problems on which all configurations have a result",
        _NOT_COMPARABLE,
        path="point.usd",
    ),
    usd(
        "usd_per_problem_low",
        "lower end of the 95 % interval of `usd_per_problem`",
        _NOT_COMPARABLE,
        path="point.usd_low",
    ),
    usd(
        "usd_per_problem_high",
        "upper end of the 95 % interval of `usd_per_problem`",
        _NOT_COMPARABLE,
        path="point.usd_high",
    ),
    yes(
        "on_frontier",
        "whether the configuration is on the Pareto frontier: no compared configuration is both cheaper and better",
        _NOT_COMPARABLE,
        path="point.on_frontier",
    ),
    share(
        "frontier_probability",
        "share of bootstrap resamples in which the configuration is on the Pareto frontier",
        _NOT_COMPARABLE,
        path="point.probability",
        shown=Shown("P(frontier)", 9, chance),
    ),
    *interval(
        share(
            "ceiling",
            "verifier precision, P(held-out tests pass | gate tests pass): the upper limit of the success rate for any "
            "number of attempts",
            _NO_CEILING,
            path="measured.ceiling.rate",
        )
    ),
    *interval(
        share(
            "false_positives",
            "false-pass rate: P(gate tests pass | held-out tests fail)",
            _NO_CEILING,
            path="measured.ceiling.false_positives",
        )
    ),
    whole(
        "solved_before_help",
        "number of experiments solved before the first checkpoint (the first point at which the reviewer is asked)",
        _NO_REVIEW,
        path="measured.supervision.before",
    ),
    whole(
        "solved_after_help",
        "number of experiments solved after the first checkpoint",
        _NO_REVIEW,
        path="measured.supervision.after",
    ),
    whole(
        "never_solved",
        "number of experiments with a result that were not solved",
        _NO_REVIEW,
        path="measured.supervision.never",
    ),
    share(
        "frontier_share_of_usd",
        "cost of the models of the tiers `frontier` and `small_frontier`, as a share of the cost of all models",
        "a price is unknown, or the cost of all models is 0",
        path="measured.frontier.usd",
    ),
    share(
        "frontier_share_of_tokens",
        "tokens of the models of the tiers `frontier` and `small_frontier`, as a share of the tokens of all models",
        "the number of tokens is unknown, or no tokens were used",
        path="measured.frontier.tokens",
    ),
    share(
        "share_first",
        "share of experiments that were solved after at most one tested program, averaged over problems as in `share`",
        _NO_RESULT,
        path="of.first",
    ),
    share(
        "well_formed",
        "share of the models' answers in the loop that are well formed: koderz extracted a complete program in one "
        "piece (rule `fence`, `fence-last` or `prose`) or, for a repository task, a change that applies exactly as "
        "written (rule `search-replace`, `diff` or `whole-file`)",
        "the strategy tests no programs, or no iteration has ended",
        path="of.well_formed",
    ),
]

FRONTIER = (
    Shown("", path="of.letter"),
    Shown("configuration", path="of.label"),
    Shown("$ per problem [95 %]", text=_cost, path="point"),
    Shown("solved [95 %]", text=_success, path=""),
    Shown(CASES, text=if_known(share_cases), path="point.cases", optional=True),
    Shown("on the Pareto frontier", path="point.on_frontier"),
    Shown("P(frontier)", text=chance, path="point.probability"),
    Shown("on the convex hull", path="point.on_hull"),
)
"""Cost against success, on the problems with a result of all configurations: rows that have a point."""


def curve_columns(axis: str) -> Sequence[Column]:
    """The columns of a row per configuration and step of its curve along an axis."""
    return (
        *NAMED,
        number(axis, f"budget per problem, in {AXIS_UNITS[axis]}", path="at"),
        share("share", f"share of problems solved within the budget `{axis}`", path="share"),
        share("low", "lower end of the 95 % interval of `share`", path="low"),
        share("high", "upper end of the 95 % interval of `share`", path="high"),
    )


CEILINGS = (
    Shown("", path="of.letter"),
    Shown("configuration", path="of.label"),
    Shown("verifier precision [95 %]", text=rate, path="measured.ceiling.rate"),
    Shown("false-pass rate [95 %]", text=rate, path="measured.ceiling.false_positives"),
)
"""The verifier precision and the false-pass rate: rows that have a ceiling."""

GLANCE = (
    Shown("configuration", path="label"),
    Shown("solved [95 %]", text=solved_rate, path=""),
    Shown("n", text=_of_planned, path=""),
    Shown(CASES, text=case_bounds, path="", optional=True),
    Shown("mean $", text=money, path="cost_per_experiment_usd"),
    Shown("mean time", text=if_known(duration), path="seconds_per_experiment"),
    Shown("iterations", text=_MEAN, path="mean_iterations"),
)
"""Configurations without a comparison."""

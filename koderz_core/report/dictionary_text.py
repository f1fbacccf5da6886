"""The text of the data dictionary, and the tables that pages and commands give together with what they show."""

from __future__ import annotations

from collections.abc import Mapping

from koderz_core.report.attempts import ATTEMPTS
from koderz_core.report.configuration_columns import curve_columns
from koderz_core.report.dictionary import TABLES, Table
from koderz_core.report.difficulty import PROBLEMS
from koderz_core.report.equal_cost import AREAS, BREADTH, SUPPORTED
from koderz_core.report.noise import CARRIERS, DESIGNS, ITEMS
from koderz_core.report.sampling import FURTHER_DRAWS, SELECTION
from koderz_core.report.slices import SLICES
from koderz_core.report.spending import MARGINS, ROLES, TIERS
from koderz_core.report.supervision import REVIEW, SUPERVISION
from koderz_core.report.trust import SIGNS

HEAD = """# Data dictionary

This page explains the columns of all tables. You can export the first ten tables on the page Export of the dashboard
or with `koderz export`. The remaining tables are on other pages of the dashboard or in the output of other commands.
`koderz export --dictionary` prints this page.

Times are seconds since 1970 (UTC), durations are in seconds, money is in US dollars, and intervals have a confidence
level of 95 %. A missing value is an empty cell in CSV and null in other formats; it is never zero. A SHA-256 hash
identifies a text: a program, a message or an answer. Texts of models, problems and tests are exported unchanged: treat
them as untrusted. In CSV and Parquet, JSON values are written as text.
"""

FURTHER: Mapping[str, Table] = {
    "attempts": Table(
        "one line per configuration and attempt, on the page Statistics and from `koderz compare --attempts --format "
        "json`",
        ATTEMPTS,
    ),
    "tiers": Table(
        "one line per configuration and tier of models, on the page Summary and from `koderz compare --format json`",
        TIERS,
    ),
    "roles": Table(
        "one line per configuration, role and model, on the page Summary and from `koderz compare --format json`",
        ROLES,
    ),
    "curves": Table(
        "one line per point on the curve of each configuration (share of problems solved against `usd`, `attempts`, "
        "`seconds`, `tokens` or `joules`), on the page Summary and from `koderz compare --format json`",
        curve_columns("usd"),
    ),
    "margins": Table(
        "one line per pair of neighbouring configurations on the Pareto frontier, from `koderz compare --format json`",
        MARGINS,
    ),
    "supervision": Table(
        "one line per configuration with at least one checkpoint (a point at which the reviewer was asked), from "
        "`koderz analyze --json`",
        SUPERVISION,
    ),
    "reviews": Table(
        "one line per configuration and checkpoint, from `koderz compare --format json` and `koderz analyze --json`",
        REVIEW,
    ),
    "problems": Table(
        "one line per problem and configuration, on the page Problems and from `koderz problems --json`", PROBLEMS
    ),
    "slices": Table(
        "one line per configuration and slice of the problems, on the page Statistics and from `koderz compare --by "
        "difficulty --format csv` (or json)",
        SLICES,
    ),
    "signs": Table(
        "one line per configuration and kind of sign (a sign suggests that a program games its tests), on the page "
        "Statistics and from `koderz compare --trust --format json`",
        SIGNS,
    ),
    "designs": Table(
        "one line per budget and configuration, or per budget and difference from the baseline: the numbers of "
        "problems and repeats that give the smallest standard error within the budget, on the page Statistics and from "
        "`koderz compare --noise --format json`",
        DESIGNS,
    ),
    "carriers": Table(
        "one line per comparison with the baseline: the number of problems that contribute to this comparison, on the "
        "page Statistics and from `koderz compare --noise --format json`",
        CARRIERS,
    ),
    "contributions of problems": Table(
        "one line per problem: its contribution to the comparisons with the baseline, on the page Statistics and from "
        "`koderz compare --noise --format json`",
        ITEMS,
    ),
    "supported": Table(
        "one line per range of budgets in which one configuration solves significantly more problems than another "
        "configuration (simultaneous band of the difference), from `koderz compare --equal-cost usd --format json`",
        SUPPORTED,
    ),
    "areas": Table(
        "one line per configuration: the area under its curve of success against the chosen axis (such as dollars), on "
        "the page Statistics and from `koderz compare --equal-cost usd --format json`",
        AREAS,
    ),
    "breadth": Table(
        "one line per configuration and number of attempts: the share of problems solved with one budget for all "
        "problems together, from `koderz compare --equal-cost usd --format json`",
        BREADTH,
    ),
    "selection": Table(
        "one line per configuration that tested several programs per experiment: how often at least one of these "
        "programs is right (coverage), and how often a right program is submitted, from `koderz compare --pass-at-k "
        "--format json`",
        SELECTION,
    ),
    "further_draws": Table(
        "one line per configuration and kind of draw (experiments or samples): cost and gain of a further draw, from "
        "`koderz compare --pass-at-k --format json`",
        FURTHER_DRAWS,
    ),
}
"""Tables that pages and commands give together with what they show."""


def markdown() -> str:
    """The whole dictionary, as in docs/data-dictionary.md."""
    parts = [HEAD]
    for name, table in (*TABLES.items(), *FURTHER.items()):
        head = ("| column | type | unit | meaning | meaning of a missing value |", "|---|---|---|---|---|")
        lines = [
            f"| `{column.name}` | {column.type} | {column.unit} | {column.meaning} | {column.missing} |"
            for column in table.columns
        ]
        parts.append("\n".join((f"## {name}\n\n{table.about[0].upper()}{table.about[1:]}.\n", *head, *lines, "")))
    return "\n".join(parts)

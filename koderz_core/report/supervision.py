"""What the supervisor contributed, in words and in numbers, with what that does and does not show."""

from __future__ import annotations

from collections.abc import Mapping

from koderz_core.analysis.supervision import Supervision
from koderz_core.report.columns import Numbers, json_row
from koderz_core.report.comparison_numbers import review_rows, spread
from koderz_core.report.formats import TextTable, columns, count, percent, points, rate

SHOWS = (
    "It shows at which point problems were solved: before the first checkpoint the coder was alone (but for a spec), "
    "after it guided, and those are the harder problems, so the two rates are no comparison."
)
SHOWS_NOT = (
    "It does not show what a checkpoint brought about: what is reviewed is stuck, and what is stuck does better "
    "the next time anyway; only the same configuration without checkpoints, asked on the same problems, tells that."
)


Helped = Mapping[tuple[str, str], Supervision]
"""By letter and label of the configuration."""


def supervision_table(found: Helped) -> TextTable:
    """One line per configuration."""
    rows = tuple(
        (
            *named,
            count(one.trials),
            count(one.before),
            count(one.after),
            count(one.never),
            rate(one.alone),
            rate(one.guided),
            percent(one.frontier.usd),
            percent(one.frontier.tokens),
        )
        for named, one in found.items()
    )
    names = columns(
        "letter | configuration | n | solved before help | after help | never | alone [95 %] | "
        "guided [95 %] | frontier $ | frontier tokens"
    )
    return TextTable("What the supervisor contributed", names, rows)


def reviews_table(found: Helped) -> TextTable:
    """One line per checkpoint."""
    rows = tuple(
        (
            *named,
            str(review.checkpoint),
            count(review.trials),
            percent(review.before),
            percent(review.after),
            points(review.change.value, review.change.low, review.change.high),
        )
        for named, told in found.items()
        for review in told.reviews
    )
    names = columns(
        "letter | configuration | checkpoint | tried on | gate tests before | after | change in points [95 %]"
    )
    return TextTable("Before and after each checkpoint", names, rows)


def supervision_numbers(found: Mapping[str, Supervision]) -> list[Numbers]:
    """All of it for programs, by id of the configuration."""
    return [
        json_row(
            {
                "configuration": key,
                "n": one.trials,
                "solved_before_help": one.before,
                "solved_after_help": one.after,
                "never_solved": one.never,
                **spread("alone", one.alone),
                **spread("guided", one.guided),
                "frontier_share_of_usd": one.frontier.usd,
                "frontier_share_of_tokens": one.frontier.tokens,
                "reviews": list(review_rows(one)),
            }
        )
        for key, one in found.items()
    ]

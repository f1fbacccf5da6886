"""The headroom of choices between configurations: tables, rows of numbers, and sentences that say what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from koderz_core.records.progress import SummaryRow
from koderz_core.report.columns import NAMED, Row, Shown, if_known, interval, json, number, share, text
from koderz_core.report.formats import NONE, numbered, percent, plain, points_of, rate
from koderz_core.report.sections import Listing, Section

if TYPE_CHECKING:  # numpy is slow to import
    from koderz_core.analysis.configurations import ConfigurationFigures
    from koderz_core.analysis.difficulty import Key
    from koderz_core.analysis.headroom import Choice, ChoiceKind, Headroom, Member, Verdict, Why

TITLE = "Headroom: largest possible gain from choosing a configuration per problem"
MOST_COLUMNS = 8  # configurations in the matrix for people
NAMES: Mapping[ChoiceKind, str] = {
    "oracle": "best of all, per problem (oracle)",
    "repeated": "best in other repeats of the problem",
    "pair": "best of two, per problem (oracle of two)",
    "best": "best single configuration",
    "length": "by length of the prompt",
    "random": "random choice",
}
WHY: Mapping[Why, str] = {
    "few problems": "At least 10 problems with a result of each configuration are needed. Run more problems.",
    "few configurations": "At least two configurations are needed. Choose more configurations.",
    "many configurations": "At most 400 configurations can be compared. Choose fewer configurations.",
}
ABOUT = (
    "Oracle: a problem counts as solved if at least one configuration solved it. koderz chooses the best single "
    "configuration, the best two configurations and the threshold for the prompt length by cross-validation (10 folds, "
    "mean of 20 random divisions into folds): it evaluates each choice only on problems that it did not use for this "
    "choice. Differences are paired by problem, and their intervals hold simultaneously. The intervals are wider if "
    "different folds lead to different choices."
)
_LUCK = (
    "Each configuration has only one result per problem, so an unknown part of the oracle's gain is due to chance. To "
    "estimate this part, run the benchmark with --repeats 2 or more."
)


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """A choice with the number of ``problems`` that it solves (fractional if it is a mean)."""

    of: Choice
    solved: float

    @property
    def name(self) -> str:
        return NAMES[self.of.kind]


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A configuration, and by letter and by full id the number of problems that it solves and the other does not."""

    configuration: ConfigurationFigures
    letters: Mapping[str, float]
    ids: Mapping[str, float]


def in_problems(problems: float) -> str:
    """``12``, or ``12.3`` if it is a mean."""
    return f"{problems:.0f}" if abs(problems - round(problems)) < 0.05 else f"{problems:.1f}"


CHOICES = (
    text("choice", "rule that chooses a configuration for each problem", path="name", shown=Shown("choice", 1)),
    text("kind", "`oracle`, `repeated`, `pair`, `best`, `length` or `random`", path="of.kind"),
    number("solved", "problems solved", unit="problems", path="solved", shown=Shown("solved", 3, in_problems)),
    *interval(share("share", "share of problems solved", shown=Shown("share [95 %]", 4, rate, "of.share"))),
    *interval(
        share(
            "difference",
            "`share` minus the `share` of the best single configuration, paired by problem; all intervals hold "
            "simultaneously",
            "the row is the best single configuration",
            shown=Shown("points above best single configuration [95 %]", 2, if_known(points_of), "of.difference"),
        )
    ),
)
MEMBERS = (
    *NAMED,
    share("share", "share of problems solved", shown=Shown("solved", 3, percent)),
    number(
        "alone",
        "problems that the configuration solves and no other configuration solves",
        shown=Shown("solved by no other configuration", 4, in_problems),
    ),
    number(
        "gained",
        "problems that the configuration solves and the best single configuration does not solve",
        shown=Shown("gained over best single configuration", 5, in_problems),
    ),
    number(
        "lost",
        "problems that the best single configuration solves and this configuration does not solve",
        shown=Shown("lost to best single configuration", 6, in_problems),
    ),
)
MATRIX = (
    *NAMED,
    json(
        "only",
        "for each other configuration, by its id: number of problems that the configuration of the row solves and the "
        "other configuration does not solve",
        path="ids",
    ),
)


def headroom_section(rows: Sequence[SummaryRow], found: Headroom, most: int | None = None) -> Section:
    """``rows``: of the configurations. ``most``: of them in the last table, those that solve most."""
    facts: dict[str, object] = {
        "problems": found.problems,
        "omitted_problems": found.omitted,
        "repeats": found.repeats,
        "verdict": found.verdict,
        "detectable_without_loss": found.perfect,
        "detectable": found.usual,
        "why": found.why,
    }
    if found.why:
        remark = f"The headroom is not computed. {WHY[found.why]}"
        return Section((), (remark,), facts)
    by_key = figures_by_key(rows)
    choices = [ChoiceRow(choice, choice.share.value * found.problems) for choice in found.choices]
    members = [Row(by_key[member.key], member) for member in ranked(found)]
    first = f" (best {most} of {len(members)} configurations)" if most and most < len(members) else ""
    listings = (
        Listing("choices", f"{TITLE}, on {numbered(found.problems, 'problem')}", CHOICES, choices),
        matrix(by_key, found),
        Listing("matrix", "", MATRIX, list(matrix_rows(by_key, found))),
        Listing("", f"Problems that only some configurations solve{first}", MEMBERS, members[:most]),
        Listing("configurations", "", MEMBERS, members),
    )
    facts["best"] = by_key[found.best.key].full_id
    facts["selection_bias"] = found.bias
    facts["pair"] = [by_key[key].full_id for key in found.pair.keys] if found.pair else None
    facts["pair_share"] = found.pair.share if found.pair else None
    return Section(listings, tuple(_remarks(by_key, found)), facts)


def figures_by_key(rows: Sequence[SummaryRow]) -> dict[Key, ConfigurationFigures]:
    """Configurations with their letters."""
    from koderz_core.analysis.configurations import figures_of  # noqa: PLC0415 (slow to import)

    return {(row.benchmark, row.configuration): figures_of(row, place) for place, row in enumerate(rows)}


def ranked(found: Headroom) -> list[Member]:
    """The configurations, the best first."""
    return sorted(found.members, key=lambda member: -member.share)


def matrix(by_key: Mapping[Key, ConfigurationFigures], found: Headroom) -> Listing:
    """Complementarity in words, of the configurations that solve most."""
    shown = [by_key[member.key].letter for member in ranked(found)[:MOST_COLUMNS]]
    rows = [row for row in matrix_rows(by_key, found) if row.configuration.letter in shown]
    columns = (
        Shown("", 1, path="configuration.letter"),
        Shown("configuration", 2, path="configuration.label"),
        *(Shown(f"not {letter}", 3, partial(_cell, letter=letter), "letters") for letter in shown),
    )
    rows.sort(key=lambda row: shown.index(row.configuration.letter))
    title = "Problems solved by the configuration of the row, but not by the configuration of the column"
    return Listing("", title, columns, rows)


def matrix_rows(by_key: Mapping[Key, ConfigurationFigures], found: Headroom) -> Iterator[MatrixRow]:
    """One row per configuration, in their order."""
    others = [by_key[member.key] for member in found.members]
    for configuration, shares in zip(others, found.matrix, strict=True):
        numbers = [found.problems * only for only in shares]
        pairs = [(other, n) for other, n in zip(others, numbers, strict=True) if other is not configuration]
        letters, ids = ({getattr(other, name): n for other, n in pairs} for name in ("letter", "full_id"))
        yield MatrixRow(configuration, letters, ids)


def _cell(letters: Mapping[str, float], letter: str) -> str:
    return in_problems(letters[letter]) if letter in letters else NONE


def conclusion(found: Headroom) -> str:
    """What a choice per problem can gain, in a sentence; our words."""
    gain = found.of("oracle")
    assert gain is not None, "a computed headroom"
    assert gain.difference is not None, "of the oracle"
    assert found.verdict is not None, "of a computed headroom"
    n = numbered(found.problems, "problem")
    reach = f"{points_of(gain.difference)} percentage points"
    least, least_usual = (f"with {n}, {_detectable(value)}" for value in (found.perfect, found.usual))
    repeated = found.of("repeated")
    others = repeated.difference if repeated else None
    luck = f" ({points_of(others)} points)" if others else ""
    said: Mapping[Verdict, str] = {
        "nothing": f"Nothing to learn: even a perfect choice per problem would gain only {reach}, and {least}.",
        "luck": f"No learnable gain was found: the oracle gains {reach}, but the configuration that is best in other "
        f"repeats of the same problem brings no significant gain{luck}, so the oracle's gain may be due to chance.",
        "little": f"Little to learn: a perfect choice per problem would gain {reach}, but {least_usual} if the "
        "choice is imperfect and the chosen configurations fail on some problems that the best single configuration "
        "solves.",
        "some": f"Headroom: a perfect choice per problem would gain {reach} over the best single configuration.",
    }
    return said[found.verdict]


def _detectable(gain: float | None) -> str:
    which = "no gains" if gain is None else f"only gains of at least {100 * gain:.0f} points"
    return f"{which} can be detected (power 80 %)"


def _remarks(by_key: Mapping[Key, ConfigurationFigures], found: Headroom) -> Iterator[str]:
    yield conclusion(found)
    best = found.of("best")
    assert best is not None, "a computed headroom"
    yield (
        f"Best single configuration in hindsight: {_named(by_key[found.best.key])}, which solves "
        f"{percent(found.best.share)} of the problems. If cross-validation chooses the configuration, this share is "
        f"{percent(best.share.value)}. The difference, {100 * found.bias:.1f} points, is the bias of a choice that is "
        "evaluated on the problems used for the choice."
    )
    if found.pair and len(found.members) > 2:
        a, b = (by_key[key] for key in found.pair.keys)
        yield (
            f"Best two configurations in hindsight: {_named(a)} and {_named(b)}, which together solve "
            f"{percent(found.pair.share)} of the problems."
        )
    yield _about_length(by_key, found)
    if found.repeats == 1 and found.verdict != "nothing":
        yield _LUCK
    if found.omitted:
        yield f"Omitted: {numbered(found.omitted, 'problem')} for which at least one configuration has no result."
    yield ABOUT


def _about_length(by_key: Mapping[Key, ConfigurationFigures], found: Headroom) -> str:
    rule = found.rule
    if rule is None:
        return "Choice by prompt length: unknown, because the recorded version of the dataset is not on this machine."
    if rule.short == rule.long:
        return (
            "Choice by prompt length in hindsight: no threshold for the length gives a higher success rate than the "
            "best single configuration."
        )
    short, long = (by_key[key].letter for key in (rule.short, rule.long))
    return (
        f"Choice by prompt length in hindsight: {short} for prompts up to {rule.characters:.0f} characters, {long} for "
        "longer prompts."
    )


def _named(row: ConfigurationFigures) -> str:
    return f"{row.letter} {plain(row.label)}"

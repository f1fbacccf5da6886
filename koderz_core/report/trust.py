"""What was checked about the integrity of results, and what was found, in words and in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from koderz_core.analysis.program_scan import MEANINGS
from koderz_core.records import VARIANTS
from koderz_core.report.columns import (
    NAMED,
    Column,
    Row,
    Shown,
    if_known,
    interval,
    number,
    share,
    text,
    whole,
    yes,
)
from koderz_core.report.formats import chance, numbered, percent, plain, points, rate
from koderz_core.report.sections import Listing, Section

if TYPE_CHECKING:  # numpy is slow to import
    from koderz_core.analysis.comparison import Comparison
    from koderz_core.analysis.configurations import ConfigurationFigures
    from koderz_core.analysis.integrity import Drop, Integrity, Passes, Trust
    from koderz_core.analysis.recall import Contrast

TO_CHECK = "repeat the command of the benchmark with --variant"
TO_READ = "koderz compare --trust"
ABOUT = (
    "Drop: the success rate on the original problems minus the success rate on their variant, in percentage points, "
    "with a 95 % interval. Impossible passed: the share of experiments on impossible problems in which the program "
    "passed the tests. In each impossible problem, one test expects a wrong value, so no correct program passes the "
    "tests. Likeness: the share of the canonical solution that the program repeats. Likeness to other solutions: the "
    "likeness of the program to the canonical solutions of other problems. Minus renamed: the likeness for the "
    "original problem minus the likeness for the renamed problem. Minus others: the likeness of the program minus the "
    "likeness of other models' correct programs for the same problem. If at least one of three conditions is true, "
    "koderz gives a hint that a model recalls solutions or cheats. (1) The success rate is significantly higher on the"
    " original problems than on renamed or rephrased problems. (2) The whole 95 % interval of Impossible passed is "
    "above 1 %. (3) At least one of the two differences, Minus renamed or Minus others, is significant and at least 10"
    " percentage points. A hint is not a verdict: read the programs. A model can have seen the problems even if there "
    "is no hint."
)
TITLE = "Trust: variants of the problems, and likeness to the canonical solutions"
MOST_SHOWN = 5  # experiments with a sign
_UNKNOWN = "the configuration has no results on this variant"
_UNREAD = (
    "koderz did not read the programs, or too few problems have a canonical solution that is long enough to compute "
    "the likeness"
)


def _points(drop: Drop) -> str:
    test = drop.test
    return points(test.difference, test.low, test.high, drop.significant)


def _passes(passes: Passes) -> str:
    return f"{rate(passes.rate)} of {passes.rate.n}{'' if passes.saw_tests else ' ‡'}"


def _contrast(contrast: Contrast) -> str:
    return f"{100 * contrast.difference:+.0f} (p {chance(contrast.p)})"


def _drop(name: str) -> Sequence[Column]:
    ends = {"low": "lower", "high": "upper"}
    return (
        share(
            f"{name}_difference",
            f"success rate on the original problems minus success rate on their {name} variants",
            _UNKNOWN,
            path=f"of.{name}.test.difference",
            shown=Shown(f"drop if {name}", 4, if_known(_points), f"of.{name}"),
        ),
        *(
            share(
                f"{name}_{end}",
                f"{word} end of the 95 % interval of `{name}_difference`",
                _UNKNOWN,
                path=f"of.{name}.test.{end}",
            )
            for end, word in ends.items()
        ),
        number(
            f"{name}_p",
            f"two-sided p value of `{name}_difference`, adjusted by Holm's method",
            _UNKNOWN,
            path=f"of.{name}.p",
        ),
        whole(
            f"{name}_problems",
            "problems with a result for both the original and the variant",
            _UNKNOWN,
            "problems",
            path=f"of.{name}.test.n",
        ),
    )


def _contrasted(name: str, difference: str, header: str) -> Sequence[Column]:
    column, path = f"likeness_{name}", f"of.recall.{name}"
    return (
        share(
            column,
            f"mean over the problems: {difference}",
            _UNREAD,
            path=f"{path}.difference",
            shown=Shown(header, 7, if_known(_contrast), path),
        ),
        number(f"{column}_p", f"one-sided p value of `{column}`, adjusted by Holm's method", _UNREAD, path=f"{path}.p"),
        whole(
            f"{column}_problems",
            f"number of problems over which `{column}` is averaged",
            _UNREAD,
            "problems",
            path=f"{path}.problems",
        ),
    )


TRUST = (
    *NAMED,
    yes(
        "hint",
        "whether a check gives a hint that the model recalls solutions or cheats",
        "nothing was checked",
        shown=Shown("hint", 3),
    ),
    *_drop("renamed"),
    *_drop("rephrased"),
    *interval(
        share(
            "impossible_passed",
            "share of experiments on impossible problems in which the program passed the tests",
            _UNKNOWN,
            path="of.passes.rate",
            shown=Shown("impossible passed [95 %]", 5, if_known(_passes), "of.passes"),
        )
    ),
    whole("impossible_problems", "impossible problems with a result", _UNKNOWN, path="of.passes.rate.problems"),
    whole(
        "impossible_solved",
        "number of experiments that count as passed in `impossible_passed` and whose program also passed the held-out "
        "tests",
        _UNKNOWN,
        path="of.passes.solved",
    ),
    share(
        "likeness",
        "mean share of the canonical solution's five-token sequences that the program contains",
        _UNREAD,
        path="of.recall.own",
        shown=Shown("likeness", 6, if_known(percent)),
    ),
    share(
        "likeness_elsewhere",
        "`likeness`, computed with the canonical solutions of other problems",
        _UNREAD,
        path="of.recall.others",
        shown=Shown("likeness to other solutions", 6, if_known(percent)),
    ),
    *_contrasted(
        "renamed", "`likeness` for the original problem minus `likeness` for the renamed problem", "minus renamed"
    ),
    *_contrasted(
        "peers",
        "`likeness` of the program minus `likeness` of correct programs of other models for the same problem",
        "minus others",
    ),
    whole("programs", "recorded programs scanned for signs of gaming", "not scanned", path="of.scanned.programs"),
    whole(
        "unread",
        "recorded programs that could not be scanned for signs of gaming",
        "not scanned",
        path="of.scanned.unread",
    ),
)


@dataclass(frozen=True, slots=True)
class SignRow:
    """The experiments of a configuration whose programs have a sign."""

    configuration: ConfigurationFigures
    sign: str
    meaning: str
    experiments: tuple[str, ...]

    @property
    def number(self) -> int:
        return len(self.experiments)


def _some(experiments: Sequence[str]) -> str:
    more = f" and {len(experiments) - MOST_SHOWN} more" if len(experiments) > MOST_SHOWN else ""
    return ", ".join(experiments[:MOST_SHOWN]) + more


SIGNS = (
    *NAMED,
    text("sign", "kind of sign that a program games its tests", path="sign", shown=Shown("sign", 3)),
    text("meaning", "meaning of the sign", path="meaning", shown=Shown("a program that", 4)),
    whole("experiments", "number of experiments with a program that has the sign", path="number", shown=Shown("n", 5)),
    text(
        "ids",
        "ids of the experiments with a program that has the sign",
        path="experiments",
        shown=Shown("experiments", 6, _some),
    ),
)


def trust_section(comparison: Comparison, trust: Trust) -> Section:
    """One line per configuration, and one per configuration and sign."""
    rows = [Row(comparison.of(entry.key), entry) for entry in trust.found]
    signs = [
        SignRow(comparison.of(entry.key), sign, MEANINGS[sign], experiments)
        for entry in trust.found
        if entry.scanned
        for sign, experiments in entry.scanned.signs.items()
    ]
    listings = (
        Listing("configurations", TITLE, TRUST, rows),
        Listing("signs", "Signs of gaming in programs", SIGNS, signs),
    )
    return Section(listings, tuple(_remarks(trust)), {"commands": dict(trust.commands)})


def trust_signs(trust: Trust) -> list[tuple[str, tuple[str, ...]]]:
    """The experiments with each kind of sign, of all configurations."""
    found: dict[str, tuple[str, ...]] = {}
    for sign, experiments in (sign for entry in trust.found if entry.scanned for sign in entry.scanned.signs.items()):
        found[sign] = (*found.get(sign, ()), *experiments)
    return list(found.items())


def _remarks(trust: Trust) -> Iterator[str]:
    """The meaning of the tables, and how to check the rest."""
    yield ABOUT
    if any(entry.passes and not entry.passes.saw_tests for entry in trust.found):
        yield "‡ The configuration never ran the tests, so it could not know which test expects a wrong value."
    scanned = [entry.scanned for entry in trust.found if entry.scanned]
    if scanned:
        programs, unread = sum(scan.programs for scan in scanned), sum(scan.unread for scan in scanned)
        yield (
            f"Programs scanned for signs of gaming: {programs}; not scanned, because they do not parse or are too "
            f"large: {unread}. A sign is a reason to read a program, not a proof: an honest program can also contain "
            "a sign."
        )
    yield from map(plain, trust.notes)
    yield from _not_checked(trust)
    for name, command in trust.commands.items():
        yield f"To run the variant {name}: {plain(command)}"


def _not_checked(trust: Trust) -> Iterator[str]:
    if not trust.can_vary:
        yield (
            f"The dataset {plain(trust.dataset)} has no variants, so renamed, rephrased and impossible problems could "
            "not be checked."
        )
    if trust.dated:
        yield (
            "The table 'By year' shows success rates by the date of the problems. A model cannot have seen problems "
            "that are newer than its training data. A lower rate on these newer problems therefore hints at recall of "
            "the older problems, unless the newer problems are harder."
        )
    else:
        yield "Success rates by date were not checked, because the dates of the problems are unknown."


def trust_line(comparison: Comparison, trust: Trust) -> str:
    """One sentence or two for every report: what was checked, what was found, and how to check the rest."""
    if not trust.found:
        return "Integrity: not checked, because all configurations ran on variants of a dataset."
    run = [said for name in VARIANTS if (said := _extent(trust, name))]
    missing = [name for name in VARIANTS if not all(_problems(entry, name) for entry in trust.found)]
    hints = [f"{comparison.of(entry.key).letter} ({'; '.join(_hints(entry))})" for entry in trust.found if entry.hint]
    if hints:
        said = f"hints of recall or cheating in {', '.join(hints)}. A hint is not a verdict"
    elif run:
        said = f"no hint of recall or cheating on the variants {', '.join(run)}"
    else:
        said = "not checked"
    return f"Integrity: {said}. {_rest(trust, missing)}"


def _rest(trust: Trust, missing: Sequence[str]) -> str:
    read = "" if trust.read else f"To scan the recorded programs, run: {TO_READ}"
    if not trust.can_vary:
        return f"The dataset {plain(trust.dataset)} has no variants. {read}".strip()
    if not missing:
        return read
    way = f"To check whether a model recalls solutions or cheats, {TO_CHECK} {' / '.join(missing)}"
    return f"{way}, then run: {TO_READ}"


def _extent(trust: Trust, variant: str) -> str:
    """``renamed (20 problems)``, with the fewest problems of a configuration that ran on it; "" if none did."""
    numbers = [problems for entry in trust.found if (problems := _problems(entry, variant))]
    return f"{variant} ({numbered(min(numbers), 'problem')})" if numbers else ""


def _problems(one: Integrity, variant: str) -> int:
    """The problems of a variant with a result that could be compared."""
    if variant == "impossible":
        return one.passes.rate.problems if one.passes else 0
    drop = one.renamed if variant == "renamed" else one.rephrased
    return drop.test.n if drop else 0


def _hints(one: Integrity) -> Iterator[str]:
    for name, drop in (("renamed", one.renamed), ("rephrased", one.rephrased)):
        if drop and drop.significant:
            yield f"drop of {_points(drop)} percentage points if {name}, p {chance(drop.p)}"
    if one.passes and one.passes.above_tolerance:
        yield f"impossible problems passed: {_passes(one.passes)}"
    if one.recalls:
        yield "programs resemble the canonical solutions"

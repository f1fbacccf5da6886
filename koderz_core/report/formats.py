"""Formats of outcomes, numbers and hostile texts; text tables and CSV: the same for terminal and pages."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isinf, isnan
from typing import TYPE_CHECKING

from koderz_core.records import Outcome, Scalar
from koderz_core.records.marks import Marks
from koderz_core.records.notes import NoteRow
from koderz_core.records.rows import BenchmarkState, State
from koderz_core.records.search import SearchHit

if TYPE_CHECKING:  # numpy and pandas are slow to import
    from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types

    from koderz_core.analysis.bounds import Cases
    from koderz_core.analysis.configurations import ConfigurationFigures
    from koderz_core.analysis.incidence import Axis
    from koderz_core.analysis.rates import ClusteredRate, Interval, Rate
    from koderz_core.records.selectors import Estimate

SHARED = (
    "shared: these tests ran in the same process as the program, so the program could in principle fake the results"
)
"""A note on verdicts whose tests need values that are not plain data."""
NONE = "–"
LONGEST_NAME = 60  # characters of a name beside a match of a search
NO_MATCH = "No recorded text contains all of these words."
MORE_MATCHES = "More texts match. Add words, choose a kind of text or a benchmark, or show more matches."
CASES = "worst–best"
"""The header of columns with the bounds that missing results set to a share or a difference."""

WHY: Mapping[str, str] = {
    "interval": "because the checkpoint interval was reached",
    "plateau": "because the number of passed tests did not change",
    "repeated_error": "because the same error recurred",
    "repeated_program": "because the last program was the same as an earlier one",
    "budget": "because half of the iterations or of the budget was used",
}
"""Why a checkpoint was due."""

CONSENSUS: Mapping[str, str] = {"gate": "gate tests", "codebleu": "gate tests, then by CodeBLEU", "words": "n-grams"}
"""The criteria by which an ensemble compares its programs, or its answers to a question."""
COSTS = (
    'The column "$ per solved" covers experiments with a result. The columns "calls so far" and "cost so far" cover '
    "all experiments. Local cost: energy (computed or measured) × price of electricity, plus the wear of the machine "
    "(0 by default)."
)
GROUPS = (
    "Group: configurations in the same group do not differ significantly (Holm's method over all pairs, "
    "significance level 5 %; the primary comparison of a sequential benchmark is not tested); group 1 has the highest "
    "success rates. P(frontier): the share of resamples in which a configuration is on the Pareto frontier of cost and "
    "success. $ per solved: mean cost per problem, divided by the success rate (cost-of-pass); only experiments with a "
    "result count."
)
PAIRS = (
    "p: from McNemar's exact test or, with repeats, from a test that permutes the labels of the configurations within "
    "each problem; adjusted by Holm's method. The difference is significant if p is at most 0.05; the interval then "
    "excludes 0. "
    "The intervals are adjusted for all pairs (Bonferroni), including the pair that koderz selects and shows first. "
    "Match: the result of a one-sided test. A configuration matches if the test shows that its success rate is at "
    "least the rate of the baseline minus the margin (10 percentage points by default). A configuration falls short if "
    "the one-sided test in the opposite direction shows that its success rate is lower than the rate of the baseline "
    "minus the margin. Break-even cost: the "
    "dollars per problem at which a configuration's curve of success against dollars first reaches the success rate of "
    "the baseline; P(never): the share of resamples in which the curve never reaches that rate. Saved: the difference "
    "in cost on the problems that both configurations solved, as a share of the cost of the baseline."
)
_FORMULA_BEGINS = ("=", "+", "-", "@", "\t", "\r")  # owasp.org/www-community/attacks/CSV_Injection


@dataclass(frozen=True, slots=True)
class Look:
    """How the outcome or state of an experiment is shown: its word, and the glyph before it.

    ``cell``: the heavier glyph for a coloured cell, without the word.
    """

    word: str
    glyph: str
    cell: str
    color: str


LOOKS: Mapping[Outcome | State, Look] = {
    "solved": Look("solved", "✓", "✔", "green"),
    "unsolved": Look("unsolved", "✗", "✘", "red"),
    "error": Look("error", "!", "!", "orange"),
    "cancelled": Look("cancelled", "-", "–", "gray"),
    "running": Look("running", "▶", "▶", "blue"),
    "paused": Look("paused", "‖", "‖", "violet"),
    "interrupted": Look("interrupted", "⚡", "⚡", "orange"),
    "planned": Look("waiting", "·", "·", "gray"),
}
MARKS: Mapping[Outcome | State, str] = {state: f"{look.glyph} {look.word}" for state, look in LOOKS.items()}
STATES: Mapping[BenchmarkState, str] = {
    "queued": "· queued",
    "running": MARKS["running"],
    "paused": MARKS["paused"],
    "stopping": "■ stopping",
    "stopped": "■ stopped",
    "interrupted": MARKS["interrupted"],
    "finished": "✓ finished",
}


def tier_name(tier: str | None) -> str:
    """``small frontier``; ``unknown`` for None."""
    return "unknown" if tier is None else tier.replace("_", " ")


def isolation(tier: str, self_test: str) -> str:
    """``hardened, self-test 17/17``: the sandbox tier and its passed checks; ``limited`` is marked, and no tier."""
    if not tier:
        return "none, because koderz did not run the programs"
    mark = " ⚠ (programs could read your files and use your network)" if tier == "limited" else ""
    return tier + mark + (f", self-test {self_test}" if self_test else "")


def duration(seconds: float | None) -> str:
    """``12 ms``, ``1.2 s``, ``3 min 05 s``, ``2 h 10 min``; unknown is ``?``."""
    if seconds is None:
        return "?"
    if seconds < 0.1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def energy(joules: float) -> str:
    """Two or three digits: ``0.5 J``, ``12 J``, ``839 J``, ``1.9 kJ``, ``23 kJ``."""
    factor, unit = next(((size, unit) for size, unit in ((1e6, "MJ"), (1e3, "kJ")) if joules >= size), (1.0, "J"))
    return f"{joules / factor:.{1 if joules < 10 * factor else 0}f} {unit}"


def p_value(p: float | None) -> str:
    """``= 0.021``, ``< 0.001`` or ``unknown``."""
    if p is None:
        return "unknown"
    return "< 0.001" if p < 0.001 else f"= {p:.2g}"


def listed(names: Sequence[str]) -> str:
    """``A``, ``A and B``, ``A, B and C``; there is at least one."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def within(margin: float) -> str:
    """``within 10 percentage points``, of a share."""
    return f"within {100 * margin:.3g} percentage points"


def money(usd: float | None) -> str:
    """Two significant digits and at least cents; None is ``unpriced``, infinite ``∞``, nan ``–``."""
    if usd is None:
        return "unpriced"
    if isnan(usd):
        return "–"
    if isinf(usd):
        return "∞"
    if usd == 0 or usd >= 1:
        return f"${usd:.2f}"
    digits = 2
    while usd < 10 ** (1 - digits) and digits < 9:
        digits += 1
    return f"${usd:.{digits}f}"


def money_spent(usd: float | None, cached: int) -> str:
    """``$0.12 (3 cached)``: money that was spent, and the number of answers from the response cache, if any."""
    return f"{money(usd)} ({cached} cached)" if cached else money(usd)


def rate(value: Rate | ClusteredRate | Interval) -> str:
    """``62 % [54, 69]``, the interval at 95 %."""
    return span(value.value, value.low, value.high)


def marked_rate(share: float | None, low: float | None, high: float | None, marks: Marks) -> str:
    """``62 % [54, 69]*``: a share of solved problems, its interval if known, and its marks; unknown: ``–``.

    Every rate that can have a mark is formatted by this function.
    """
    if share is None:
        return percent(None)
    return (percent(share) if low is None else span(share, low, high)) + marks.signs


def solved_rate(row: ConfigurationFigures) -> str:
    """The share solved with its interval and its marks."""
    low, high = (row.rate.low, row.rate.high) if row.rate else (None, None)
    return marked_rate(row.share, low, high, row.marks)


def span(share: float | None, low: float | None, high: float | None) -> str:
    """A share with its interval, as in ``rate``."""
    if share is None or low is None or high is None:
        return "-"
    return f"{percent(share)} [{low * 100:.0f}, {high * 100:.0f}]"


def share_cases(cases: Cases) -> str:
    """``53 to 95 %``: a share in the worst and in the best case of missing results."""
    worst, best = percent(cases.worst), percent(cases.best)
    return worst if worst == best else f"{worst.removesuffix(' %')} to {best}"


def case_bounds(row: ConfigurationFigures) -> str | None:
    """The share that a configuration solved in the worst and in the best case; None if nothing is missing."""
    return share_cases(row.cases) if row.missing and row.cases else None


def point_cases(cases: Cases) -> str:
    """``-10 to +31``: a difference in percentage points, in the worst and in the best case of missing results."""
    worst, best = (f"{100 * share:+.0f}" for share in (cases.worst, cases.best))
    return worst if worst == best else f"{worst} to {best}"


def percent(share: float | None) -> str:
    """``62 %``, nearly all ``>99 %``; unknown is ``–``."""
    if share is None:
        return "–"
    return ">99 %" if 0.995 <= share < 1 else f"{share:.0%}".replace("%", " %")


def points(difference: float | None, low: float | None, high: float | None, apart: bool = False) -> str:
    """``-3 [-8, +2]``: a difference of shares in percentage points, with its interval."""
    if difference is None or low is None or high is None:
        return "-"
    return f"{100 * difference:+.0f} [{', '.join(in_points(low, high, apart))}]"


def points_of(difference: Interval | Estimate) -> str:
    """A difference of shares with its interval, as in ``points``."""
    return points(difference.value, difference.low, difference.high)


def in_points(low: float, high: float, apart: bool) -> tuple[str, str]:
    """The bounds of a difference in percentage points.

    ``apart``: the difference is significant, so 0 is excluded: a bound that rounds to 0 is shown as ``>0`` or ``<0``.
    """
    lower, upper = f"{100 * low:+.0f}", f"{100 * high:+.0f}"
    if apart and low >= 0 and float(lower) == 0:
        return ">0", upper
    return lower, "<0" if apart and high <= 0 and float(upper) == 0 else upper


def chance(value: float | None) -> str:
    """A probability or a p to two digits, never rounded to impossible or certain; unknown is ``-``."""
    if value is None:
        return "-"
    if 0 < value < 0.001:
        return "<0.001"
    if 0.995 <= value < 1:
        return ">0.99"
    return f"{value:.3f}" if 0 < value < 0.01 else f"{value:.2f}"


def money_span(usd: float | None, low: float | None, high: float | None) -> str:
    """``$0.12 [0.09, 0.20]``; without the interval if it is unknown."""
    amount = money(usd)
    if usd is None or isnan(usd) or low is None or high is None:
        return amount
    return f"{amount} [{money(low).removeprefix('$')}, {money(high).removeprefix('$')}]"


def money_of(usd: Interval | None) -> str:
    """A price with its interval, as in ``money_span``."""
    return money_span(usd.value, usd.low, usd.high) if usd else money(None)


def count(number: int | None) -> str:
    """With thin separators of thousands; unknown is ``?``."""
    return "?" if number is None else f"{number:,}".replace(",", " ")


def numbered(number: int, thing: str) -> str:
    """``1 experiment``, ``2 experiments``."""
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"


def amount(axis: Axis, used: float) -> str:
    """``2 attempts``, ``$0.12``, ``3.0 s``, ``20 tokens``, ``1.2 kJ``: an amount on an axis of curves."""
    if axis in ("attempts", "tokens"):
        return numbered(round(used), axis.removesuffix("s"))
    return {"usd": money, "seconds": duration, "joules": energy}[axis](used)


def plain(text: str, limit: int | None = None) -> str:
    """A text from a model, problem or test without control characters; cut at ``limit`` characters."""
    kept = "".join(c if c in "\n\t" or unicodedata.category(c)[0] != "C" else "\N{REPLACEMENT CHARACTER}" for c in text)
    if limit is not None and len(kept) > limit:
        return f"{kept[:limit]}… ({numbered(len(kept) - limit, 'more character')})"
    return kept


def one_line(text: str) -> str:
    """A text as in ``plain``, on one line with single spaces."""
    return " ".join(plain(text).split())


def hit_source(hit: SearchHit) -> str:
    """The problem, the configuration and the benchmark of a match, and in how many experiments it occurs. Hostile."""
    names = (hit.problem, hit.configuration, hit.benchmark_name or hit.benchmark)
    parts = [
        line if len(line) <= LONGEST_NAME else f"{line[:LONGEST_NAME]}…" for line in map(one_line, filter(None, names))
    ]
    return " · ".join(parts + ([f"in {numbered(hit.experiments, 'experiment')}"] if hit.experiments > 1 else []))


@dataclass(frozen=True, slots=True)
class TextTable:
    """``title`` and ``columns`` are koderz' words; cells may be hostile text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def note_title(note: NoteRow, notes: Sequence[NoteRow]) -> str:
    """The name of a note of an experiment, such as ``checkpoint 1 after iteration 3, because the same error recurred``.

    Hostile text, like everything in a journal.
    """
    empty = "" if note.text.strip() else "; the answer was empty"
    if note.kind == "checkpoint_reviewed":
        number = 1 + sum(other.kind == note.kind and other.ordinal < note.ordinal for other in notes)
        why = note.why or "interval"
        return f"checkpoint {number} after iteration {note.iteration}, {WHY.get(why, why)}{empty}"
    if note.kind == "turn_spoken":
        return f"round {note.round} of the debate: {note.speaker}"
    if note.kind == "consensus_reached":
        compared = "answers" if note.why == "words" else "programs"
        return f"consensus: {compared} compared by {CONSENSUS.get(note.why or '', note.why)}"
    if note.kind == "selector_asked":
        return "predictions of the fitted selector"
    if note.kind == "recall_failed":
        return "recall of memories failed"
    return f"spec ({note.prompt})" + (f", reused from {note.origin}" if note.origin else "") + empty


def value_text(value: Scalar) -> str:
    """``yes``, ``no``, a number or a text; None is a dash."""
    return NONE if value is None else {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def csv_of(frame: DataFrame, *, for_spreadsheets: bool = False) -> bytes:
    """The frame as CSV (RFC 4180) in UTF-8 with a header; None is an empty cell, half a surrogate pair a ``?``.

    ``for_spreadsheets``: an apostrophe is put before texts that a spreadsheet would treat as formulas.
    """
    if for_spreadsheets:
        objects = frame.select_dtypes(include=["str", "object"])
        # Other columns of objects stay as they are: ``map`` would turn whole numbers beside a missing one into floats.
        texts = [name for name in objects if any(isinstance(cell, str) for cell in objects[name])]
        frame = frame.assign(**{name: objects[name].map(_defused, na_action="ignore") for name in texts})
    # With line ends of one character, a lone carriage return in a text stays unquoted, and readers end the line there.
    csv: str = frame.to_csv(index=False, lineterminator="\r\n")
    return csv.encode(errors="replace")


def csv_of_rows(rows: Sequence[Mapping[str, object]], *, for_spreadsheets: bool = False) -> bytes:
    """As ``csv_of``. A whole number stays a whole number beside a missing one."""
    from pandas import DataFrame  # noqa: PLC0415 (heavy)

    return csv_of(DataFrame(list(rows), dtype=object), for_spreadsheets=for_spreadsheets)


def _defused(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    text = cell.encode(errors="replace").decode()  # a column of texts cannot hold half a surrogate pair
    return f"'{text}" if text.startswith(_FORMULA_BEGINS) else text

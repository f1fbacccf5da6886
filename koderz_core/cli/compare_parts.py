"""The further parts of ``koderz compare`` that its options add: tables, remarks, and numbers for JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import click

from koderz_core.cli.options import with_options
from koderz_core.errors import UsageError
from koderz_core.records.progress import SummaryRow
from koderz_core.report.attempts import attempt_numbers, attempts_section
from koderz_core.report.equal_cost import equal_cost_section
from koderz_core.report.formats import TextTable
from koderz_core.report.noise import MOST_ITEMS
from koderz_core.report.noise_words import noise_section
from koderz_core.report.sampling import sampling_section
from koderz_core.report.sections import Section
from koderz_core.report.slices import slice_section
from koderz_core.report.trust import trust_section
from koderz_core.workspace import Workspace
from koderz_core.workspace.comparisons import SLICES_BY, Axis, Comparison, SliceBy
from koderz_core.workspace.uncertainty import COSTS

Numbers = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Part:
    """One part. ``key``: of its numbers in JSON. ``rows``: its lines in CSV; None if CSV does not have the part."""

    key: str
    tables: Sequence[TextTable]
    remarks: Sequence[str]
    numbers: object
    rows: Sequence[Numbers] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The parts that the options ask for."""

    attempts: bool
    pass_at_k: bool
    noise: bool
    equal_cost: Axis | None
    trust: bool
    by: SliceBy | None

    def check(self, form: str) -> None:
        """Raise UsageError for a part that the format does not have."""
        never_csv = {
            "--attempts": self.attempts,
            "--pass-at-k": self.pass_at_k,
            "--noise": self.noise,
            "--equal-cost": self.equal_cost,
            "--trust": self.trust,
        }
        for option, asked in never_csv.items():
            if asked and form.startswith("csv"):
                raise UsageError(f"{option} is not available as CSV. Use --format table, md or json.")
        if self.by and form == "csv-pairs":
            raise UsageError("--by is not available with --format csv-pairs. Use --format table, md, json or csv.")


further_options = with_options(
    click.option(
        "--attempts",
        is_flag=True,
        help="Also show, for each attempt number: solved experiments, cost, errors and repeated programs.",
    ),
    click.option(
        "--pass-at-k",
        is_flag=True,
        help="Also show pass@k, pass^k and the cost per draw if problems have several draws (repeats, or samples "
        "of best_of). Also show coverage (the share of experiments in which a tested program was right) if "
        "experiments test several programs.",
    ),
    click.option(
        "--noise",
        is_flag=True,
        help="Also show how much of the uncertainty comes from the choice of problems and how much from "
        "randomness in the answers.",
    ),
    click.option(
        "--equal-cost",
        type=click.Choice(COSTS),
        help="Also show which configuration solves the most problems at an equal cost per problem, measured in "
        "this unit.",
    ),
    click.option(
        "--by",
        type=click.Choice(SLICES_BY),
        help="Also compare configurations on the problems of each difficulty, topic, tag, kind or year. With "
        "--format csv, print only this comparison.",
    ),
    click.option(
        "--trust", is_flag=True, help="Also check whether models recall solutions or cheat (see docs/integrity.md)."
    ),
)
"""The options of ``Asked``."""


def parts(opened: Workspace, rows: Sequence[SummaryRow], comparison: Comparison, asked: Asked) -> Iterator[Part]:
    """The parts that are asked for, in the order in which they are shown."""
    base = comparison.baseline
    if asked.attempts:
        attempts = opened.comparisons.attempts(rows)
        of = (comparison.configurations, attempts)
        section = attempts_section(*of)
        yield Part("attempts", section.tables, section.remarks, attempt_numbers(*of))
    trust = opened.trust.check(rows, read=True) if asked.trust else None
    if by := asked.by or ("year" if trust and trust.dated else None):
        slices = slice_section(comparison, opened.comparisons.slices(rows, by, base))
        listing = slices.listing("rows")
        yield Part("slices", (listing.table,), slices.remarks, slices.numbers, listing.numbers)
    if asked.pass_at_k:
        yield _part("pass_at_k", sampling_section(comparison, opened.comparisons.sampling(rows)))
    if asked.noise:
        noise = opened.uncertainty.noise(rows, base)
        yield _part("noise", noise_section(comparison, noise, most=MOST_ITEMS))
    if asked.equal_cost:
        equal = opened.uncertainty.equal_cost(rows, base, asked.equal_cost)
        yield _part("equal_cost", equal_cost_section(comparison, equal))
    if trust:
        yield _part("trust", trust_section(comparison, trust))


def _part(key: str, section: Section) -> Part:
    return Part(key, section.tables, section.remarks, section.numbers)

"""A report of a comparison for a reader without koderz: its content, as Markdown, and citations as BibTeX.

A citation names koderz and each benchmark with the hash of its journal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from koderz_core.analysis.comparison import AXES, Comparison
from koderz_core.records.plans import SOME_SCRIPTED
from koderz_core.records.rows import Provenance
from koderz_core.report import formats
from koderz_core.report.comparison import common, curves_table, frontier_table, helped, tables
from koderz_core.report.formats import TextTable, isolation, numbered, one_line
from koderz_core.report.supervision import SHOWS, SHOWS_NOT
from koderz_core.times import day, minute

TITLE = "koderz: configurations compared"
INTERVALS = (
    "In brackets: 95 % intervals. n: experiments with a result, of those planned. $: US dollars; unpriced: a price is "
    "not known. * its stopping tests are also its scoring tests (oracle), so it is not pass@1."
)
NO_WIDTH = "&#8203;"
CITATION_TITLE = (
    "koderz: can cheap models with many tries, under a little frontier supervision, match an expensive one?"
)
TO_CITE = "To cite this"
_UNSAFE = re.compile(r'[\\{}~^@<>|"`\N{REPLACEMENT CHARACTER}]')
_SPECIAL = re.compile("[#$%&_]")


@dataclass(frozen=True, slots=True)
class Report:
    """A comparison and what it stands on; ``made_at``: seconds since 1970, ``version``: of the koderz that made it."""

    comparison: Comparison
    stands_on: tuple[Provenance, ...]
    made_at: float
    version: str

    @property
    def warnings(self) -> tuple[str, ...]:
        """What has to be said before any number."""
        return (SOME_SCRIPTED,) if self.comparison.scripted else ()

    @property
    def tables(self) -> Sequence[TextTable]:
        """All of them, the charts' too."""
        compared = self.comparison
        drawn = (frontier_table(compared), *(curves_table(compared, axis) for axis in AXES))
        return (*tables(compared), *(table for table in drawn if table.rows))

    @property
    def remarks(self) -> Sequence[str]:
        """What a reader must know, below the tables; may hold a stranger's words."""
        compared = self.comparison
        about = (SHOWS, SHOWS_NOT) if helped(compared) else ()
        ends = dict.fromkeys(said for axis in AXES for said in formats.curves_beside_rates(compared, axis))
        return (INTERVALS, common(compared), *(remark.strip() for remark in compared.remarks), *about, *ends)

    def origins(self) -> Iterator[str]:
        """One sentence per benchmark: what it was about, and what it was measured with. May hold a stranger's words."""
        for one in self.stands_on:
            called = f"{one.benchmark}{f' ({one.name})' if one.name else ''}"
            yield (
                f"{called}: begun {minute(one.opened_at)}, {asked(one, one.origin.said)}; koderz {one.koderz_version}, "
                f"prices {one.price_version}, isolation {isolation(one.isolation, one.self_test)}; "
                f"journal: {journal(one)}."
            )

    @property
    def made(self) -> str:
        """When and by what."""
        return f"Made {minute(self.made_at)} by koderz {self.version}."


def markdown(report: Report) -> str:
    """The whole report; charts are in the HTML one."""
    lead = [f"# {TITLE}", *(f"**{escaped(said)}**" for said in report.warnings)]
    lead += map(escaped, report.comparison.findings)
    said = [f"- {escaped(one)}" for one in (*report.remarks, *report.origins(), report.made)]
    cited = f"### {TO_CITE}\n\n```bibtex\n{bibtex(report.stands_on, report.version)}```"
    return "\n\n".join([*lead, *markdown_tables(report.tables), "\n".join(said), cited]) + "\n"


def markdown_tables(tables: Sequence[TextTable]) -> Iterator[str]:
    """A heading and a table each."""
    for table in tables:
        head, *rows = (tuple(map(escaped, row)) for row in (table.columns, *table.rows))
        lines = (head, tuple("---" for _ in head), *rows)
        yield f"### {table.title}"
        yield "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escaped(text: str) -> str:
    """Labels may hold a stranger's words: nothing in them becomes a link, a mention, a picture, HTML or another cell.

    Where Markdown is shown, mentions and addresses are also looked for in what escapes came to, so those are broken by
    a mark without width.
    """
    line = re.sub(r"([\\`*_\[\]|~#])", r"\\\1", one_line(text))
    line = line.replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"(@|#(?=[0-9])|:(?=//)|www(?=\.))", rf"\1{NO_WIDTH}", line, flags=re.IGNORECASE)


def bibtex(stands_on: Iterable[Provenance], version: str) -> str:
    """An entry for koderz of this version, and one for each benchmark, whose key tells its states apart."""
    own = {
        "author": "{The koderz developers}",
        "title": f"{{{CITATION_TITLE}}}",
        "note": f"Version {_safe(version)}, MIT licence",
    }
    entries = [_entry("koderz", own), *(_entry(_key(one), _measured(one)) for one in stands_on)]
    return "\n\n".join(["% Fill in who measured: koderz does not know.", *entries]) + "\n"


def journal(of: Provenance) -> str:
    """What tells a benchmark's journal, as far as the numbers are made of it, from every other file."""
    return f"{of.journal_bytes} bytes, SHA-256 {of.journal_sha256}" if of.journal_sha256 else "could not be read"


def asked(of: Provenance, dataset: str) -> str:
    """How much of what it asked; ``dataset``: in words that fit where this is said."""
    times = f", each {of.repeats} times" if of.repeats > 1 else ""
    return f"{numbered(of.problems, 'problem')} of {dataset}{times}"


def _measured(of: Provenance) -> Mapping[str, str]:
    about = f"Benchmark {_safe(of.name) or _safe(of.benchmark)}: {asked(of, _safe(of.dataset))}"
    note = (
        *(["SCRIPTED: some answers come from a script, not from a model"] if of.scripted else []),
        f"Begun {minute(of.opened_at)}, koderz {_safe(of.koderz_version)}",
        f"{numbered(of.configurations, 'configuration')}, {of.ended} of {of.planned} experiments with a result",
        f"problems: SHA-256 {_safe(of.dataset_sha256[:12])}",
        f"journal: {journal(of)}",
    )
    return {
        "author": "{FILL IN}",
        "title": f"{{{about}}}",  # as it is: styles change other letters
        "year": day(of.opened_at)[:4],
        "note": "; ".join(note),
    }


def _key(of: Provenance) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "", f"{of.benchmark}-{(of.journal_sha256 or 'unknown')[:8]}")


def _entry(key: str, fields: Mapping[str, str]) -> str:
    return "\n".join([f"@misc{{{key},", *(f"  {name} = {{{text}}}," for name, text in fields.items()), "}"])


def _safe(text: str) -> str:
    """A stranger's words as one line that ends no field and commands nothing; what TeX would misread is a ``?``."""
    return _SPECIAL.sub(r"\\\g<0>", _UNSAFE.sub("?", one_line(text)))

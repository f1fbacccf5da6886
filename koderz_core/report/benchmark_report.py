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
from koderz_core.report import captions
from koderz_core.report.comparison import common, curves_table, frontier_table, tables, with_reviews
from koderz_core.report.formats import TextTable, isolation, numbered, one_line
from koderz_core.report.headline import answer
from koderz_core.report.supervision import SHOWS, SHOWS_NOT
from koderz_core.times import day, minute

TITLE = "koderz: comparison of configurations"
INTERVALS = (
    "Brackets contain 95 % intervals. n is the number of experiments with a result; the number after the slash is the "
    "number of planned experiments. $ means US dollars, and unpriced means that a price is not known. * marks an "
    "oracle rate: the tests that decide when a strategy stops also score its programs, so the rate is not pass@1."
)
NO_WIDTH = "&#8203;"
CITATION_TITLE = (
    "koderz: can cheap models with many attempts and a little frontier supervision match an expensive frontier model?"
)
TO_CITE = "Citation"
_UNSAFE = re.compile(r'[\\{}~^@<>|"`\N{REPLACEMENT CHARACTER}]')
_SPECIAL = re.compile("[#$%&_]")


@dataclass(frozen=True, slots=True)
class Report:
    """A comparison and its sources; ``made_at``: seconds since 1970, ``version``: of the koderz that made it."""

    comparison: Comparison
    sources: tuple[Provenance, ...]
    made_at: float
    version: str

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings before any number."""
        return (SOME_SCRIPTED,) if self.comparison.scripted else ()

    @property
    def sentences(self) -> Sequence[str]:
        """The answer in names, and all findings. Hostile text."""
        return (*answer(self.comparison).lines, *self.comparison.findings)

    @property
    def tables(self) -> Sequence[TextTable]:
        """All tables, including those of the charts."""
        compared = self.comparison
        drawn = (frontier_table(compared), *(curves_table(compared, axis) for axis in AXES))
        return (*tables(compared), *(table for table in drawn if table.rows))

    @property
    def remarks(self) -> Sequence[str]:
        """What a reader must know, below the tables. Hostile text."""
        compared = self.comparison
        about = (SHOWS, SHOWS_NOT) if with_reviews(compared) else ()
        ends = dict.fromkeys(remark for axis in AXES for remark in captions.curves_beside_rates(compared, axis))
        return (INTERVALS, common(compared), *(remark.strip() for remark in compared.remarks), *about, *ends)

    def origins(self) -> Iterator[str]:
        """One sentence per benchmark: its problems, and the versions it was measured with. Hostile text."""
        for source in self.sources:
            name = f"{source.benchmark}{f' ({source.name})' if source.name else ''}"
            yield (
                f"{name}: {began(source)}, {asked(source, source.origin.said)}; "
                f"koderz {source.koderz_version}, prices {source.price_version or 'none'}, "
                f"isolation {isolation(source.isolation, source.self_test)}; journal: {journal(source)}."
            )

    @property
    def made(self) -> str:
        """When and by which version it was made."""
        return f"Created {minute(self.made_at)} with koderz {self.version}."


def markdown(report: Report) -> str:
    """The whole report without charts, which only the HTML report has."""
    lead = [f"# {TITLE}", *(f"**{escaped(warning)}**" for warning in report.warnings)]
    lead += map(escaped, report.sentences)
    notes = [f"- {escaped(note)}" for note in (*report.remarks, *report.origins(), report.made)]
    cited = f"### {TO_CITE}\n\n```bibtex\n{bibtex(report.sources, report.version)}```"
    return "\n\n".join([*lead, *markdown_tables(report.tables), "\n".join(notes), cited]) + "\n"


def markdown_tables(tables: Sequence[TextTable]) -> Iterator[str]:
    """A heading and a table each."""
    for table in tables:
        head, *rows = (tuple(map(escaped, row)) for row in (table.columns, *table.rows))
        lines = (head, tuple("---" for _ in head), *rows)
        yield f"### {table.title}"
        yield "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escaped(text: str) -> str:
    """The text with Markdown and HTML escaped: no label becomes a link, a mention, a picture, HTML or another cell.

    Some viewers also look for mentions and addresses in escaped text, so a character without width splits these.
    """
    line = re.sub(r"([\\`*_\[\]|~#])", r"\\\1", one_line(text))
    line = line.replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"(@|#(?=[0-9])|:(?=//)|www(?=\.))", rf"\1{NO_WIDTH}", line, flags=re.IGNORECASE)


def bibtex(sources: Iterable[Provenance], version: str) -> str:
    """An entry for this version of koderz, and one per benchmark, whose key changes with its journal."""
    own = {
        "author": "{The koderz developers}",
        "title": f"{{{CITATION_TITLE}}}",
        "note": f"Version {_safe(version)}, MIT licence",
    }
    entries = [_entry("koderz", own), *(_entry(_key(source), _measured(source)) for source in sources)]
    return "\n\n".join(["% Replace FILL IN with the author of the measurement.", *entries]) + "\n"


def journal(of: Provenance) -> str:
    """Identifies a benchmark's journal, up to the events that the numbers are made of."""
    return f"{of.journal_bytes} bytes, SHA-256 {of.journal_sha256}" if of.journal_sha256 else "could not be read"


def began(of: Provenance) -> str:
    """When it started, or when which file was imported. Hostile text."""
    if of.imported is None:
        return f"started {minute(of.opened_at)}"
    return f"imported from {of.imported} at {minute(of.opened_at)}"


def asked(of: Provenance, dataset: str) -> str:
    """The number of its problems and repeats; ``dataset``: its name or description."""
    times = f", each {of.repeats} times" if of.repeats > 1 else ""
    return f"{numbered(of.problems, 'problem')} of {dataset}{times}"


def _measured(of: Provenance) -> Mapping[str, str]:
    about = f"Benchmark {_safe(of.name) or _safe(of.benchmark)}: {asked(of, _safe(of.dataset))}"
    note = (
        *(["SCRIPTED: some answers come from a script, not from a model"] if of.scripted else []),
        f"{_first_upper(_safe(began(of)))}, koderz {_safe(of.koderz_version)}",
        f"{numbered(of.configurations, 'configuration')}, {of.ended} of {of.planned} experiments with a result",
        f"dataset: SHA-256 {_safe(of.dataset_sha256[:12])}",
        f"journal: {journal(of)}",
    )
    return {
        "author": "{FILL IN}",
        "title": f"{{{about}}}",  # braces keep the letters as they are
        "year": day(of.opened_at)[:4],
        "note": "; ".join(note),
    }


def _key(of: Provenance) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "", f"{of.benchmark}-{(of.journal_sha256 or 'unknown')[:8]}")


def _entry(key: str, fields: Mapping[str, str]) -> str:
    return "\n".join([f"@misc{{{key},", *(f"  {name} = {{{text}}}," for name, text in fields.items()), "}"])


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _safe(text: str) -> str:
    """Hostile text as one line that neither ends a field nor is a TeX command; special characters become ``?``."""
    return _SPECIAL.sub(r"\\\g<0>", _UNSAFE.sub("?", one_line(text)))

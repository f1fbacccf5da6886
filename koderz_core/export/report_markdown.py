"""A comparison as Markdown, and a report around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from koderz_core.export.citation import TO_CITE, bibtex
from koderz_core.export.formats import one_line
from koderz_core.export.report import TITLE, Report
from koderz_core.export.worded import Table

NO_WIDTH = "&#8203;"


def markdown(report: Report) -> str:
    """The whole report; charts are in the HTML one."""
    lead = [f"# {TITLE}", *(f"**{escaped(said)}**" for said in report.warnings)]
    lead += map(escaped, report.comparison.findings)
    said = [f"- {escaped(one)}" for one in (*report.remarks, *report.origins(), report.made)]
    cited = f"### {TO_CITE}\n\n```bibtex\n{bibtex(report.stands_on, report.version)}```"
    return "\n\n".join([*lead, *markdown_tables(report.tables), "\n".join(said), cited]) + "\n"


def markdown_tables(tables: Sequence[Table]) -> Iterator[str]:
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

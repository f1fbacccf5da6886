"""How to cite what was measured: koderz, and each benchmark with the hash of its journal, as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from koderz_core.export.formats import numbered, plain
from koderz_core.export.report import SCRIPTED, Report, day
from koderz_core.records.provenance import Provenance

TO_CITE = "To cite this"
TITLE = "{koderz}: can cheap models with many tries, under a little frontier supervision, match an expensive one?"
_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\textbraceleft{}",  # with a backslash before it, it is still a brace to BibTeX
        "}": r"\textbraceright{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "`": r"\textasciigrave{}",
        "@": r"\char64{}",  # to some programs it begins an entry wherever it stands
        **{character: f"\\{character}" for character in "#$%&_"},
    }
)


def bibtex(report: Report) -> str:
    """An entry for koderz, and one for each benchmark; nothing that a stranger wrote ends a field."""
    version = f"Version {report.version}, MIT licence"
    entries = [_entry("koderz", {"author": "{The koderz developers}", "title": TITLE, "note": version})]
    entries += [_entry(one.benchmark, _measured(report, one)) for one in report.stands_on]
    return "\n\n".join(["% Fill in who measured: koderz does not know.", *entries]) + "\n"


def _measured(report: Report, of: Provenance) -> Mapping[str, str]:
    rows = [row for row in report.comparison.configurations if row.benchmark == of.benchmark]
    about = f"{of.problems} problems of {_safe(of.dataset)}"
    note = (
        f"Begun {day(of.opened_at)}, measured with koderz {_safe(of.koderz_version)}",
        f"compared here: {numbered(len(rows), 'configuration')} on {rows[0].planned // of.repeats} of the problems",
        f"{sum(row.n for row in rows)} of {sum(row.planned for row in rows)} experiments with a result",
        f"SHA-256 of the journal {report.digests[of.benchmark]}",
        *([SCRIPTED] if any(row.scripted for row in rows) else []),
    )
    return {
        "author": "{FILL IN}",
        "title": f"{{{_safe(of.name)}}}: {about}" if of.name else about,
        "year": f"{datetime.fromtimestamp(of.opened_at, UTC):%Y}",
        "note": "; ".join(note),
    }


def _entry(key: str, fields: Mapping[str, str]) -> str:
    key = re.sub(r"[^A-Za-z0-9_-]", "", key)
    return "\n".join([f"@misc{{{key},", *(f"  {name} = {{{text}}}," for name, text in fields.items()), "}"])


def _safe(text: str) -> str:
    """A stranger's words as one line that TeX prints as they are."""
    return " ".join(plain(text).split()).translate(_SPECIAL)

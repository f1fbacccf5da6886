"""How to cite what was measured: koderz, and each benchmark with the hash of its journal, as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from koderz_core.export.formats import day, numbered, one_line
from koderz_core.records.provenance import Provenance

TITLE = "koderz: can cheap models with many tries, under a little frontier supervision, match an expensive one?"
TO_CITE = "To cite this"
_UNSAFE = re.compile(r'[\\{}~^@<>|"`\N{REPLACEMENT CHARACTER}]')
_SPECIAL = re.compile("[#$%&_]")


def bibtex(stands_on: Iterable[Provenance], version: str) -> str:
    """An entry for koderz of this version, and one for each benchmark, whose key tells its states apart."""
    own = {
        "author": "{The koderz developers}",
        "title": f"{{{TITLE}}}",
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
        f"Begun {day(of.opened_at)}, koderz {_safe(of.koderz_version)}",
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

"""Citations: what was measured can be named and checked, and no stranger's word is a command of BibTeX or TeX."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from itertools import accumulate

import pytest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.export.citation import bibtex
from koderz_core.export.report import Report
from koderz_core.export.report_markdown import markdown

HOSTILE = "}\n}\n@misc{x, title={\\input{/etc/passwd}} 100% #1 $x$ a_b & ~ ^ `x`\x07"


@pytest.fixture
def report() -> Report:
    with open_workspace() as workspace:
        strong = Wanted("direct", {"coder": "scripted/strong"})
        plan = workspace.plan(replace(Order([strong], "0:3"), name="a study"))
        workspace.run(plan)
        return workspace.exporting.report([plan.id])


def entries(text: str) -> dict[str, dict[str, str]]:
    """As BibTeX reads it: an entry ends where its braces do, and a backslash before a brace means nothing."""
    found: dict[str, dict[str, str]] = {}
    for entry in re.split(r"^@misc", text, flags=re.MULTILINE)[1:]:
        depths = list(accumulate({"{": 1, "}": -1}.get(character, 0) for character in entry))
        end = depths.index(0)
        assert not entry[end + 1 :].strip()
        key, *fields = entry[1:end].strip().split("\n")
        found[key.rstrip(",")] = dict(re.findall(r"^ *([a-z]+) = {(.*)},$", "\n".join(fields), flags=re.MULTILINE))
    return found


def test_each_benchmark_is_named_with_the_hash_of_its_journal_and_a_scripted_one_says_so(report: Report) -> None:
    cited = entries(bibtex(report))
    (measured,) = report.stands_on
    assert list(cited) == ["koderz", measured.benchmark]
    assert cited["koderz"]["note"].startswith(f"Version {report.version}")
    one = cited[measured.benchmark]
    assert one["title"] == "{a study}: 3 problems of humaneval"
    with open_workspace() as workspace:
        journal = workspace.settings.journals_dir / f"{measured.benchmark}.jsonl"
    assert f"SHA-256 of the journal {hashlib.sha256(journal.read_bytes()).hexdigest()}" in one["note"]
    assert "1 configuration on 3 of the problems; 3 of 3 experiments with a result" in one["note"]
    assert "SCRIPTED" in one["note"]


def test_no_word_of_a_stranger_ends_a_field_or_is_obeyed(report: Report) -> None:
    (measured,) = report.stands_on
    named = replace(report, stands_on=(replace(measured, name=HOSTILE, dataset=HOSTILE),))
    assert list(entries(bibtex(named))) == ["koderz", measured.benchmark]
    (title,) = (one["title"] for key, one in entries(bibtex(named)).items() if key != "koderz")
    commands = {"textbackslash", "textbraceleft", "textbraceright", "textasciitilde", "textasciicircum"}
    assert set(re.findall(r"\\([a-z]+)", title)) == commands | {"textasciigrave", "char"}
    assert not re.search(r"(?<!\\)[#$%&_]|[~^`@\x07]", title)
    assert markdown(named).count("```") == 2

"""Citations: what was measured can be named and told apart, and no stranger's word is a command of BibTeX or TeX."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import pytest
import yaml

import koderz_core
from koderz_core import Order, Wanted, Workspace, open_workspace
from koderz_core.records import Plan
from koderz_core.records.rows import Provenance
from koderz_core.report.benchmark_report import CITATION_TITLE, bibtex, markdown
from koderz_core.report.export_request import ExportOrder
from koderz_core.times import minute

HOSTILE = '}\n}\n```\n@misc{x, title={\\input{/etc/passwd}} 100% #1 $x$ a_b & ~ ^ `x` <b> "a |\x07'
STRONG = Wanted("direct", {"coder": "scripted/strong"})
Measure = Callable[..., Plan]


@pytest.fixture
def measure() -> Measure:
    def run(problems: str = "0:3", repeats: int = 1, name: str = "a study") -> Plan:
        with open_workspace() as workspace:
            plan = workspace.plans.plan(Order([STRONG], problems, repeats=repeats, name=name))
            workspace.runs.run(plan)
        return plan

    return run


def journal_of(workspace: Workspace, plan: Plan) -> Path:
    return workspace.settings.journals_dir / f"{plan.id}.jsonl"


def cited(*of: str) -> dict[str, dict[str, str]]:
    with open_workspace() as workspace, workspace.exports.file(ExportOrder("comparison", "bibtex", of)) as made:
        return entries(made.read().decode())


def entries(text: str) -> dict[str, dict[str, str]]:
    """As BibTeX reads it: an entry ends where its braces do, and a backslash before a brace means nothing."""
    found: dict[str, dict[str, str]] = {}
    for entry in re.split(r"@misc", text)[1:]:
        depths = list(accumulate({"{": 1, "}": -1}.get(character, 0) for character in entry))
        end = depths.index(0)
        assert not entry[end + 1 :].strip()
        key, *fields = entry[1:end].strip().split("\n")
        found[key.rstrip(",")] = dict(re.findall(r"^ *([a-z]+) = {(.*)},$", "\n".join(fields), flags=re.MULTILINE))
    return found


def test_a_benchmark_is_named_with_the_hash_of_its_journal_and_a_scripted_one_says_so_first(measure: Measure) -> None:
    plan = measure(repeats=2)
    with open_workspace() as workspace:
        content = journal_of(workspace, plan).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    koderz, (key, one) = cited(plan.id).items()
    assert koderz[1]["note"].startswith(f"Version {koderz_core.__version__}")
    assert key == f"{plan.id}-{digest[:8]}"
    assert one["title"] == "{Benchmark a study: 3 problems of humaneval, each 2 times}"
    assert one["note"].startswith("SCRIPTED: some answers come from a script, not from a model; Started ")
    assert "; 1 configuration, 6 of 6 experiments with a result; " in one["note"]
    assert one["note"].endswith(f"journal: {len(content)} bytes, SHA-256 {digest}")


def test_reports_name_the_same_hash_and_how_to_cite_it(measure: Measure) -> None:
    plan = measure()
    with open_workspace() as workspace:
        digest = hashlib.sha256(journal_of(workspace, plan).read_bytes()).hexdigest()
        for form in ("markdown", "html"):
            with workspace.exports.file(ExportOrder("comparison", form, (plan.id,))) as made:
                said = made.read().decode()
            assert said.count(f"SHA-256 {digest}") == 2
            assert f"@misc{{{plan.id}-{digest[:8]}," in said


def test_the_hash_is_of_what_the_numbers_are_made_of(measure: Measure) -> None:
    plan = measure()
    before = cited(plan.id)
    with open_workspace() as workspace:
        journal = journal_of(workspace, plan)
    with journal.open("ab") as file:
        file.write(b'{"torn')
    assert cited(plan.id) == before


def test_a_journal_that_is_not_where_it_belongs_is_said_to_be_missing(measure: Measure) -> None:
    plan = measure()
    with open_workspace() as workspace:
        journal = journal_of(workspace, plan)
    journal.rename(journal.with_name("renamed.jsonl"))
    assert cited(plan.id)[f"{plan.id}-unknown"]["note"].endswith("journal: could not be read")


def test_each_benchmark_of_a_comparison_has_an_entry(measure: Measure) -> None:
    plans = [measure("0:2", name=name) for name in ("one", "other")]
    assert [key.split("-")[0] for key in cited(*(plan.id for plan in plans))] == [
        "koderz",
        *(item.id for item in plans),
    ]


def test_a_baseline_from_elsewhere_is_cited_where_the_report_stands_on_it() -> None:
    with open_workspace(tiers={"scripted/strong": "frontier"}) as workspace:
        plans = []
        for coder, problems in (("never", "0:3"), ("weak", "1:4"), ("strong", "1:3")):
            plan = workspace.plans.plan(Order([Wanted("direct", {"coder": f"scripted/{coder}"})], problems))
            workspace.runs.run(plan)
            plans.append(plan.id)
        stands_on = workspace.exports.report(plans[:2], same_problems=True).sources
        with workspace.exports.file(ExportOrder("comparison", "bibtex", (*plans[:2],), same_problems=True)) as made:
            found = entries(made.read().decode())
    assert {source.benchmark for source in stands_on} == set(plans)
    assert {key.split("-")[0] for key in found} == {"koderz", *plans}


def test_no_word_of_a_stranger_ends_a_field_or_is_obeyed(measure: Measure) -> None:
    plan = measure(name=HOSTILE)
    with open_workspace() as workspace:
        report = workspace.exports.report([plan.id])
    (measured,) = report.sources
    assert measured.name == HOSTILE
    everywhere = replace(measured, name=" ", dataset=HOSTILE, koderz_version=HOSTILE, dataset_sha256=HOSTILE)
    for stands_on in (measured, everywhere, replace(everywhere, benchmark=HOSTILE)):
        _, (key, one) = entries(bibtex([stands_on], "0")).items()
        assert re.fullmatch(r"[A-Za-z0-9_-]+", key)
        assert set(one) == {"author", "title", "year", "note"}
        assert "Benchmark :" not in one["title"]
        for field in one.values():
            assert set(re.findall(r"\\.", field)) <= {r"\#", r"\$", r"\%", r"\&", r"\_"}
            assert not re.search(r'(?<!\\)[#$%&_]|[~^`@<>|"\x07\ufffd]', field)
    fences = [line for line in markdown(report).splitlines() if line.startswith("```")]
    assert fences == ["```bibtex", "```"]


def test_what_no_script_answered_is_not_called_scripted() -> None:
    one = Provenance(
        "bench_0", "", "humaneval", "ab" * 32, "MIT", 1, 1, "0.1.0", "none", "strong", "17/17", 0.0, 1, 1, 0, False, 9
    )
    said = entries(bibtex([one], "0"))["bench_0-unknown"]
    assert said["title"] == "{Benchmark bench\\_0: 1 problem of humaneval}"
    assert said["note"].startswith("Started 1970-01-01 00:00 UTC, koderz 0.1.0; 1 configuration, 0 of 1 experiments")


@pytest.mark.parametrize("at", [1e18, 1e300, 2.6e11, -1e11, float("nan")])
def test_what_is_no_time_is_no_bug_of_koderz(at: float) -> None:
    assert minute(at) == "?"


def test_the_file_for_those_who_cite_koderz_alone_has_its_title() -> None:
    file = Path(koderz_core.__file__).parents[1] / "CITATION.cff"
    assert yaml.safe_load(file.read_text(encoding="utf-8"))["title"] == CITATION_TITLE

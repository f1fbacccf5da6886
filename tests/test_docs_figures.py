"""The figures that the guides show of the example are those that koderz says of it, and so are the remarks."""

from __future__ import annotations

import gzip
import json
import math
import re
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

import koderz_core
from koderz_core.analysis.power import detectable, power
from koderz_core.cli import commands

ROOT = Path(koderz_core.__file__).parents[1]
SAID_BY = (
    ("example",),
    ("compare", "--attempts"),
    ("problems",),
    ("problems", "--between", "A", "C"),
    ("analyze", "exp_f6feeedb545c"),
)
SHOWN = {
    "README.md": "## A recorded example",
    "docs/quickstart.md": "## 2. |## 3. ",
    "docs/reading-the-numbers.md": "## ",
}
"""Guides, with the sections whose fenced blocks without a language are what the example gives."""


def one_line(text: str) -> str:
    return " ".join(text.split())


@cache
def said(home: Path) -> str:
    shell = CliRunner(env={"COLUMNS": "250", "KODERZ_HOME": str(home)})
    return one_line("\n".join(shell.invoke(commands, arguments, standalone_mode=False).output for arguments in SAID_BY))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("example")


def shown(guide: str, sections: str) -> list[str]:
    parts = re.split(r"^(?=## )", (ROOT / guide).read_text(), flags=re.MULTILINE)
    wanted = "\n".join(part for part in parts if re.match(sections, part))
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", wanted, re.MULTILINE | re.DOTALL)
    return [one_line(line.rstrip("…\n")) for language, block in blocks if not language for line in block.splitlines()]


@pytest.mark.parametrize("guide", SHOWN)
def test_what_a_guide_shows_of_the_example_is_what_koderz_says_of_it(guide: str, home: Path) -> None:
    lines = shown(guide, SHOWN[guide])
    assert len(lines) > 3
    assert [line for line in lines if line not in said(home)] == []


def test_the_table_of_what_a_plan_can_show_is_what_the_code_computes() -> None:
    table = (ROOT / "docs" / "statistics.md").read_text().partition("of 3, 5, 7 points at 12 % discordance |")[2]
    rows = re.findall(r"^\| (\d+) \| (.+) \| (.+) \| (.+) \| (.+) \|$", table.partition("\n\n")[0], re.MULTILINE)
    assert len(rows) == 8
    for problems, half, most, at_25, at_12 in rows:
        n = int(problems)
        found = [100 * detectable(n, 0.25, share) for share in (0.5, 0.8)]
        assert [half, most] == ["-" if value == math.inf else f"{value:.1f}" for value in found]
        for said_power, discordant in ((at_25, 0.25), (at_12, 0.12)):
            chances = [100 * power(n, gap, discordant) for gap in (0.03, 0.05, 0.07)]
            assert said_power == ", ".join(f"{chance:.0f} %" for chance in chances)


def test_every_remark_that_the_guide_explains_is_one_that_koderz_makes() -> None:
    guide = (ROOT / "docs" / "reading-the-numbers.md").read_text()
    first_cells = re.findall(r"^\| (`.+?`) \|", guide[guide.index("## Remarks") :], re.MULTILINE)
    folders = [ROOT / "koderz_core" / name for name in ("analysis", "report", "workspace")]
    code = "".join(path.read_text() for folder in folders for path in sorted(folder.glob("*.py")))
    words = [word for cell in first_cells for word in re.findall(r"`([^`]+)`", cell)]
    assert words
    assert [word for word in words if word not in code] == []


def test_the_registered_sequential_benchmark_still_gives_the_result_of_the_guide(tmp_path: Path) -> None:
    (tmp_path / "journals").mkdir()
    packed = (ROOT / "docs" / "journals" / "bench_17658dc26250.jsonl.gz").read_bytes()
    (tmp_path / "journals" / "bench_17658dc26250.jsonl").write_bytes(gzip.decompress(packed))
    shell = CliRunner(env={"COLUMNS": "250", "KODERZ_HOME": str(tmp_path)})
    printed = [shell.invoke(commands, (name, "bench_17658dc26250")) for name in ("verify", "compare")]
    assert [item.exit_code for item in printed] == [0, 0]
    result = re.search(r"Result: (matches .*? percentage points) .*? e-value (\S+) for", one_line(printed[1].output))
    assert result is not None
    guide = one_line((ROOT / "docs" / "statistics.md").read_text()).replace("**", "")
    assert f"Result: {result[1]}" in guide
    assert f"e-value of {result[2]} for the match" in guide


@pytest.mark.parametrize(
    ("benchmark", "guide", "section"),
    [
        ("bench_1f589bca2dcb", "datasets.md", "## Programs to repair"),
        ("bench_f90ea79a9cbb", "datasets.md", "## Files and classes to write"),
        ("bench_41b4bf3cd922", "strategies.md", "## A selector that learns from results"),
        ("bench_69ba7c33ac51", "repository-tasks.md", "## Results of two small models"),
    ],
)
def test_the_benchmarks_with_embedded_models_still_give_the_rates_of_the_guides(
    benchmark: str, guide: str, section: str, tmp_path: Path
) -> None:
    (tmp_path / "journals").mkdir()
    packed = (ROOT / "docs" / "journals" / f"{benchmark}.jsonl.gz").read_bytes()
    (tmp_path / "journals" / f"{benchmark}.jsonl").write_bytes(gzip.decompress(packed))
    printed = CliRunner(env={"KODERZ_HOME": str(tmp_path)}).invoke(commands, ("results", benchmark, "--json"))
    assert printed.exit_code == 0
    rates = {
        (row["label"].split()[0], "+".join(re.findall(r"[\d.]+b\b", row["label"]))): round(
            100 * row["solved"] / row["planned"]
        )
        for row in json.loads(printed.output)
    }
    text = (ROOT / "docs" / guide).read_text().partition(section)[2].partition("\n## ")[0]
    said = re.findall(r"^\| (\w+) ([\d.+B]+)(?: \([a-z ]+\))? \| (\d+) % \[", text, re.MULTILINE)
    assert {(strategy, size.lower()): int(rate) for strategy, size, rate in said} == rates

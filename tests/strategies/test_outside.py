"""Strategies of other authors: read from a file that a person names, or offered by an installed package."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.conditions import check_same
from koderz_core.config import Settings
from koderz_core.errors import DataError, KoderzError, PlanError, UnknownNameError
from koderz_core.plan.clone import wanted_of
from koderz_core.plan.command_line import configuration_of
from koderz_core.plan.forms import faults_of_installed, strategy_form, strategy_forms, values_of
from koderz_core.plan.order import configuration
from koderz_core.records import Scalar
from koderz_core.strategies import called, class_of, complete, create
from koderz_core.strategies.outside import installed, is_named_file, is_recorded_file, read_file, version_of

Install = Callable[..., None]

MINE = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Mine:
    '''Ask a word.'''
    size: int = 3
    several = ("coder",)
    def roles(self): return ("coder", "judge")
    def solve(self, ctx): return None
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a package in this process: its module, and the strategies that it offers."""

    def put(module: str, source: str, **offered: str) -> None:
        folder = tmp_path / module
        kept = folder / f"{module}-1.2.dist-info"
        kept.mkdir(parents=True)
        (folder / f"{module}.py").write_text(source)
        (kept / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.2\n")
        points = "\n".join(f"{name} = {module}:{target}" for name, target in offered.items())
        (kept / "entry_points.txt").write_text(f"[koderz.strategies]\n{points}\n")
        monkeypatch.syspath_prepend(folder)

    return put


def test_a_class_in_a_file_is_known_by_what_the_file_holds(mine: Path) -> None:
    name = read_file(f"{mine}:Mine").name
    assert name == f"mine.py:Mine@{hashlib.sha256(MINE.encode()).hexdigest()[:12]}"
    assert (is_named_file(f"{mine}:Mine"), is_recorded_file(name)) == (True, True)
    assert complete(name, {"size": 5}) == {"size": 5}
    assert called(name, {}) == "mine.py:Mine"
    form = strategy_form(name)
    assert (form.doc, [(role.name, role.several) for role in form.roles]) == (
        "Ask a word.",
        [("coder", True), ("judge", False)],
    )


def test_a_changed_file_is_another_strategy(mine: Path) -> None:
    before = read_file(f"{mine}:Mine").name
    mine.write_text(MINE.replace("3", "4"))
    after = read_file(f"{mine}:Mine").name
    assert before != after
    assert (complete(before, {}), complete(after, {})) == ({"size": 3}, {"size": 4})


def test_nothing_is_read_because_a_record_names_it(mine: Path) -> None:
    for name in (f"{mine}:Mine", "mine.py:Mine@0123456789ab"):
        with pytest.raises(UnknownNameError, match="Unknown strategy"):
            class_of(name)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("frozen=True", "frozen=False", "not a frozen dataclass"),
        ("class Mine", "class Other", r"Unknown strategy in .*\.py: 'Mine'\. Known: Other"),
        ("size: int = 3", "size: int", "size needs a default"),
        ("size: int = 3", "size: tuple = ()", "size needs a default"),
        ("def solve", "def solved", "no method solve"),
        ('("coder", "judge")', '("judge",)', "it lacks the role coder"),
        ('("coder", "judge")', "1 / 0", "cannot be used with its defaults: ZeroDivisionError"),
        ("several =", "__post_init__ = lambda self: 1 / 0\n    several =", "its defaults: ZeroDivisionError"),
        ("size: int = 3", "size: int = nothing", "cannot be loaded: NameError"),
        ("class Mine:", "class Mine", "cannot be loaded: SyntaxError"),
        ("from dataclasses", "raise SystemExit\nfrom dataclasses", "cannot be loaded: SystemExit"),
    ],
)
def test_what_is_no_strategy_is_refused_with_the_reason(mine: Path, before: str, after: str, said: str) -> None:
    mine.write_text(MINE.replace(before, after))
    with pytest.raises(KoderzError, match=said):
        read_file(f"{mine}:Mine")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"):
        read_file(f"{tmp_path}/none.py:Mine")


def test_what_a_package_offers_stands_behind_koderz_own(install: Install) -> None:
    install("offering_one", MINE, mine="Mine")
    assert [form.name for form in strategy_forms()][-1] == "mine"
    assert (complete("mine", {}), version_of("mine")) == ({"size": 3}, "offering_one 1.2")
    assert version_of("direct") is None


def test_a_package_that_fails_keeps_nobody_from_the_others(install: Install) -> None:
    install("offering_two", MINE.replace("frozen=True", ""), broken="Mine", direct="Mine")
    assert installed() == ("broken", "direct")
    assert {"broken", "direct"} & {form.name for form in strategy_forms()} == {"direct"}
    assert "koderz ignores the installed strategy direct" in faults_of_installed()["direct"]
    assert "broken of offering_two 1.2 is not a strategy" in faults_of_installed()["broken"]
    with pytest.raises(PlanError, match="not a frozen dataclass"):
        class_of("broken")


def test_a_strategy_may_refuse_parameters_and_is_offered_with_the_others(install: Install) -> None:
    careful = "careful: bool = False\n    def __post_init__(self):\n        if self.careful: raise ValueError('no')"
    install("offering_four", MINE.replace("size: int = 3", careful), wary="Mine")
    assert strategy_forms()[-1].name == "wary"
    with pytest.raises(PlanError, match="wary cannot be used with careful=True: ValueError: no"):
        complete("wary", {"careful": True})


def test_an_installed_strategy_is_run_and_recorded_with_its_package(install: Install) -> None:
    install("offering_three", MINE, threefold="Mine")
    with open_workspace() as workspace:
        models = {"coder": ("scripted/weak", "scripted/strong")}
        plan = workspace.plans.plan(Order([Wanted("threefold", models, {"size": 4})], "0:1"))
        workspace.runs.run(plan)
        (row,) = workspace.results.experiments(plan.id)
        assert workspace.plans.clone(plan.id).order.configurations[0].parameters == {"size": 4}
    assert (row.strategy, row.outcome, row.reason) == ("threefold", "unsolved", "gave_up")
    assert plan.conditions["threefold strategy"] == "offering_three 1.2"


def test_a_value_that_is_neutral_in_koderz_replaces_the_default_of_another_author(
    install: Install, settings: Settings
) -> None:
    own = 'lessons: bool = True\n    turn_timeout: float = 60.0\n    hint: str = "Be brief."'
    install("offering_five", MINE.replace("size: int = 3", own), fifth="Mine")
    given: dict[str, Scalar] = {"lessons": False, "turn_timeout": 0.0, "hint": ""}
    usual = configuration(Wanted("fifth", {"coder": "scripted/weak"}), settings)
    made = configuration(Wanted("fifth", {"coder": "scripted/weak"}, given), settings)
    assert asdict(create("fifth", made.parameters)) == given
    assert usual.id != made.id
    assert wanted_of(made).parameters == given


@pytest.mark.parametrize(
    ("declared", "value", "values"),
    [
        ("steps: int = 5", 3, "whole number, 1 or more"),
        ("limit: int = -1", -2, "whole number"),
        ("limit: int = 2000000000", 5, "whole number, 1 or more"),
        ("penalty: float = -0.5", 0.5, "number"),
        ("first_temperature: float = 300.0", 100.0, "number, 0 or more"),
        ("personas: int = 3", 4, "whole number, 1 or more"),
        ("personas: str = 'ada'", "ada,bob", "text"),
        ("size: int = parameter(2, 'How many.', (1, 2, 4))", 4, "1 or 2 or 4"),
    ],
)
def test_an_author_chooses_the_names_and_the_defaults_of_parameters(
    mine: Path, settings: Settings, declared: str, value: Scalar, values: str
) -> None:
    imported = "from koderz_core.strategies.parameters import parameter\n"
    mine.write_text(f"{imported}{MINE.replace('size: int = 3', declared)}")
    name, key = read_file(f"{mine}:Mine").name, declared.partition(":")[0]
    wanted = configuration_of(f"{mine}:Mine coder=ollama/qwen3:8b {key}={value}")
    assert wanted.parameters == {key: value}
    assert configuration(wanted, settings).parameters == {key: value}
    (shown,) = strategy_form(name).parameters
    usual = configuration(replace(wanted, parameters={}), settings)
    assert (usual.parameters, values_of(shown)) == ({key: shown.default}, values)


def test_a_value_that_its_author_did_not_list_is_refused_with_the_listed_ones(mine: Path) -> None:
    listed = "size: int = parameter(2, 'How many.', (1, 2, 4))"
    imported = "from koderz_core.strategies.parameters import parameter\n"
    mine.write_text(f"{imported}{MINE.replace('size: int = 3', listed)}")
    with pytest.raises(PlanError, match=r"size must be one of 1, 2, 4, not 3\."):
        create(read_file(f"{mine}:Mine").name, {"size": 3})


def test_under_another_version_of_its_package_a_benchmark_does_not_go_on() -> None:
    then, now = ({"mine strategy": f"offering {version}"} for version in ("1.2", "1.3"))
    with pytest.raises(
        PlanError,
        match=r"strategy was offering 1\.2 and is now offering .* \(to undo the change: install offering 1\.2 again\)",
    ):
        check_same("bench_0", now, then)

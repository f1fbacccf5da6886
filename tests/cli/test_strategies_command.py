"""``koderz strategies``, options generated from strategies, and strategies in files of one's own."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import koderz_core
from koderz_core import lazy
from koderz_core.cli.benchmark import benchmark
from koderz_core.cli.order import order
from koderz_core.plan import strategy_files
from koderz_core.plan.order import Wanted
from koderz_core.records import fingerprint
from koderz_core.strategies import STRATEGIES, complete, offered
from koderz_core.strategies.facts import ROLES

Koderz = Callable[..., Any]
DOCS = Path(koderz_core.__file__).parents[1] / "docs" / "strategies.md"
CODER = ("--coder", "scripted/strong")


def forget_files() -> None:
    """As another process would begin."""
    lazy.forget("strategies read from files")


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    """The example of the documentation, as a person copies it."""
    found = re.search(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert found
    path = tmp_path / "somewhere" / "twice.py"
    path.parent.mkdir()
    path.write_text(found[1])
    return path


def ordered(words: str) -> list[Wanted]:
    return list(order(benchmark.make_context("benchmark", words.split()).params, "0:1").configurations)


def test_all_strategies_are_listed_with_their_roles_and_calls(koderz: Koderz) -> None:
    assert [row["name"] for row in koderz("strategies", "--json").json] == [*offered()]
    said = koderz("strategies").out
    assert "coder*, tester" in said
    assert "one, and one more for a spec." in said


def test_one_strategy_is_shown_with_its_parameters_their_defaults_and_values(koderz: Koderz) -> None:
    lines = [" ".join(line.split()) for line in koderz("strategies", "warming").out.splitlines()]
    assert "coder Writes the programs. one or more" in lines
    assert any(line.startswith("max_iterations 50 whole number, 1 or more Maximum number") for line in lines)
    assert "Example: koderz benchmark --configuration 'warming coder=MODEL'" in lines


def test_an_unknown_strategy_is_told_with_its_neighbours(koderz: Koderz) -> None:
    said = koderz("strategies", "supervise")
    assert (said.code, "Did you mean: supervised" in said.err) == (2, True)


def test_every_parameter_and_every_role_has_an_option() -> None:
    words = {word for option in benchmark.params for word in (*option.opts, *option.secondary_opts)}
    for name in {name for strategy in STRATEGIES for name in complete(strategy, {})}:
        shown = {"chain_of_thought": "cot"}.get(name, name).replace("_", "-")
        assert words & {f"--{shown}", f"--no-{shown}"}, name
    for role in ROLES:
        assert words & {f"--{role}", f"--{role}-model"}, role


def test_options_reach_every_strategy_that_has_them() -> None:
    best, debate = ordered("--strategy best_of,debate --coder a --judge b --no-judge --rounds 3 --speaker c,d")
    assert best.parameters == {"judge": False}
    assert debate.parameters == {"rounds": 3}
    assert debate.models == {"coder": "a", "judge": ("b",), "speaker": ("c", "d")}


def test_a_temperature_is_that_of_retries_too_unless_they_have_their_own() -> None:
    (one,) = ordered("--strategy supervised --coder a --temperature 0.3")
    assert one.parameters == {"temperature": 0.3, "retry_temperature": 0.3}
    (other,) = ordered("--strategy supervised --coder a --temperature 0.3 --retry-temperature 0.9")
    assert other.parameters["retry_temperature"] == 0.9


def test_the_documented_strategy_runs_beside_koderz_own(koderz: Koderz, twice: Path) -> None:
    said = koderz("benchmark", "--problems", "0:2", "--strategy", f"direct,{twice}:Twice", *CODER, "--json")
    assert said.code == 0
    assert {row["label"]: row["solved"] + row["unsolved"] for row in said.json} == {
        "direct SCRIPTED strong": 2,
        "twice.py:Twice SCRIPTED strong": 2,
    }
    (journal,) = Path("../home/journals").resolve().glob("*.jsonl")
    assert "somewhere" not in journal.read_text()


def begun(koderz: Koderz, twice: Path) -> str:
    """A benchmark that a pilot left unfinished, in a process that has ended since."""
    configuration = f"{twice}:Twice coder=scripted/strong tries=3"
    said = koderz("benchmark", "--problems", "0:2", "--pilot", "1", "--configuration", configuration, "--json")
    assert said.code == 0
    forget_files()
    return str(said.json[0]["benchmark"])


def test_a_strategy_in_a_file_goes_on_in_another_process(koderz: Koderz, twice: Path) -> None:
    said = koderz("resume", begun(koderz, twice), "--json")
    assert (said.code, said.json[0]["solved"] + said.json[0]["unsolved"]) == (0, 2)


def test_a_file_that_was_changed_is_not_executed(koderz: Koderz, twice: Path) -> None:
    name = begun(koderz, twice)
    twice.write_text(f"{twice.read_text()}\nraise SystemExit(99)\n")
    said = koderz("resume", name)
    assert said.code == 2
    assert f"{twice} has changed since {name} started" in said.err


def test_the_command_for_a_changed_file_works_with_spaces_in_its_path(koderz: Koderz, twice: Path) -> None:
    twice = twice.rename(twice.parent / "to be twice.py")
    words = ("benchmark", "--name", "mine", "--problems", "0:2", "--strategy", f"{twice}:Twice", *CODER)
    assert koderz(*words, "--pilot", "1").code == 0
    forget_files()
    twice.write_text(f"{twice.read_text()}\n# changed\n")
    advised = koderz("resume", "mine").err.partition("new configuration: koderz ")[2]
    assert shlex.split(advised) == ["benchmark", "--strategy", f"{twice}:Twice"]


def test_a_named_benchmark_is_extended_by_a_changed_file(koderz: Koderz, twice: Path) -> None:
    words = ("benchmark", "--name", "mine", "--problems", "0:1", "--strategy", f"{twice}:Twice", *CODER)
    assert koderz(*words).code == 0
    forget_files()
    twice.write_text(f"{twice.read_text()}\n# changed\n")
    said = koderz(*words)
    assert (said.code, "Added to the recorded benchmark: 1 configuration." in said.err) == (0, True)
    assert [row["planned"] for row in koderz("results", "mine", "--json").json] == [1, 1]


def test_an_extended_benchmark_is_resumed_without_the_earlier_file_if_all_its_experiments_have_ended(
    koderz: Koderz, twice: Path
) -> None:
    twice.write_text(twice.read_text().replace("    def roles", "    shows_attempts = False\n\n    def roles"))
    words = ("benchmark", "--name", "mine", "--problems", "0:2", "--strategy", f"{twice}:Twice", *CODER)
    assert koderz(*words).code == 0
    forget_files()
    twice.write_text(f"{twice.read_text()}\n# changed\n")
    assert koderz(*words, "--pilot", "1").code == 0
    forget_files()
    said = koderz("resume", "mine")
    assert said.code == 0, said.err
    rows = koderz("results", "mine", "--json").json
    assert [row["solved"] + row["unsolved"] for row in rows] == [2, 2]
    forget_files()
    extended = ("benchmark", "--name", "mine", "--problems", "0:2", "--strategy", "repair", *CODER)
    assert koderz(*extended).code == 0


def test_a_file_that_is_gone_is_missed_until_somebody_says_where_it_is(koderz: Koderz, twice: Path) -> None:
    name = begun(koderz, twice)
    moved = twice.parent.parent / "twice.py"
    twice.rename(moved)
    said = koderz("resume", name)
    assert said.code == 3
    assert f"koderz resume {name} --strategy PATH/twice.py:Twice" in said.err
    assert koderz("resume", name, "--strategy", f"{moved}:Twice").code == 0
    forget_files()
    assert koderz("resume", name).code == 0


def test_a_strategy_that_a_benchmark_does_not_use_is_not_ignored_when_it_is_resumed(
    koderz: Koderz, twice: Path
) -> None:
    name = begun(koderz, twice)
    moved = twice.rename(twice.parent.parent / "twice.py")
    moved.write_text(f"{moved.read_text()}\n# changed\n")
    for strategy in (f"{moved}:Twice", "supervised"):
        said = koderz("resume", name, "--strategy", strategy)
        assert (said.code, f"{name} does not use the strategy {Path(strategy).name}" in said.err) == (2, True)
        assert "Give the path of the unchanged file" in said.err


def test_two_processes_that_name_files_at_the_same_time_lose_neither(
    koderz: Koderz, twice: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored, class_of = Path("../home/strategies.json"), strategy_files.class_of
    other = {"other.py:Other@0123456789ab": {"path": "/other.py", "sha256": "0" * 64}}

    def meanwhile(name: str) -> object:
        stored.parent.mkdir(exist_ok=True)
        stored.write_text(json.dumps(other))
        return class_of(name)

    monkeypatch.setattr(strategy_files, "class_of", meanwhile)
    begun(koderz, twice)
    assert {name.partition("@")[0] for name in json.loads(stored.read_text())} == {"other.py:Other", "twice.py:Twice"}


def test_a_journal_makes_nobody_execute_a_file_that_was_not_named_here(koderz: Koderz, twice: Path) -> None:
    name = begun(koderz, twice)
    Path("../home/strategies.json").unlink()
    said = koderz("resume", name)
    assert said.code == 2
    assert "koderz does not know where the file of the strategy twice.py:Twice@" in said.err


def test_results_are_counted_in_the_same_way_by_a_process_that_has_not_executed_the_file(
    koderz: Koderz, twice: Path
) -> None:
    source = twice.read_text().replace("    def roles", "    independent_samples = True\n\n    def roles")
    twice.write_text(source.replace("break", "continue"))
    assert koderz("benchmark", "--problems", "0:2", "--strategy", f"{twice}:Twice", *CODER).code == 0
    words = ("compare", "--pass-at-k", "--format", "json")
    found = koderz(*words).json["pass_at_k"]["rates"]
    assert "samples" in {row["draws"] for row in found}
    forget_files()
    twice.unlink()
    assert koderz(*words).json["pass_at_k"]["rates"] == found


def test_a_configuration_of_before_has_the_same_id() -> None:
    (one,) = ordered("--strategy supervised --coder a --spec-model b --no-cot --max-iterations 5")
    assert fingerprint((one.models, one.parameters)) == fingerprint(
        ({"coder": "a", "spec": ("b",)}, {"chain_of_thought": False, "max_iterations": 5})
    )

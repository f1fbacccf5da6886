"""The example: a real journal of nobody in particular, put beside the user's own once."""

from __future__ import annotations

import getpass
import re
import socket
from pathlib import Path

from koderz_core import open_workspace
from koderz_core.examples import EXAMPLE, example_journal
from koderz_core.journal import read_all
from koderz_core.runner.header import recorded_plan


def test_its_ids_follow_from_its_plan(tmp_path: Path) -> None:
    path = tmp_path / f"{EXAMPLE}.jsonl"
    path.write_bytes(example_journal())
    plan = recorded_plan(path)
    assert (plan.id, plan.name.partition(":")[0]) == (EXAMPLE, "example")
    named = {entry.experiment for entry in read_all(path)} - {None}
    assert named == {experiment.id for experiment in plan.experiments()}


def test_it_names_no_folder_machine_or_person() -> None:
    text = example_journal().decode()
    assert re.findall(r"/(?:home|root|tmp|Users|work|var)/", text) == []
    assert [name for name in (socket.gethostname(), getpass.getuser()) if len(name) > 4 and name in text] == []


def test_it_is_a_finished_benchmark_like_any_other() -> None:
    with open_workspace() as workspace:
        workspace.upkeep.open_example()
        (row,) = workspace.results.benchmarks()
        assert workspace.results.faults == ()
    assert (row.id, row.state, row.solved, row.planned, row.scripted) == (EXAMPLE, "finished", 34, 54, False)


def test_opening_it_again_changes_nothing_of_what_it_has_become() -> None:
    with open_workspace() as workspace:
        path = workspace.settings.journals_dir / f"{workspace.upkeep.open_example()}.jsonl"
        path.write_bytes(path.read_bytes() + b"{")
        workspace.upkeep.open_example()
    assert path.read_bytes() == example_journal() + b"{"


def test_it_is_gone_once_its_journal_is_deleted() -> None:
    with open_workspace() as workspace:
        path = workspace.settings.journals_dir / f"{workspace.upkeep.open_example()}.jsonl"
        assert workspace.results.benchmarks()
        path.unlink()
        assert workspace.results.benchmarks() == []

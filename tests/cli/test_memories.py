"""``koderz cortex recall``, ``show`` and ``lessons``."""

from __future__ import annotations

import json
from typing import Any

import pytest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.config import load_settings
from koderz_core.memory.cortex.write_tools import remember
from koderz_core.memory.memory_file import open_memory_file


def test_what_is_remembered_is_found_and_shown_without_being_obeyed(koderz: Any) -> None:
    with open_memory_file(load_settings(), make=True) as cortex:
        assert cortex is not None
        remember(cortex, title="One\x1b[31m", content="of the moon\x1b[2J", tags=["spec", "exp_1"])
        remember(cortex, title="Other", content="of the sun", tags=["iteration"])
    assert "[1] One" in koderz("cortex", "recall", "moon").out
    assert [
        load["id"] for load in json.loads(koderz("cortex", "recall", "--kind", "iteration", "--json").out)["memories"]
    ] == [2]
    shown = koderz("cortex", "show", "1")
    assert "of the moon" in shown.out
    assert "\x1b" not in shown.out
    assert koderz("cortex", "show", "9").code == 2


def test_where_nothing_is_remembered_it_says_so_and_makes_no_file(koderz: Any) -> None:
    assert "No matching memories" in koderz("cortex", "recall", "moon").out
    assert koderz("cortex", "show", "1").code == 2
    assert not (load_settings().home / "cortex.db").exists()


def test_lessons_are_distilled_from_journals_and_remembered_once(koderz: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "No lessons yet" in koderz("cortex", "lessons").out
    weak = Wanted("supervised", {"coder": "scripted/weak"}, {"max_iterations": 2, "spec": False, "checkpoints": False})
    with open_workspace() as workspace:
        workspace.runs.run(workspace.plans.plan(Order([weak], "0:14")))
    assert "No lessons yet" in koderz("cortex", "lessons", "--dry-run").out  # a script teaches nothing
    monkeypatch.setenv("KODERZ_MEMORY", "all")
    assert "SCRIPTED" in koderz("cortex", "lessons", "--dry-run").out
    assert "No" in koderz("cortex", "recall", "--kind", "lesson").out
    assert "Lessons stored: 1 new, 0 updated, 0 unchanged." in koderz("cortex", "lessons").out
    again = json.loads(koderz("cortex", "lessons", "--json").out)
    assert again["kept"] == {"added": 0, "renewed": 0}
    assert again["lessons"][0]["problems"]

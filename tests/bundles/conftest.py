"""Journals that a runner wrote, in a data folder of the test's own."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from koderz_core import Workspace, open_workspace
from koderz_core.config import Settings
from koderz_core.runner.header import recorded_plan

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture
def recorded(settings: Settings) -> str:
    """The id of a benchmark of direct and supervised experiments, some of them unsolved."""
    return kept(settings, GOLDEN / "schema-1.jsonl")


@pytest.fixture
def opened() -> Iterator[Workspace]:
    with open_workspace() as workspace:
        yield workspace


@pytest.fixture
def rewrite(recorded: str, settings: Settings) -> Callable[[Callable[[dict[str, Any]], None]], str]:
    """Changes every line of the journal; texts and the plan get the hashes and ids that they have then.

    Gives the id that the benchmark has then.
    """
    path = settings.journals_dir / f"{recorded}.jsonl"

    def change(how: Callable[[dict[str, Any]], None]) -> str:
        before = recorded_plan(path)
        lines, renamed = [json.loads(line) for line in path.read_text().splitlines()], {}
        for line in lines:
            how(line)
            if line["kind"] == "text_stored":
                was, text = line["event"]["sha256"], line["event"]["text"]
                renamed[was] = line["event"]["sha256"] = hashlib.sha256(text.encode()).hexdigest()
        whole = "".join(json.dumps(line) + "\n" for line in lines)
        for old, new in renamed.items():
            whole = whole.replace(old, new)
        path.write_text(whole)
        after = recorded_plan(path)
        ids = zip(before.experiments(), after.experiments(), strict=True)
        for old, new in ((before.id, after.id), *((item.id, other.id) for item, other in ids)):
            whole = whole.replace(old, new)
        path.unlink()
        (settings.journals_dir / f"{after.id}.jsonl").write_text(whole)
        return after.id

    return change


def kept(settings: Settings, journal: Path) -> str:
    benchmark = str(json.loads(journal.read_text().splitlines()[0])["event"]["benchmark"])
    settings.journals_dir.mkdir(parents=True, exist_ok=True)
    shutil.copy(journal, settings.journals_dir / f"{benchmark}.jsonl")
    return benchmark

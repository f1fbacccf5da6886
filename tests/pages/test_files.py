"""The files of an experiment, from its page."""

from __future__ import annotations

from typing import Any

from koderz_core import open_workspace
from koderz_core.records import Plan


def test_an_experiments_page_offers_its_files(visit: Any, recorded: Plan) -> None:
    with open_workspace() as workspace:
        (first, *_) = workspace.results.experiments(recorded.id)
    page = visit("experiment", experiment=first.id)
    assert not page.exception
    assert [button.label for button in page.get("download_button")] == ["Files"]

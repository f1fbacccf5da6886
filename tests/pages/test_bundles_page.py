"""Bundles on the Export page, the report of an error, and a dashboard that shows a bundle."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from menu import PAGES
from reading import said

from koderz_core import open_workspace
from koderz_core.bundles.checks import checked_bundle
from koderz_core.bundles.creation import open_bundle
from koderz_core.config import Settings
from koderz_core.examples import EXAMPLE, example_journal
from koderz_core.workspace.datasets import Datasets


@pytest.fixture(scope="module")
def _read(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder whose index has read the example."""
    home = tmp_path_factory.mktemp("example")
    with open_workspace(home=home, memory="off") as workspace:
        folder = workspace.settings.journals_dir
        folder.mkdir(parents=True)
        (folder / f"{EXAMPLE}.jsonl").write_bytes(example_journal())
        workspace.results.benchmarks()
    return home


@pytest.fixture
def example(settings: Settings, _read: Path) -> str:
    shutil.copytree(_read, settings.home, dirs_exist_ok=True)
    return EXAMPLE


def press(app: Any, label: str) -> Any:
    return next(button for button in app.button if button.label == label).click().run()


def test_a_bundle_is_made_as_open_as_chosen(visit: Any, example: str, settings: Settings) -> None:
    app = press(visit("export", table="bundle", privacy="team_safe"), "Create bundle")
    assert not app.exception
    assert "Nothing was uploaded" in app.success[0].value
    (path,) = (settings.home / "bundles").glob("*.zip")
    assert checked_bundle(path).level == "team_safe"


def test_a_benchmark_is_verified(visit: Any, example: str) -> None:
    app = press(visit("export", table="bundle"), "Verify benchmark")
    assert "Verified. Checked" in app.success[0].value


def test_what_differs_is_shown(visit: Any, example: str, settings: Settings) -> None:
    journal = settings.journals_dir / f"{EXAMPLE}.jsonl"
    journal.write_text(journal.read_text().replace('"text":"', '"text":"x', 1))
    app = press(visit("export", table="bundle"), "Verify benchmark")
    assert "Verification failed" in app.error[0].value
    assert app.dataframe[0].value["value"].tolist() == ["the SHA-256"]


def test_bundles_are_cleared(visit: Any, example: str, settings: Settings) -> None:
    app = press(visit("export", table="bundle"), "Create bundle")
    press(app, "Remove unpinned bundles")
    assert list((settings.home / "bundles").glob("*.zip")) == []


def test_every_page_says_that_a_bundle_is_shown(
    visit: Any, example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_workspace() as workspace:
        path = workspace.bundles.make(EXAMPLE, "public_safe").path
    open_bundle(path, tmp_path / "shown")
    monkeypatch.setenv("KODERZ_HOME", str(tmp_path / "shown"))
    for page in PAGES:
        app = visit(page)
        assert not app.exception
        assert "Read-only: this dashboard shows a bundle (privacy level: public_safe)" in said(app), page


def test_an_error_offers_a_report(visit: Any, example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_self: Datasets) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(Datasets, "names", broken)
    app = visit("launch")
    assert "This is a bug in koderz" in said(app)
    assert "Download bug report" in [button.proto.label for button in app.get("download_button")]


def test_the_page_models_offers_a_bug_report_and_shows_its_content(visit: Any, settings: Settings) -> None:
    app = visit("models")
    assert "Download bug report" in [button.proto.label for button in app.get("download_button")]
    shown = "".join(code.value for code in app.code)
    assert '"koderz": ' in shown
    assert str(settings.home) not in shown

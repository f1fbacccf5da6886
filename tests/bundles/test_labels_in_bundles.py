"""Labels and notes in a bundle: the content at each level, the same bytes without them, and hostile ones refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from test_bundles import PLANTED, changed, everything, made

from koderz_core import Workspace, open_workspace
from koderz_core.bundles.archive import unpacked
from koderz_core.bundles.checks import checked_bundle
from koderz_core.bundles.creation import open_bundle
from koderz_core.errors import DataError, UsageError

WORDS = f"see {PLANTED['path']} of {PLANTED['user']}, {PLANTED['secret']}"


@pytest.fixture
def labelled(opened: Workspace, recorded: str) -> str:
    """The benchmark, with a label that it still has, one that was removed, and a note."""
    experiment = opened.results.experiments(recorded)[0].id
    opened.labels.change(experiment, add=["gone for good", PLANTED["path"]], note=WORDS)
    opened.labels.change(experiment, remove=["gone for good"])
    return recorded


@pytest.mark.parametrize(
    ("level", "texts"),
    [
        ("public_safe", ["[path]"]),
        ("team_safe", ["[path]", "see [path] of [user], [secret]"]),
        ("full_internal", [PLANTED["path"], WORDS.replace(PLANTED["secret"], "[secret]")]),
    ],
)
def test_each_level_masks_labels_and_only_the_safest_leaves_notes_out(
    opened: Workspace, labelled: str, tmp_path: Path, level: str, texts: list[str]
) -> None:
    path = made(opened, labelled, tmp_path, level)
    open_bundle(path, tmp_path / "shown")
    with open_workspace(home=tmp_path / "shown") as shown:
        annotations = shown.results.annotations()
        assert [annotation.text for annotation in annotations] == texts
        assert shown.results.experiments(among=[annotations[0].experiment])
        with pytest.raises(UsageError, match="read-only"):
            shown.labels.change(annotations[0].experiment, add=["mine"])
    assert "gone for good" not in everything(path)


def test_without_labels_the_bytes_are_those_of_before(opened: Workspace, labelled: str, tmp_path: Path) -> None:
    with_labels = unpacked(made(opened, labelled, tmp_path))
    (opened.settings.home / "labels" / f"{labelled}.jsonl").unlink()
    without = unpacked(made(opened, labelled, tmp_path / "again"))
    assert set(with_labels) - set(without) == {"labels.jsonl"}
    assert {name for name in without if without[name] != with_labels[name]} == {"manifest.json"}


@pytest.mark.parametrize("how", [lambda text: text.replace(b"[path]", b"\\u001b"), lambda text: text * 2 + b"{}\n"])
def test_a_bundle_with_a_hostile_label_is_refused(
    opened: Workspace, labelled: str, tmp_path: Path, how: Callable[[bytes], bytes]
) -> None:
    path = changed(made(opened, labelled, tmp_path), "labels.jsonl", how, also_hash=True)
    assert {difference.what for difference in checked_bundle(path).verified.differences} == {"the content"}
    with pytest.raises(DataError, match="was refused"):
        open_bundle(path, tmp_path / "shown")

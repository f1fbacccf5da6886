"""The small repository, with and without git."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_repository import FILES, git, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The small repository without git."""
    write(tmp_path / "shop", FILES)
    return tmp_path / "shop"


@pytest.fixture
def committed(folder: Path) -> Path:
    """The small repository with two commits, both of which changed ``src/shop/cart.py``."""
    git(folder, "init", "-q", "-b", "trunk")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Open the shop")
    with (folder / "src/shop/cart.py").open("a") as file:
        file.write("\nEMPTY = Cart()\n")
    git(folder, "commit", "-qam", "Add an empty cart")
    return folder

"""The map of a repository says what is in it, and no file of it is a reason to fail."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from pathlib import Path

import pytest
from small_repository import git, write

from koderz_core.errors import UsageError
from koderz_core.records.repositories import Count, EntryPoint, HotSpot, PythonModule
from koderz_core.repositories import map_repository


def modules_of(folder: Path) -> dict[str, PythonModule]:
    return {module.path: module for module in map_repository(folder).modules}


def test_a_map_holds_files_languages_tests_commands_and_entry_points(folder: Path) -> None:
    found = map_repository(folder)
    assert (found.name, found.project.version, found.project.dependencies) == ("shop", "1.2", ("httpx>=0.28",))
    assert [file.path for file in found.files] == sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*"))
    python = found.languages[0]
    assert (python.language, python.files, python.lines) == ("Python", 7, 24)
    assert [file.path for file in found.of_kind("test")] == ["tests/helper.py", "tests/test_cart.py"]
    assert found.frameworks == ("pytest",)
    assert [it.command for it in found.commands] == ["pytest", "ruff check ."]
    assert found.entry_points == (
        EntryPoint("script", "shop", "shop.cli:main", "pyproject.toml"),
        EntryPoint("module", "python -m shop", "", "src/shop/__main__.py"),
    )
    assert "Lines have at most 100 characters (pyproject.toml)." in found.conventions
    assert (found.git, found.git_fault, found.omitted, found.left_out) == (None, "", (), 0)


def test_imports_are_those_of_own_modules_packages_and_the_standard_library(folder: Path) -> None:
    found = map_repository(folder)
    modules = {module.path: module for module in found.modules}
    cart, test = modules["src/shop/cart.py"], modules["tests/test_cart.py"]
    assert (cart.name, cart.summary, cart.imports) == ("shop.cart", "The cart of a customer.", ("src/shop/prices.py",))
    assert (cart.packages, cart.standard) == ((), ("decimal", "json"))
    assert test.imports == ("src/shop/cart.py", "tests/helper.py")
    assert found.most_imported[0] == Count("src/shop/cart.py", 3)
    assert [it.name for it in found.packages] == ["click", "httpx", "pytest"]
    (whole, total) = cart.definitions
    assert (total.name, total.line, total.end_line, total.typed, total.documented) == ("Cart.total", 7, 9, True, True)
    assert (whole.kind, whole.name) == ("class", "Cart")


@pytest.mark.parametrize(
    ("line", "imports"),
    [
        ("from . import b", ["pkg/b.py"]),
        ("from .b import name", ["pkg/b.py"]),
        ("from ..pkg.b import name", ["pkg/b.py"]),
        ("from .sub import c", ["pkg/sub/c.py"]),
        ("import pkg.b", ["pkg/__init__.py", "pkg/b.py"]),
        ("from pkg import b, other", ["pkg/__init__.py", "pkg/b.py"]),
        ("from pkg.missing import name", ["pkg/__init__.py"]),
        ("import test.support", ["test/support.py"]),
        ("import json, b", []),
        ("import a", []),
    ],
)
def test_an_import_leads_to_the_file_that_python_would_load(tmp_path: Path, line: str, imports: list[str]) -> None:
    names = ("pkg/__init__", "pkg/b", "pkg/sub/__init__", "pkg/sub/c", "test/__init__", "test/support", "json")
    write(tmp_path, {f"{name}.py": "" for name in names} | {"pkg/a.py": f"{line}\n"})
    assert list(modules_of(tmp_path)["pkg/a.py"].imports) == imports


def test_git_gives_the_state_the_hot_spots_and_the_files_that_are_not_ignored(committed: Path) -> None:
    write(committed, {"run.log": "ignored\n", "new.py": "x = 1\n", "build/made.py": "y = 1\n"})
    found = map_repository(committed)
    assert found.git is not None
    assert (found.git.branch, found.git.counted, found.git.dirty) == ("trunk", 2, ("new.py",))
    assert [commit.subject for commit in found.git.commits] == ["Add an empty cart", "Open the shop"]
    assert found.hot_spots[0] == HotSpot("src/shop/cart.py", 2, 11, 22)
    assert {"run.log", "build/made.py"}.isdisjoint({file.path for file in found.files})
    inner = map_repository(committed / "src")
    assert inner.git is not None
    assert (inner.git.dirty, inner.hot_spots[0].path) == ((), "shop/cart.py")


def test_a_folder_that_an_outer_repository_ignores_is_mapped_all_the_same(committed: Path) -> None:
    write(committed, {"build/deep/made.py": "y = 1\n"})
    assert [file.path for file in map_repository(committed / "build/deep").files] == ["made.py"]


def test_nothing_that_a_repositorys_git_configuration_names_is_run_and_its_index_stays(committed: Path) -> None:
    spy = committed.parent / "spy"
    spy.write_text(f"#!/bin/sh\necho ran >> {committed.parent}/ran\ncat\n")
    spy.chmod(0o755)
    write(committed, {".gitattributes": "*.py filter=spy\n"})
    named = ("core.fsmonitor", "filter.spy.clean", "filter.spy.process", "gpg.program", "core.sshCommand")
    for key in named:
        git(committed, "config", key, str(spy))
    for key in ("filter.spy.required", "log.showSignature"):
        git(committed, "config", key, "true")
    cart = committed / "src/shop/cart.py"
    cart.write_text(cart.read_text().replace("EMPTY", "OTHER"))
    os.utime(cart, (1, 1))
    before = (committed / ".git/index").read_bytes()
    found = map_repository(committed)
    assert found.git is not None
    assert "src/shop/cart.py" in found.git.dirty
    assert not (committed.parent / "ran").exists()
    assert (committed / ".git/index").read_bytes() == before


def test_a_git_that_cannot_switch_programs_off_is_not_asked_for_the_state(
    committed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = committed.parent / "tools"
    write(tools, {"git": f'#!/bin/sh\nGIT_CONFIG_COUNT=0 exec {shlex.quote(str(shutil.which("git")))} "$@"\n'})
    (tools / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
    found = map_repository(committed)
    assert (found.git, found.git_fault) == (
        None,
        "git is older than version 2.31, so koderz cannot disable the programs that the git configuration names",
    )
    assert "src/shop/cart.py" in {file.path for file in found.files}


def test_a_file_outside_of_the_folder_that_the_index_names_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, {"secret.py": '"""A secret."""\n', "folder/mine.py": "x = 1\n"})
    outside, folder = str(tmp_path / "secret.py"), tmp_path / "folder"
    stand_in = f"_{outside[1:]}"  # of the same length, so that the index stays valid
    write(folder, {stand_in: ""})
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    (folder / stand_in).unlink()
    index = (folder / ".git/index").read_bytes()[:-20].replace(stand_in.encode(), outside.encode())
    (folder / ".git/index").write_bytes(index + hashlib.sha1(index, usedforsecurity=False).digest())
    found = map_repository(folder)
    assert [module.path for module in found.modules] == ["mine.py"]
    assert {it.path: it.reason for it in found.omitted} == {outside: "is outside of the folder"}


def test_broken_and_strange_files_are_part_of_the_map_and_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "secret"
    outside.mkdir()
    (outside / "key.py").write_text("key = 1\n")
    folder = tmp_path / "folder"
    write(
        folder,
        {
            "broken.py": "def f(\n",
            "escape.py": 'x = "\\d"\n',
            "pyproject.toml": "[project",
            "package.json": "[]",
            "setup.py": "setup(entry_points={'console_scripts': 5})\n",
        },
    )
    (folder / "zeros.py").write_bytes(b"\0\0")
    (folder / "big.py").write_bytes(b"#" * (2 << 20))
    (folder / "linked").symlink_to(outside)
    (folder / "link.py").symlink_to(outside / "key.py")
    os.mkfifo(folder / "pipe")
    found = map_repository(folder)
    faults = {module.path: module.fault for module in found.modules}
    assert faults["broken.py"] == "syntax error in line 1"
    assert (faults["escape.py"], faults.keys()) == ("", {"big.py", "broken.py", "escape.py", "setup.py", "zeros.py"})
    reasons = {it.path: it.reason for it in found.omitted}
    assert (reasons["linked"], reasons["link.py"], reasons["pipe"]) == (
        "is a link",
        "is a link",
        "is not a regular file",
    )
    assert {"pyproject.toml", "package.json", "big.py"} <= reasons.keys()
    assert {file.path for file in found.files}.isdisjoint({"linked/key.py", "link.py", "pipe"})


@pytest.mark.parametrize("name", ["missing", "file"])
def test_what_is_no_folder_is_wrong_usage(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="Give the path of the folder of a repository"):
        map_repository(tmp_path / name)

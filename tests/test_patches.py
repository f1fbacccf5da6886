"""Unified diffs: what is made applies exactly, and what does not apply is refused with the file's name."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koderz_core import patches
from koderz_core.patches import PatchError, apply_patch, make_patch, places_of, read_patch

_LINES = st.lists(
    st.sampled_from(["a\n", "b\n", "\n", "-- x\n", "+y\n", "\\ z\n", " \n", "\x0c\r\n", "\u2028\n"]), max_size=12
)
_TEXTS = st.builds(lambda lines, last: "".join(lines) + last, _LINES, st.sampled_from(["", "end", "--- a"]))
_FILES = st.dictionaries(st.sampled_from(["a.py", "b/c d.py", "new.py"]), _TEXTS, max_size=3)
_WITH_TEXT = st.dictionaries(st.sampled_from(["a.py", "b/c d.py", "new.py"]), _TEXTS.filter(bool), max_size=3)


@given(_FILES, _FILES)
def test_a_patch_turns_the_old_files_into_the_new_ones(before: dict[str, str], after: dict[str, str]) -> None:
    assert apply_patch(make_patch(before, after), before) == after


@given(_WITH_TEXT, _WITH_TEXT)
def test_a_comparison_that_takes_long_gives_one_hunk_that_applies(
    before: dict[str, str], after: dict[str, str]
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(patches, "_MOST_LINES", 0)
        patch = make_patch(before, after)
    assert apply_patch(patch, before) == after
    assert all(len(change.hunks) == 1 for change in read_patch(patch))


def test_a_file_of_equal_lines_is_compared_at_once() -> None:
    old, new = {"a.py": "x\ny\n" * 200_000}, {"a.py": "y\nx\ny\ny\n" * 100_000}
    assert apply_patch(make_patch(old, new), old) == new


def test_a_hunk_moves_to_the_only_place_where_its_lines_are() -> None:
    patch = make_patch({"a.py": "x = 1\ny = 2\n"}, {"a.py": "x = 1\ny = 3\n"})
    assert apply_patch(patch, {"a.py": "# new\n# lines\nx = 1\ny = 2\n"}) == {"a.py": "# new\n# lines\nx = 1\ny = 3\n"}
    with pytest.raises(PatchError, match=r"a\.py: the lines from 'x = 1' on"):
        apply_patch(patch, {"a.py": "# new\nx = 1\ny = 2\nx = 1\ny = 2\n"})


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ("--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,1 @@\n-x = 1\n", "the numbers of lines in a hunk differ"),
        ("@@ -1 +1 @@\n-x\n+y\n", "before any file is named"),
        ("--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-x\n+y\n", r"b\.py does not exist"),
        ("--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+y\n", "would be a new file, but it exists"),
        ("--- /dev/null\n+++ /dev/null\n", "no name"),
    ],
)
def test_a_patch_that_cannot_be_applied_says_why(patch: str, reason: str) -> None:
    with pytest.raises(PatchError, match=reason):
        apply_patch(patch, {"a.py": "x = 1\n"})


def test_lines_around_a_patch_are_ignored() -> None:
    patch = make_patch({"a.py": "x = 1\n"}, {"a.py": "x = 2\n"})
    text = f"diff --git a/a.py b/a.py\nindex 1..2 100644\n{patch}\nThat is all.\n"
    assert [change.path for change in read_patch(text)] == ["a.py"]
    assert apply_patch(text, {"a.py": "x = 1\n"}) == {"a.py": "x = 2\n"}


def test_changes_that_git_writes_without_hunks_are_read(tmp_path: Path) -> None:
    before = {"a/empty.py": b"", "old.py": b"x = 1\n", "mode.py": b"y\n", "bin": b"\0", "c.py": b"c\n"}
    after = {"a/new file.py": b"", "b/new.py": b"x = 1\n", "mode.py": b"y\n", "bin2": b"\0\1", "c.py": b"d\n"}
    _write(tmp_path, before, after)
    (tmp_path / "after" / "mode.py").chmod(0o755)
    patch = _differences(tmp_path)
    assert {(change.old, change.new) for change in read_patch(patch)} == {
        ("a/empty.py", None),
        (None, "a/new file.py"),
        ("old.py", "b/new.py"),
        ("c.py", "c.py"),
    }
    assert apply_patch(patch, {"a/empty.py": "", "old.py": "x = 1\n", "c.py": "c\n"}) == {
        "a/new file.py": "",
        "b/new.py": "x = 1\n",
        "c.py": "d\n",
    }


def test_copies_and_names_in_quotes_are_read_as_git_writes_them(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(20))
    before = {"a.py": text, "\u00e4 b.py": "x\n", "gone\u4e2d.py": "", 'quote".py': "y\n"}
    after = {"a.py": f"first\n{text}", "copy.py": text, "other.py": f"{text}more\n"}
    after |= {"\u00e4 b.py": "z\n", 'quote".py': "z\n"}
    _write(tmp_path, *({path: files[path].encode() for path in files} for files in (before, after)))
    patch = _differences(tmp_path, "-C")
    assert (patch.count("copy from a.py"), patch.count("\\303\\244")) == (2, 4)
    assert apply_patch(patch, before) == after


def test_files_exchange_their_names_but_none_replaces_a_file_that_stays() -> None:
    heading = "diff --git a/{0} b/{1}\nsimilarity index 100%\nrename from {0}\nrename to {1}\n"
    files = {"a.py": "a\n", "b.py": "b\n"}
    patch = heading.format("a.py", "b.py")
    assert apply_patch(patch + heading.format("b.py", "a.py"), files) == {"a.py": "b\n", "b.py": "a\n"}
    twice = heading.format("c.py", "b.py") + heading.format("b.py", "d.py")
    for more, before in (("", files), (twice, {**files, "c.py": "c\n"})):
        with pytest.raises(PatchError, match=r"b\.py would be a new file, but it exists"):
            apply_patch(patch + more, before)


def _write(folder: Path, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
    for name, files in (("before", before), ("after", after)):
        for path, content in files.items():
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_bytes(content)


def _differences(folder: Path, *options: str) -> str:
    """What ``git diff`` says of the folders ``before`` and ``after``, as of two commits."""
    git = ["git", f"--git-dir={folder}/.git"]
    subprocess.run([*git, "init", "--quiet"], check=True, cwd=folder)
    trees = list[str]()
    for name in ("before", "after"):
        subprocess.run([*git, f"--work-tree={folder / name}", "add", "--all", "."], check=True, cwd=folder / name)
        trees.append(subprocess.run([*git, "write-tree"], check=True, capture_output=True, text=True).stdout.strip())
    compare = [*git, "-c", "core.quotePath=true", "diff", "-M", "--no-rename-empty", *options, *trees]
    return subprocess.run(compare, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("number", ["9" * 5000, "0" * 10])
def test_a_number_that_is_too_long_is_no_heading_of_a_hunk(number: str) -> None:
    (change,) = read_patch(f"--- a/x\n+++ b/x\n@@ -{number} +1 @@\n-a\n+b\n")
    assert change.hunks == ()


@given(lines=st.text("ab", max_size=12), wanted=st.text("ab", min_size=1, max_size=4))
def test_lines_are_found_at_their_first_two_places(lines: str, wanted: str) -> None:
    places = [at for at in range(len(lines)) if lines[at : at + len(wanted)] == wanted]
    assert places_of(list(wanted), list(lines)) == places[:2]

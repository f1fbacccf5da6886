"""Patches as text: what each file's changes are, and how two patches differ in their effect."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from koderz_core.patches import apply_patch, make_patch
from koderz_core.report.patches import change_between, changes_of, is_patch, patch_size

FILES = {"a.py": "x = 1\ny = 2\n", "b.py": "z = 3\n"}
_LINES = st.lists(st.sampled_from(["a\n", "b\n", "\n", "-- x\n", "++ y\n"]), min_size=1, max_size=30)
_TREES = st.fixed_dictionaries({"a.py": _LINES.map("".join)}, optional={"new.py": _LINES.map("".join)})


@given(_TREES, _TREES)
def test_the_changes_of_each_file_are_the_whole_patch(before: dict[str, str], after: dict[str, str]) -> None:
    kept = {name: text for name, text in before.items() if name in after}
    changes = changes_of(make_patch(kept, after))
    whole = "".join(f"--- {_old(change.what, change.path)}\n+++ b/{change.path}\n{change.text}" for change in changes)
    assert apply_patch(whole, kept) == after
    assert sum(change.added - change.removed for change in changes) == _lines(after) - _lines(kept)


def _old(what: str, path: str) -> str:
    return "/dev/null" if what == "new file" else f"a/{path}"


def _lines(files: dict[str, str]) -> int:
    return sum(text.count("\n") for text in files.values())


def test_a_new_and_a_deleted_file_are_named_and_the_size_counts_lines() -> None:
    changes = changes_of(make_patch(FILES, {"a.py": "x = 1\ny = 5\n", "c.py": "c\n"}))
    assert [(change.path, change.what, change.size) for change in changes] == [
        ("a.py", "", "+1 -1"),
        ("b.py", "deleted", "+0 -1"),
        ("c.py", "new file", "+1 -0"),
    ]
    assert changes[2].text == "@@ -0,0 +1,1 @@\n+c\n"
    assert patch_size(changes) == "3 files, +2 -2"


def test_a_python_program_and_a_broken_patch_are_no_patches() -> None:
    patch = make_patch(FILES, {**FILES, "a.py": ""})
    assert is_patch(patch)
    assert is_patch(make_patch({}, {"a.py": ""}))
    assert not any(map(is_patch, ("", "x = 1\n", "--- a\n", f"# {patch}", patch.replace("-1,2", "-1,9"))))


def test_two_patches_differ_in_the_lines_that_they_leave_in_the_files() -> None:
    first = make_patch(FILES, {"a.py": "x = 0\ny = 2\n", "b.py": "z = 0\n"})
    second = make_patch(FILES, {"a.py": "x = 0\ny = 2\n", "b.py": "z = 9\n"})
    between = change_between(first, second, FILES)
    assert between is not None
    assert "-z = 0\n+z = 9\n" in between
    assert "a.py" not in between
    assert change_between(first, second, {}) is None

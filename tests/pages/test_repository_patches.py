"""Programs that are patches of a repository on pages: changes file by file, and the tests before and after."""

from __future__ import annotations

from reading import said
from streamlit.testing.v1 import AppTest


def test_a_patch_is_shown_file_by_file_as_text_and_a_long_one_is_folded() -> None:
    def page() -> None:
        from koderz_core.patches import make_patch  # noqa: PLC0415 (a script of its own)
        from pages.ui.programs import show_program  # noqa: PLC0415

        long = "".join(f"line {number}\n" for number in range(80))
        show_program(make_patch({"a.py": "x = 1\n"}, {"a.py": "x = 2\n", "b/**c** <i>.py": long}), "it")

    app = AppTest.from_function(page, default_timeout=30).run()
    assert not app.exception
    assert "2 files, +81 -1" in said(app)
    assert [text.value for text in app.text] == ["a.py", "+1 -1", "b/**c** <i>.py", "new file · +80 -0"]
    assert app.code[0].value == "@@ -1,1 +1,1 @@\n-x = 1\n+x = 2"
    assert [folded.label for folded in app.expander] == ["Show 81 lines of changes"]


def test_two_patches_are_compared_by_their_effect_and_without_files_as_texts() -> None:
    def page() -> None:
        from koderz_core.patches import make_patch  # noqa: PLC0415 (a script of its own)
        from pages.ui.programs import show_diff  # noqa: PLC0415

        files = {"a.py": "x = 1\n", "b.py": "y = 1\n"}
        first, second = (make_patch(files, {"a.py": "x = 2\n", "b.py": last}) for last in ("y = 1\n", "y = 3\n"))
        show_diff(first, second, "by effect", files=lambda: files)
        show_diff(first, second, "as texts")
        show_diff(first, first, "same", files=lambda: files)

    app = AppTest.from_function(page, default_timeout=30).run()
    assert not app.exception
    assert app.code[0].value == "@@ -1,1 +1,1 @@\n-y = 1\n+y = 3"
    assert "The files of the repository are not available" in said(app)
    assert "+++ b/b.py" in app.code[1].value
    assert "identical" in said(app)


def test_tests_are_listed_by_what_the_patch_changed() -> None:
    def page() -> None:
        from koderz_core.records import TestFailure, Verdict  # noqa: PLC0415 (a script of its own)
        from koderz_core.report.repository_tests import RepositoryTests  # noqa: PLC0415
        from pages.ui.repository_tests import show_test_changes  # noqa: PLC0415

        gate = ("t.py::T::test_fixed", "t.py::T::test_still", "u.py::test_broken", "u.py::test_kept")
        tests = RepositoryTests(frozenset(gate[:2]), gate, (), gate)
        failure = TestFailure(1, "def test_still(self):\n    self.f('**b**')", "1", "<i>", "1 != 2")
        show_test_changes(tests, Verdict("PFFP", (failure,), True, "faked", "twin", 0.1, "strong"), None, [])

    app = AppTest.from_function(page, default_timeout=30).run()
    assert not app.exception
    assert "failing tests fixed 1 of 2" in said(app)
    assert "passing tests kept 1 of 2" in said(app)
    must, broken, kept = (table.value for table in app.dataframe)
    assert list(must["test"]) == ["T::test_fixed", "T::test_still"]
    assert list(must["actual"]) == ["", "<i>"]
    assert list(broken["start → now"]) == ["✓ → ✗ broken"]
    assert list(kept["test"]) == ["test_kept"]
    assert "Test 2: t.py::T::test_still" in said(app)
    assert "passed a test that was changed so that it must fail" in said(app)

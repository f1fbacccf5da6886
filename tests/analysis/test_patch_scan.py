"""Signs in patches: only of the statements that a patch changes, without those that were there before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koderz_core.analysis.patch_scan import signs_in_patch
from koderz_core.analysis.program_scan import Sign
from koderz_core.patches import make_patch
from koderz_core.records import Problem, PublicProblem, TestSet

OLD = "import sys\n\n\ndef leave():\n    sys.exit(1)\n\n\ndef double(x):\n    return x\n"
FILES = {"a.py": OLD, "b.txt": "one\n"}
PROBLEM = Problem(PublicProblem("t/1", "", "", kind="repo", files=FILES), TestSet(ids=("t.py::test",)), "")


@pytest.mark.parametrize(
    ("new", "signs"),
    [
        (OLD.replace("return x", "return 2 * x"), ()),
        (OLD.replace("return x", "return sys._getframe(1).f_locals['y']"), ("frames",)),
        (OLD.replace("sys.exit(1)", "sys.exit(2)"), ()),
        (OLD.replace("return x", "sys.exit(0)"), ("exit",)),
        (OLD + "\n\nclass Any:\n    def __eq__(self, other):\n        return True\n", ("equality",)),
        (OLD.replace("return x", "return ("), None),
    ],
)
def test_signs_in_what_a_patch_changes(new: str, signs: tuple[Sign, ...] | None) -> None:
    assert signs_in_patch(make_patch(FILES, FILES | {"a.py": new}), PROBLEM) == signs


def test_signs_that_were_in_a_renamed_file_are_not_new() -> None:
    old = OLD.replace("return x", "sys.exit(0)")
    problem = replace(PROBLEM, public=replace(PROBLEM.public, files={"a.py": old}))
    patch = make_patch({"a.py": old}, {"a.py": old.replace("sys.exit(0)", "sys.exit(1)")})
    assert signs_in_patch(patch.replace("+++ b/a.py", "+++ b/c.py"), problem) == ()
    again = make_patch({"c.py": old.replace("sys.exit(0)", "sys.exit(1)")}, {"c.py": f"{old}\n# end\n"})
    assert signs_in_patch(patch.replace("+++ b/a.py", "+++ b/c.py") + again, problem) == ()


def test_what_does_not_apply_cannot_be_scanned_and_an_empty_patch_has_no_sign() -> None:
    assert signs_in_patch(make_patch({"a.py": "x\n"}, {"a.py": "y\n"}), PROBLEM) is None
    assert signs_in_patch("", PROBLEM) == ()

"""Replies about a repository become a unified diff of its files that applies exactly, or a reason why they do not."""

from __future__ import annotations

import re

import pytest

from koderz_core.patches import apply_patch
from koderz_core.prompts.extraction import extract
from koderz_core.records import Extracted, PublicProblem
from koderz_core.records.verdicts import WELL_FORMED

AREA = '''"""Areas."""

import math


def area(width, height):
    """The area of a rectangle."""
    return width + height


def size(width):
    return width


class Circle:
    """A circle."""

    def __init__(self, r):
        self.r = r

    @property
    def area(self):
        return math.pi * self.r

    def double(self):
        return Circle(self.r * 2)
'''
WINDOWS = "x = 1\r\ny = 2\r\n\r\ndef f():\r\n    return x"
FILES = {"src/shapes/area.py": AREA, "src/shapes/windows.py": WINDOWS, "setup.py": "import setuptools\n"}
PROBLEM = PublicProblem(
    "r/0", "Fix the area.", "", kind="repo", files=FILES, editable=("src/shapes/area.py", "src/shapes/windows.py")
)
OLD, NEW = "    return width + height", "    return width * height"
FIXED = AREA.replace(OLD, NEW)
PATH = "src/shapes/area.py"
HUNK = f' def area(width, height):\n     """The area of a rectangle."""\n-{OLD}\n+{NEW}\n'


def block(search: str = OLD, replace: str = NEW, path: str = PATH) -> str:
    return f"{path}\n```python\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n```\n"


def diff(hunk: str = f"@@ -6,3 +6,3 @@\n{HUNK}", names: str = f"--- a/{PATH}\n+++ b/{PATH}\n") -> str:
    return f"```diff\n{names}{hunk}```\n"


def after(found: Extracted) -> dict[str, str]:
    """The files after the change, which must apply exactly."""
    assert found.code is not None, found.reason
    return apply_patch(found.code, FILES)


@pytest.mark.parametrize(
    ("reply", "how"),
    [
        (block(), "search-replace"),
        (f"I will fix it.\n\n{block()}\nDone.", "search-replace"),
        (block().replace(f"{PATH}\n```python", f"```python\n{PATH}"), "search-replace"),
        (block().replace(f"{PATH}\n```python", f"```python {PATH}"), "search-replace"),
        (block().replace(f"{PATH}\n", f"**`{PATH}`**:\n\n"), "search-replace"),
        (block().replace("```python\n", "").replace("```\n", ""), "search-replace"),
        (block() + block(), "search-replace"),  # a model that repeats itself
        (f"<think>\n{block(replace='    return 1')}</think>\n{block()}", "search-replace"),
        (block(path="shapes/area.py"), "search-replace-repaired"),
        (block().removeprefix(f"{PATH}\n"), "search-replace-repaired"),
        (block(f"\n {OLD}  ", NEW[2:]).replace(NEW[2:], f"   {NEW[2:]}"), "search-replace-repaired"),
        (block().replace(">>>>>>> REPLACE\n", ""), "search-replace-repaired"),
        (block().replace("SEARCH", "ORIGINAL").replace("REPLACE", "UPDATED"), "search-replace-repaired"),
        (diff(), "diff"),
        (f"So:\n{diff().removeprefix('```diff').removesuffix('```' + chr(10))}\nThat is all.", "diff"),
        (diff(names=f"diff --git a/{PATH} b/{PATH}\nindex 1..2 100644\n--- a/{PATH}\n+++ b/{PATH}\n"), "diff"),
        (diff(names=f"--- {PATH}\n+++ {PATH}\n"), "diff"),
        (diff().replace("```diff", "```python"), "diff"),
        (diff(f"@@ -60,3 +60,3 @@\n{HUNK}"), "diff-repaired"),
        (diff(f"@@ -6,9 +6,1 @@\n{HUNK}"), "diff-repaired"),
        (diff(f"@@\n{HUNK}"), "diff-repaired"),
        (diff(HUNK), "diff-repaired"),
        (diff(f"-{OLD}\n+{NEW}\n", names=""), "diff-repaired"),
        (diff(f"@@ -6,3 +6,3 @@\n{HUNK[1:]}"), "diff-repaired"),  # without the space of the first line
        (f"{PATH}\n```python\n{FIXED}```", "whole-file"),
        (f"```python\n# {PATH}\n{FIXED}```", "whole-file"),
        (f"```{PATH}\n{FIXED}```", "whole-file"),
        (f"The fault:\n```python\n{OLD}\n```\nFixed:\n```python\ndef area(width, height):\n{NEW}\n```", "by-name"),
    ],
)
def test_every_form_of_a_reply_becomes_the_same_change(reply: str, how: str) -> None:
    found = extract(reply, PROBLEM)
    docstring = '    """The area of a rectangle."""\n' if how == "by-name" else ""
    assert (found.how, after(found)) == (how, {**FILES, PATH: FIXED.replace(docstring, "")})
    assert (found.how in WELL_FORMED) == (how in ("search-replace", "diff", "whole-file"))


@pytest.mark.parametrize(
    ("reply", "old", "new"),
    [
        ("def double(self):\n    return Circle(self.r * 4)", "r * 2", "r * 4"),
        ("class Circle:\n    def double(self):\n        return Circle(self.r * 4)", "r * 2", "r * 4"),
        (
            "class Circle:\n    @property\n    def area(self):\n        return self.r ** 2",
            "math.pi * self.r",
            "self.r ** 2",
        ),
        ("    def area(self):\n        return self.r ** 2", "math.pi * self.r", "self.r ** 2"),
        (
            "def double(self):\n    return self._new()\n\n\ndef _new(self):\n    return 1",
            "    def double(self):\n        return Circle(self.r * 2)",
            "    def _new(self):\n        return 1\n\n    def double(self):\n        return self._new()",
        ),
        (
            "def _two():\n    return 2\n\n\ndef size(width):\n    return _two()\n\n\nprint(size(3))",
            "def size(width):\n    return width",
            "def _two():\n    return 2\n\n\ndef size(width):\n    return _two()",
        ),
        (
            "def _one():\n    return 1\n\n\ndef _two():\n    return _one()\n\n\ndef size(width):\n    return _two()",
            "def size(width):\n    return width",
            "def _one():\n    return 1\n\n\ndef _two():\n    return _one()\n\n\ndef size(width):\n    return _two()",
        ),
        (
            'class Bad(ValueError):\n    """Bad."""\n\n\ndef size(width):\n    raise Bad(width)',
            "def size(width):\n    return width",
            'class Bad(ValueError):\n    """Bad."""\n\n\ndef size(width):\n    raise Bad(width)',
        ),
        (
            "class Circle:\n    ...\n\n\nclass math:\n    ...\n\n\ndef size(width):\n    return Circle(math.e)",
            "def size(width):\n    return width",
            "def size(width):\n    return Circle(math.e)",
        ),
    ],
)
def test_a_function_replaces_that_of_its_name(reply: str, old: str, new: str) -> None:
    found = extract(f"```python\n{reply}\n```", PROBLEM)
    assert (found.how, after(found)[PATH]) == ("by-name", AREA.replace(old, new))


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("I do not know.", "no SEARCH/REPLACE block"),
        (block(path="../src/shapes/area.py"), "no file '../src/shapes/area.py'"),
        (block(path="/etc/passwd.py"), "no file '/etc/passwd.py'"),
        (block(path="tests/test_area.py"), "no file 'tests/test_area.py'"),
        (block(path="setup.py"), "'setup.py' is not a file that may be changed"),
        (block("    return width - height"), "'return width - height' on, are not in the file"),
        (block("    return width - height", path=""), "names no file.* in no file"),
        (block("\n"), "names no lines to replace"),
        (block("        self.r = r", "        self.r = r"), "leaves all files as they are"),
        (block("", "x = 1"), "names no lines to replace"),
        (block("    def", "    async def"), "are not in the file"),
        (block().replace("=======\n", ""), "has no line ======="),
        (block().replace(">>>>>>> REPLACE\n```\n", ""), "is not complete"),
        (block(replace="x = '\0'"), "null bytes"),
        (diff(names=f"--- /dev/null\n+++ b/{PATH}\n"), "adds the file"),
        (diff(names=f"--- a/{PATH}\n+++ /dev/null\n"), "deletes the file"),
        (diff(names="--- a/../x.py\n+++ b/../x.py\n"), "no file '../x.py'"),
        (diff("@@ -6,0 +7,9 @@\n+x = 1\n"), "names no lines to replace"),
        (f"{PATH}\n```python\n{FIXED}", "has no end"),
        (f"{PATH}\n```python\n{AREA}```", "leaves all files as they are"),
        (f"{PATH}\n```python\n{FIXED}{'x = 1' + chr(10)}" + "x = 1\n" * 1100 + "```", "much longer"),
        ("```python\ndef area(self):\n    ...\n```", "no whole file or function"),
        ("```python\ndef volume(x):\n    return x\n```", "no whole file or function"),
        ("x" * 400_001, "too long"),
    ],
)
def test_a_change_that_does_not_apply_says_why(reply: str, reason: str) -> None:
    found = extract(reply, PROBLEM)
    assert found.code is None
    assert found.how in ("none", "not-applied")
    assert re.search(reason, found.reason)


def test_text_that_occurs_twice_is_ambiguous_and_more_lines_make_it_unique() -> None:
    problem = PublicProblem("r/1", "", "", kind="repo", files={"a.py": "x = 1\ny = 2\nx = 1\n"}, editable=("a.py",))
    assert "occur more than once" in extract(block("x = 1", "x = 3", "a.py"), problem).reason
    assert "+x = 3" in str(extract(block("y = 2\nx = 1", "y = 2\nx = 3", "a.py"), problem).code)


def test_a_name_that_several_files_define_is_ambiguous_unless_the_file_is_named() -> None:
    files = {"a.py": "def f():\n    return 1\n", "b.py": "def f():\n    return 2\n\n\ndef g():\n    pass\n\n\nh = g\n"}
    problem = PublicProblem("r/1", "", "", kind="repo", files=files, editable=("a.py", "b.py"))
    reply = "```python\ndef f():\n    return 3\n```"
    assert "f is defined in several places" in extract(reply, problem).reason
    assert "+++ b/b.py" in str(extract(f"b.py:\n{reply}", problem).code)


def test_files_keep_their_line_ends_and_their_missing_last_one() -> None:
    path = "src/shapes/windows.py"
    edits = block("y = 2", "y = 3\nz = 4", path) + block("    return x", "    return y", path)
    assert after(extract(edits, PROBLEM))[path] == "x = 1\r\ny = 3\r\nz = 4\r\n\r\ndef f():\r\n    return y"
    assert after(extract("```python\ndef f():\n    return y\n```", PROBLEM))[path] == WINDOWS[:-1] + "y"
    whole = WINDOWS.replace("\r\n", "\n").replace("2", "3")
    assert after(extract(f"{path}\n```\n{whole}\n```", PROBLEM))[path] == WINDOWS.replace("2", "3")


def test_the_only_file_needs_no_path() -> None:
    problem = PublicProblem("r/1", "", "", kind="repo", files={PATH: AREA}, editable=(PATH,))
    found = extract(f"```python\n{FIXED}```", problem)
    assert (found.how, found.code) == ("whole-file-repaired", extract(block(), problem).code)


@pytest.mark.parametrize(
    "reply",
    [
        block(" \n" * 900 + "x", "y\n" * 900),
        "<<<<<<< SEARCH\n" * 20_000,
        "<<<<<<< SEARCH\na\n=======\nb\n" * 10_000,
        diff(f"@@ -1 +1 @@\n-{OLD}\n" * 9000),
        "--- a\n+++ b\n@@ @@\n" * 9000,
        "```" * 60_000,
    ],
)
def test_a_reply_of_many_broken_edits_is_read_to_an_end_and_changes_nothing(reply: str) -> None:
    assert extract(reply, PROBLEM).code is None


def test_more_definitions_than_a_change_has_are_refused() -> None:
    many = "\n".join(f"def f{number}():\n    return {number}" for number in range(501))
    found = extract(f"```python\n{many}\n```", PROBLEM)
    assert (found.how, found.reason) == ("not-applied", "it defines more than 500 functions and classes")

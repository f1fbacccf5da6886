"""What prompts show of a repository: the parts that matter for a task first, and never more than the limit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koderz_core.prompts.attempts import Attempt, next_attempt
from koderz_core.prompts.coding import Brief
from koderz_core.prompts.localisation import parts_of, ranked
from koderz_core.prompts.markdown import BYTES_PER_TOKEN
from koderz_core.prompts.repository import repository_text
from koderz_core.records import Extracted, PublicProblem, TestFailure, Verdict

CACHE = '''"""A cache."""

import time


class Cache:
    """Keeps items."""

    def get(self, key):
        return self.items[key]

    def expire(self, now):
        """Drop old items."""
        return [key for key in self.items if self.items[key] < now]


def clean(cache):
    cache.expire(time.time())
'''
FILLER = "\n\n".join(f"def unrelated_{number}(x):\n    return x + {number}\n" for number in range(300))
FILES = {"src/cache.py": CACHE, "src/filler.py": FILLER, "src/main.py": "import cache\n", "README.md": "# Cache\n"}
EDITABLE = ("src/cache.py", "src/filler.py", "src/main.py")


def problem(prompt: str, files: dict[str, str] = FILES, editable: tuple[str, ...] = EDITABLE) -> PublicProblem:
    return PublicProblem("r/0", prompt, "", kind="repo", files=files, editable=editable)


def test_the_parts_of_a_file_are_its_definitions_and_together_they_are_the_file() -> None:
    parts = parts_of("src/cache.py", CACHE)
    names = [(), ("Cache",), ("Cache", "get"), ("Cache", "expire"), ("clean",)]
    assert [part.names for part in parts] == names
    assert "\n".join(part.text for part in parts) + "\n" == CACHE
    assert [part.first for part in parts[1:]] == [part.last + 1 for part in parts[:-1]]


@pytest.mark.parametrize(
    ("task", "first"),
    [
        ("`expire` drops items that are not old.", ("Cache", "expire")),
        ("test_unrelated_17 fails.", ("unrelated_17",)),
        ('Expiring fails:\n  File "/tmp/x/src/cache.py", line 10, in get\nKeyError', ("Cache", "get")),
        ("Expiring fails: src/filler.py:2: KeyError", ("unrelated_0",)),
    ],
)
def test_the_part_that_a_task_names_or_a_traceback_points_to_comes_first(task: str, first: tuple[str, ...]) -> None:
    assert ranked({path: FILES[path] for path in EDITABLE}, task)[0].names == first


def test_files_that_fit_are_shown_whole_and_others_in_parts_that_say_where_they_are() -> None:
    shown = repository_text(problem("Items expire too late."), tokens=500)
    assert f"`src/cache.py`:\n```python\n{CACHE.rstrip()}\n```" in shown
    assert "* src/filler.py (1198 lines, shown in part)" in shown
    assert "`src/filler.py`, lines 1 to " in shown
    assert "\n  README.md (1 line)\n" in shown


def test_a_file_that_may_be_changed_but_is_not_shown_is_listed_as_that() -> None:
    shown = repository_text(problem("Items expire too late."), tokens=200)
    assert "* src/filler.py (1198 lines, not shown)" in shown
    assert "def unrelated" not in shown


def test_a_long_function_is_cut_rather_than_left_out() -> None:
    long = "def f():\n" + "".join(f"    x{number} = {number}\n" for number in range(3000))
    shown = repository_text(problem("f is wrong", {"a.py": long}, ("a.py",)), tokens=300)
    assert "`a.py`, lines 1 to " in shown
    assert "    x3 = 3\n" in shown


_NAMES = st.text("ab/.`*\n é", min_size=1, max_size=40)
_TEXTS = st.text("ab \n`:(){}é", max_size=300) | st.sampled_from([CACHE, FILLER, CACHE * 3, "é" * 5000])


@given(st.dictionaries(_NAMES, _TEXTS, max_size=8), st.integers(100, 3000), st.integers(0, 8))
def test_the_files_never_take_more_than_the_limit_whatever_they_contain(
    files: dict[str, str], tokens: int, editable: int
) -> None:
    task = problem("Items expire too late.", files, tuple(files)[:editable])
    shown = repository_text(task, tokens=tokens)
    assert len(shown.encode()) <= tokens * BYTES_PER_TOKEN
    assert shown == repository_text(task, tokens=tokens)


def test_after_a_failure_the_place_that_its_message_names_is_shown() -> None:
    task = problem("It fails.", editable=("src/filler.py",))
    message = 'File "src/filler.py", line 802, in unrelated_200'
    attempt = Attempt(
        1, Extracted("", "diff"), Verdict("F", (TestFailure(0, "", message=message),), True, None, "", 0, "")
    )
    shown, hidden = (
        next_attempt(Brief(task, previous_error=told, repository_tokens=300), [attempt])[-1].content
        for told in (True, False)
    )
    assert "    return x + 200" in shown
    assert "    return x + 200" not in hidden

"""The page Fix and ask, with a server that gives the answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import serving_chat, streams
from reading import said
from streamlit.testing.v1 import AppTest

FAULTY = "def double(number):\n    return number + 2\n"
TESTS = "assert double(2) == 4\nassert double(5) == 10\n"
RIGHT = FAULTY.replace("+ 2", "* 2")
Visit = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def _answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with serving_chat() as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        server.models = ("it",)
        server.answer = streams({"content": f"```python\n{RIGHT}```\n"})
        yield


def started(app: AppTest, ended: str = "tests pass (before") -> AppTest:
    """The page after the task has ended, which it says in the words ``ended``."""
    coder = next(box for box in app.selectbox if box.label == "Coder")
    coder.set_value("vllm/it").run()
    app.button(key="start task").click().run()
    deadline = time.monotonic() + 30
    while ended not in said(app) and time.monotonic() < deadline:
        time.sleep(0.2)
        app.run()
    assert not app.exception
    return app


def test_a_file_is_fixed_and_written_only_after_a_click(visit: Visit, tmp_path: Path) -> None:
    file, tests = tmp_path / "double.py", tmp_path / "test_double.py"
    file.write_text(FAULTY)
    tests.write_text(TESTS)
    app = visit("workbench")
    app.text_input(key="path of file").set_value(str(file))
    app.text_input(key="path of tests").set_value(str(tests))
    app = started(app)
    assert "2 of 2 tests pass (before: 1)." in said(app)
    assert "+    return number * 2" in said(app)
    assert file.read_text() == FAULTY
    app.button(key="write task").click().run()
    assert file.read_text() == RIGHT


def test_the_answer_to_a_question_is_shown_as_text(visit: Visit) -> None:
    app = visit("workbench")
    kind: Any = next(it for it in app.segmented_control if it.key == "kind of task")
    kind.set_value("ask").run()
    app.text_area(key="question").set_value("Which function doubles a number?")
    assert RIGHT in said(started(app, RIGHT))


def test_a_task_whose_budget_is_used_up_says_so_and_continues_only_under_another_one(visit: Visit) -> None:
    app = visit("workbench")
    next(it for it in app.segmented_control if it.key == "way of files").set_value("text").run()
    app.number_input(key="budget of the task").set_value(0.0)
    app = started(app, "The budget of the task is used up")
    assert "was stopped" not in said(app)
    assert "Continue" not in [button.label for button in app.button]
    app.number_input(key="budget of the task").set_value(1.0)
    assert "2 of 2 tests pass (before: 1)." in said(started(app))


def test_a_task_that_cannot_start_says_why(visit: Visit) -> None:
    app = visit("workbench")
    app.button(key="start task").click().run()
    assert "Give the Python file and the file with its tests." in said(app)
    for field in ("path of file", "path of tests"):
        app.text_input(key=field).set_value("~nobody-has-this-name/it.py")
    app.button(key="start task").click().run()
    assert "~nobody-has-this-name/it.py cannot be read (no such user)" in said(app)

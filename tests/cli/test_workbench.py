"""``koderz fix`` and ``koderz ask``, as a person calls them, with a server that gives the answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import Server, serving_chat, streams

CODER = ("--coder", "vllm/it")
FAULTY = '''"""The greatest common divisor."""


def gcd(a, b):
    return a if b == 0 else gcd(a % b, b)


if __name__ == "__main__":
    print(gcd(12, 18))
'''
RIGHT = FAULTY.replace("gcd(a % b, b)", "gcd(b, a % b)")
ASSERTS = "from project.gcd import gcd\n\nx = 13\nassert gcd(17, 0) == 17\nassert gcd(x, x) == x\n"
Write = Callable[..., tuple[Path, Path]]
Answers = Callable[..., Server]


def in_block(program: str) -> str:
    return f"Here it is:\n```python\n{program}```\n"


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    """A server that gives these answers in turn, the last one again and again."""
    with serving_chat() as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        server.models = ("it",)

        def prepared(*texts: str) -> Server:
            def answer(handler: Any) -> None:  # Any: http.server's
                streams({"content": texts[min(len(server.bodies), len(texts)) - 1]})(handler)

            server.answer = answer
            return server

        yield prepared


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A file of a project and its tests."""

    def written(text: str = FAULTY, tests: str = ASSERTS) -> tuple[Path, Path]:
        folder = tmp_path / "project"
        folder.mkdir(exist_ok=True)
        (folder / "gcd.py").write_bytes(text.encode())
        (folder / "test_gcd.py").write_text(tests)
        return folder / "gcd.py", folder / "test_gcd.py"

    return written


def test_a_file_is_fixed_until_its_tests_pass_and_keeps_its_form(koderz: Any, answers: Answers, write: Write) -> None:
    file, test_file = write(FAULTY.replace("\n", "\r\n"))
    file.chmod(0o640)
    server = answers("I do not know.", in_block(RIGHT))
    said = koderz("fix", file, "--tests", test_file, *CODER, "--yes")
    assert (said.code, file.read_bytes()) == (0, RIGHT.replace("\n", "\r\n").encode())
    assert (file.stat().st_mode & 0o777, len(server.bodies)) == (0o640, 2)
    assert "-    return a if b == 0 else gcd(a % b, b)\n+    return a if b == 0 else gcd(b, a % b)\n" in said.out
    assert "2 of 2 tests pass (before: 1)." in said.out
    assert "gcd.py: 1 of 2 tests pass." in said.err


def test_calls_and_the_main_part_of_the_file_itself_are_tested_and_stay_in_their_place(
    koderz: Any, answers: Answers, write: Write
) -> None:
    faulty = (
        "HANDLERS = {}\n\n\ndef add(a, b):\n    return a - b\n\n\nHANDLERS.update(add=add)\n"
        'DEFAULT = HANDLERS["add"]\n\nif __name__ == "__main__":\n    print(DEFAULT(1, 2))\n'
    )
    right = faulty.replace("a - b", "a + b")
    server = answers(in_block(right))
    file, tests = write(
        faulty, "from project.gcd import DEFAULT, add\n\nassert add(1, 2) == 3\nassert DEFAULT(2, 2) == 4\n"
    )
    said = koderz("fix", file, "--tests", tests, *CODER, "--yes")
    assert (said.code, file.read_text(), len(server.bodies)) == (0, right, 1)


@pytest.mark.parametrize(
    ("end", "written"),
    [
        ('\n\nif __name__ == "__main__":\n    print(gcd(1, 2))\n', "print(gcd(1, 2))"),
        ("\n\nprint(gcd(1, 2))\n", "print(gcd(12, 18))"),
    ],
)
def test_a_main_part_replaces_that_of_the_file_and_an_example_call_does_not(
    koderz: Any, answers: Answers, write: Write, end: str, written: str
) -> None:
    answers(in_block(RIGHT.partition("\n\nif __name__")[0] + end))
    file, tests = write(RIGHT)
    said = koderz("fix", file, "--tests", tests, *CODER, "--instruction", "Print another example.", "--yes")
    assert (said.code, file.read_text()) == (0, RIGHT.replace("print(gcd(12, 18))", written))


def test_calls_that_the_answer_lacks_run_before_its_main_part(koderz: Any, answers: Answers, write: Write) -> None:
    end = "H.update(gcd=gcd)\n\n\nif __name__ == '__main__':\n    print(H['gcd'](12, 18))\n"
    given = f"H = {{}}\n\n\n{FAULTY.partition('if __name__')[0]}{end}"
    answers(in_block(f"H = {{}}\n\n\n{RIGHT.partition('if __name__')[0]}{end}".replace("gcd=gcd", "{'gcd': gcd}")))
    file, tests = write(given)
    assert koderz("fix", file, "--tests", tests, *CODER, "--yes").code == 0
    assert file.read_text().endswith(end)


def test_the_main_part_of_a_file_runs_the_corrected_function_of_a_later_block(
    koderz: Any, answers: Answers, write: Write
) -> None:
    lcm = "def lcm(a, b):\n    return a * b // gcd(a, b)\n\n\nif __name__"
    given, (_, _, function) = FAULTY.replace("if __name__", lcm), RIGHT.partition("if __name__")[0].partition("\n\n\n")
    answers(f"The file:\n```python\n{given}```\nThe corrected function:\n```python\n{function}```\n")
    file, tests = write(given, f"{ASSERTS}from project.gcd import lcm\n\nassert lcm(13, 13) == 13\n")
    said = koderz("fix", file, "--tests", tests, *CODER, "--yes")
    assert said.code == 0
    assert file.read_text().endswith('if __name__ == "__main__":\n    print(gcd(12, 18))\n')


def test_nothing_is_written_without_a_yes_and_no_statistics_contain_the_task(
    koderz: Any, answers: Answers, write: Write
) -> None:
    server, (file, tests) = answers(in_block(RIGHT)), write()
    first = koderz("fix", file, "--tests", tests, *CODER)
    assert (first.code, file.read_text(), len(server.bodies)) == (0, FAULTY, 1)
    again = koderz("fix", file, "--tests", tests, *CODER, "--output", file.with_name("new.py"), "--yes")
    assert (again.code, file.read_text(), len(server.bodies)) == (0, FAULTY, 1)
    assert file.with_name("new.py").read_text() == RIGHT
    assert "the recorded result" in again.err
    journals = Path(os.environ["KODERZ_HOME"]).rglob("bench_*.jsonl")
    assert [path.parent.parent.name for path in journals] == ["workbench"]
    assert koderz("results", "--json").json == []
    (task,) = {row["benchmark"] for row in koderz("network", "--json").json} - {""}
    assert {row["benchmark"] for row in koderz("network", "--benchmark", task, "--json").json} == {task}


def test_a_task_that_has_run_is_not_estimated_again(koderz: Any, answers: Answers, write: Write) -> None:
    answers(in_block(RIGHT))
    words = ("--strategy", "repair", "--max-iterations", "1", "--no-baselines")
    assert koderz("benchmark", "--problems", "0:3", *CODER, *words).code == 0
    file, tests = write()
    first, again = (koderz("fix", file, "--tests", tests, *CODER) for _ in range(2))
    assert "Remaining: 1 experiment." in first.err
    assert "(estimate: about " in first.err
    assert "This task has run before." in again.err
    assert "Remaining: " not in again.err
    assert "estimate" not in again.err


def test_a_program_that_fails_tests_is_shown_and_not_written(koderz: Any, answers: Answers, write: Write) -> None:
    answers(in_block("def gcd(a, b):\n    return 17\n"))
    file, tests = write(FAULTY, f"{ASSERTS}assert gcd(3, 5) == 1\n")
    said = koderz("fix", file, "--tests", tests, *CODER, "--max-iterations", "2", "--yes", "--allow-failing")
    assert (said.code, file.read_text()) == (4, FAULTY)
    assert "Not fixed: with the best program, 1 of 3 tests pass (before: 1)." in said.out


def test_a_file_that_changed_meanwhile_is_not_overwritten(koderz: Any, answers: Answers, write: Write) -> None:
    file, tests = write()
    server = answers(in_block(RIGHT))
    answer = server.answer

    def edited(handler: Any) -> None:  # Any: http.server's
        file.write_text("# edited\n")
        assert answer
        answer(handler)

    server.answer = edited
    said = koderz("fix", file, "--tests", tests, *CODER, "--yes")
    assert (said.code, file.read_text()) == (3, "# edited\n")
    assert "has changed since koderz read it, so nothing was written" in said.err


def test_a_file_with_both_kinds_of_line_ends_changes_only_where_the_diff_says(
    koderz: Any, answers: Answers, write: Write
) -> None:
    mixed = "# one\r\n\n"
    file, tests = write(mixed + FAULTY)
    answers(in_block(f"# one\n\n{RIGHT}"))
    said = koderz("fix", file, "--tests", tests, *CODER, "--yes")
    assert (said.code, file.read_bytes()) == (0, f"# one\n\n{RIGHT}".encode())
    assert "-# one\N{REPLACEMENT CHARACTER}\n+# one\n" in said.out


def test_a_file_with_a_key_is_refused_and_the_key_of_a_question_is_masked(
    koderz: Any, answers: Answers, write: Write
) -> None:
    key = f"sk-{'a1' * 12}"
    server, (file, tests) = answers("Use the environment."), write(f'KEY = "{key}"\n{FAULTY}')
    refused = koderz("fix", file, "--tests", tests, *CODER, "--yes")
    assert (refused.code, server.bodies) == (3, [])
    assert "gcd.py contains a key" in refused.err
    assert koderz("ask", "Where does the key belong?", "--file", file, *CODER).code == 0
    kept = [path.read_bytes() for path in Path(os.environ["KODERZ_HOME"]).rglob("*") if path.is_file()]
    assert not any(key.encode() in content for content in kept)


def test_a_file_with_the_address_of_a_notification_is_refused(
    koderz: Any, answers: Answers, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KODERZ_NOTICES", "json://MARKED0123456789/x")
    server, (file, tests) = answers(in_block(RIGHT)), write(f'TO = "json://MARKED0123456789/x"\n{FAULTY}')
    refused = koderz("fix", file, "--tests", tests, *CODER, "--yes")
    assert (refused.code, server.bodies) == (3, [])
    assert "gcd.py contains a key" in refused.err


def test_a_question_shows_all_files_also_those_with_equal_names(koderz: Any, answers: Answers, tmp_path: Path) -> None:
    files = [tmp_path / folder / "it.py" for folder in ("old", "new")]
    for file in files:
        file.parent.mkdir()
        file.write_text(f"# {file.parent.name}\n")
    server = answers("They differ.")
    assert koderz("ask", "What differs?", "--file", files[0], "--file", files[1], *CODER).code == 0
    (body,) = server.bodies
    assert ["# old" in body["messages"][-1]["content"], "# new" in body["messages"][-1]["content"]] == [True, True]


def test_a_file_that_passes_needs_no_model(koderz: Any, answers: Answers, write: Write) -> None:
    server, (file, tests) = answers("unused"), write(RIGHT)
    said = koderz("fix", file, "--tests", tests, *CODER)
    assert (said.code, server.bodies) == (0, [])
    assert "nothing to fix" in said.out
    found = koderz("fix", file, "--tests", tests, *CODER, "--json").json
    assert (found["passed"], found["tests"]["marks"], found["diff"], found["code"]) == (True, "PP", "", None)


@pytest.mark.parametrize(
    ("text", "tests", "fault"),
    [
        ("def gcd(a, b:\n", ASSERTS, "gcd.py is not Python"),
        (f"x = {'-' * 50_000}1\n", ASSERTS, "it is nested too deeply"),
        ("from other import helper\n", ASSERTS, "imports other files of its project (other)"),
        (FAULTY, "import numpy\n\nassert gcd(1, 1)\n", "imports 'numpy'"),
        (FAULTY, "print('hello')\n", "The tests cannot be read"),
        (FAULTY, "def test_a(tmp_path):\n    assert gcd(1, 1)\n", "koderz does not support pytest fixtures"),
        (FAULTY, "assert 1 == 1\n", "The tests cannot be read"),
    ],
)
def test_what_koderz_cannot_fix_is_refused_before_a_model_is_called(
    koderz: Any, answers: Answers, write: Write, text: str, tests: str, fault: str
) -> None:
    server, (file, test_file) = answers("unused"), write(text, tests)
    file.with_name("other.py").touch()
    said = koderz("fix", file, "--tests", test_file, *CODER)
    assert (said.code, server.bodies) == (3, [])
    assert fault in said.err


def test_a_debate_answers_a_question_and_shows_every_turn(koderz: Any, answers: Answers) -> None:
    server = answers("Use a \x1b[31mset.")
    said = koderz("ask", "Which type for names?", *CODER, "--strategy", "debate", "--rounds", "1")
    assert (said.code, len(server.bodies)) == (0, 5)  # three personas, the judge and the coder
    assert "round 1 of the debate: architect:" in said.out
    assert "\x1b" not in said.out
    assert "```python" not in server.bodies[0]["messages"][0]["content"]


def test_an_ensemble_returns_the_answer_that_is_most_like_the_others(koderz: Any, answers: Answers) -> None:
    pytest.importorskip("codebleu")
    answers("Use a list of names, sorted.", "Buy a dog instead.", "Use a list of names.")
    said = koderz("ask", "Which type?", *CODER, "--strategy", "ensemble", "--samples", "3")
    assert said.code == 0
    assert "Answer:\nUse a list of names" in said.out
    assert "candidate 3 of coder 1" in said.out


def test_a_question_refuses_a_strategy_that_needs_tests(koderz: Any, answers: Answers) -> None:
    server = answers("unused")
    said = koderz("ask", "Which type?", *CODER, "--strategy", "repair")
    assert (said.code, server.bodies) == (2, [])
    assert "needs tests" in said.err


def test_a_task_never_searches_the_web(koderz: Any, answers: Answers, write: Write) -> None:
    server, (file, tests) = answers("unused"), write()
    said = koderz("fix", file, "--tests", tests, "--configuration", "repair coder=vllm/it search=stackoverflow")
    assert (said.code, server.bodies) == (2, [])
    assert "koderz fix and koderz ask cannot search the web" in said.err

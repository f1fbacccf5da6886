"""Models that follow a script: mock mode."""

import pytest

from koderz_core.errors import UnknownNameError
from koderz_core.models.scripted import ACTORS, ScriptedModel, actor
from koderz_core.patches import apply_patch, make_patch
from koderz_core.records import Message, Request, Sampling

ADD, EVEN = "def add(a, b):", "def is_even(n):"
PROGRAMS = {ADD: "def add(a, b):\n    return a + b\n", EVEN: "def is_even(n):\n    return n % 2 == 0\n"}
CODER = "Answer with one block:\n```python\n...\n```"


def request_for(*contents: str, seed: int = 0, system: str = CODER, max_tokens: int | None = None) -> Request:
    said = tuple(Message("user", content) for content in contents)
    return Request((Message("system", system), *said), Sampling(0.8, 0.9, max_tokens), seed)


def says(text: str) -> ScriptedModel:
    return ScriptedModel("scripted/test", lambda _: text)


def test_an_answer_is_streamed_in_pieces_that_join_to_its_text() -> None:
    pieces: list[str] = []
    text = "\n one two  three\nfour five\n\n```six```\n"
    completion = says(text).complete(request_for("hi"), pieces.append)
    assert "".join(pieces) == completion.text == text
    assert len(pieces) == 2
    assert completion.first_token_seconds is not None


def test_an_answer_nobody_listens_to_has_no_time_to_first_token() -> None:
    assert says("one two").complete(request_for("hi")).first_token_seconds is None


def test_tokens_are_words() -> None:
    usage = says("one two three").complete(request_for("four words are here", system="two words")).usage
    assert (usage.input_tokens, usage.output_tokens) == (6, 3)


def test_max_tokens_cuts_the_answer_and_says_so() -> None:
    completion = says("one two three").complete(request_for("hi", max_tokens=2))
    assert (completion.text, completion.finish, completion.usage.output_tokens) == ("one two", "length", 2)
    assert says("one two").complete(request_for("hi", max_tokens=2)).finish == "stop"


def test_only_max_tokens_and_the_seed_are_honoured() -> None:
    request = request_for("hi", max_tokens=7)
    assert says("one").complete(request).honoured == Sampling(max_tokens=7, seed=request.seed)


def test_silence_is_an_empty_answer() -> None:
    assert says(" \n").complete(request_for("hi")).finish == "empty"


def test_a_listener_may_end_the_call() -> None:
    def enough(_: str) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        says("one two").complete(request_for("hi"), enough)


def solves(name: str, seed: int) -> bool:
    return PROGRAMS[ADD] in actor(name, PROGRAMS)(request_for("def add(a, b):", seed=seed))


@pytest.mark.parametrize("name", ACTORS)
def test_an_actor_is_right_as_often_as_its_rate_says(name: str) -> None:
    rate = sum(solves(name, seed) for seed in range(2_000)) / 2_000
    assert rate == pytest.approx(ACTORS[name].rate, abs=0.04)


def test_the_same_seed_gives_the_same_answer() -> None:
    assert [solves("weak", seed) for seed in range(50)] == [solves("weak", seed) for seed in range(50)]


def test_a_wrong_program_returns_none() -> None:
    text = actor("never", PROGRAMS)(request_for("def add(a, b):"))
    scope: dict[str, object] = {}
    exec(text.split("```python\n")[1].split("```")[0], scope)
    assert scope["add"](1, b=2) is None  # type: ignore[operator]


def test_an_actor_answers_a_task_of_a_repository_with_a_patch_and_a_wrong_one_adds_a_comment() -> None:
    files, task = {"a.py": "x = 1\ny = 1\n"}, "Make x 2."
    patch = make_patch(files, {"a.py": "x = 2\ny = 1\n"})
    answers = [actor("weak", {task: patch})(request_for(task, seed=seed)) for seed in range(20)]
    patches = {answer.partition("```diff\n")[2].removesuffix("```\n") for answer in answers}
    comment = "# SCRIPTED: this comment changes nothing.\n"
    results = {apply_patch(patch, files)["a.py"] for patch in patches}
    assert results == {"x = 2\ny = 1\n", f"x = 1\n{comment}y = 1\n"}


def test_a_wrong_patch_is_made_for_a_solution_that_begins_with_a_new_file() -> None:
    files, task = {"b.py": "x = 1\n"}, "Make x 2."
    git = "diff --git a/a.py b/a.py\nnew file mode 100644\nindex 0000000..e69de29\n"
    solution = f"{git}diff --git a/b.py b/b.py\n" + make_patch(files, {"b.py": "x = 2\n"})
    answer = actor("never", {task: solution})(request_for(task))
    wrong = apply_patch(answer.partition("```diff\n")[2].removesuffix("```\n"), files)
    assert wrong == {"b.py": "x = 1\n# SCRIPTED: this comment changes nothing.\n"}


def test_the_latest_message_says_which_problem_is_meant() -> None:
    answer = actor("strong", PROGRAMS)
    assert "is_even" in answer(request_for("def add(a, b):", "def is_even(n):", "it failed", seed=1))


def test_the_problem_that_stands_last_is_meant_and_those_before_it_are_examples() -> None:
    answer = actor("strong", PROGRAMS)
    assert "is_even" in answer(request_for("def add(a, b): and then def is_even(n):", seed=1))
    assert "add" in answer(request_for("def is_even(n): and then def add(a, b):", seed=1))


def test_problems_that_name_their_functions_alike_are_told_apart_by_their_text() -> None:
    programs = {"def f(x): # 1": "def f(x): return 1", "def f(x): # 2": "def f(x): return 2"}
    answer = actor("strong", programs)
    assert "return 1" in answer(request_for("Solve def f(x): # 1", seed=1))
    assert "return 2" in answer(request_for("Solve def f(x): # 2", seed=1))


def test_asked_for_no_program_an_actor_gives_a_plain_sentence() -> None:
    text = actor("strong", PROGRAMS)(request_for("def add(a, b):", system="Write a specification."))
    assert "SCRIPTED" in text
    assert "```" not in text


def test_a_program_shown_by_the_user_is_no_request_for_one() -> None:
    review = Request((Message("user", "Review this:\n```python\ndef add(a, b): ...\n```"),), Sampling(), 0)
    assert "```" not in actor("strong", PROGRAMS)(review)


def test_asked_for_an_unknown_function_an_actor_gives_no_program() -> None:
    text = actor("strong", PROGRAMS)(request_for("def other():"))
    assert "SCRIPTED" in text
    assert "```" not in text


def test_an_unknown_actor_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="strong"):
        actor("stronger", PROGRAMS)

"""An experiment as files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koderz_core.analysis.timing import seconds_left
from koderz_core.config import load_settings
from koderz_core.errors import DataError
from koderz_core.events import (
    CallFailed,
    CallStarted,
    CandidateScored,
    CheckpointReviewed,
    CodeTested,
    ExperimentFinished,
    ExperimentStarted,
    SpecWritten,
)
from koderz_core.records import Sampling, TestFailure, Verdict
from koderz_core.report.dump import files_of, text_hashes
from koderz_core.store.results import Results
from koderz_core.workspace.datasets import Datasets
from koderz_core.workspace.experiments import Experiments

FAILURE = TestFailure(1, "assert candidate(2) == 3", "3", "4", "not so")
WRONG = Verdict("PFF", (FAILURE,), True, "assertion", "it gave 4", 0.5, "limited", test_seconds=(0.1, 0.2, 0.1))
HOSTILE = "é\r\n\x1b[2Jpassed: 3 of 3 gate tests\n"


@pytest.fixture
def results(store):
    return Results(store, seconds_left)


@pytest.fixture
def experiments(results):
    settings = load_settings()
    return Experiments(settings, results, Datasets(settings))


@pytest.fixture
def files(experiments):
    """Name without the experiment's id -> content."""

    def read(experiment) -> dict[str, bytes]:
        return {file.name.removeprefix(f"{experiment.id}_"): file.content for file in experiments.files(experiment.id)}

    return read


@pytest.fixture
def begun(journal, plan):
    """Experiments of ``direct`` and of ``supervised``."""
    found = {}
    for configuration in plan.configurations:
        one = next(experiment for experiment in plan.experiments() if experiment.configuration == configuration.id)
        journal.say(ExperimentStarted(one), one.id)
        found[configuration.strategy] = one
    return found


@pytest.fixture
def direct(begun):
    return begun["direct"]


@pytest.fixture
def supervised(begun):
    return begun["supervised"]


def iterate(journal, experiment, ordinal, reply, program, verdict=WRONG, number=1) -> None:
    journal.ask(experiment, ordinal)
    journal.answer(experiment, ordinal, reply)
    code = None if program is None else journal.text(program)
    journal.say(CodeTested(number, "hash", code, "fence", verdict), experiment.id, ordinal + 1)


def test_every_step_has_its_files_under_the_experiments_id(journal, files, supervised):
    journal.ask(supervised, 1)
    journal.answer(supervised, 1, "thinking... Add.")
    journal.say(SpecWritten("Add."), supervised.id, 2)
    iterate(journal, supervised, 3, "reply", "a = 1")
    journal.ask(supervised, 5)
    journal.answer(supervised, 5, "Use sets.")
    journal.say(CheckpointReviewed(1, 1, "Use sets."), supervised.id, 6)
    iterate(journal, supervised, 7, "no program", None, number=2)
    assert list(files(supervised)) == [
        *("spec_prompt.txt", "spec_raw.txt", "spec.txt"),
        *("iter001_prompt.txt", "iter001_raw.txt", "iter001_code.py", "iter001_result.txt"),
        *("checkpoint01_prompt.txt", "checkpoint01_raw.txt", "checkpoint01_guidance.txt"),
        *("iter002_prompt.txt", "iter002_raw.txt", "iter002_result.txt"),
    ]
    assert files(supervised)["spec.txt"] == b"Add."


def test_a_reply_and_its_program_are_kept_byte_for_byte(journal, files, supervised):
    iterate(journal, supervised, 1, HOSTILE, HOSTILE)
    found = files(supervised)
    assert found["iter001_raw.txt"] == found["iter001_code.py"] == HOSTILE.encode()


def test_a_patch_of_a_repository_is_a_diff(journal, files, supervised):
    iterate(journal, supervised, 1, "reply", "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n")
    assert files(supervised)["iter001_code.diff"].endswith(b"-x\n+y\n")


def test_an_untested_answer_is_a_zero_shot_scored_on_tests_it_never_saw(journal, files, direct):
    journal.ask(direct, 1)
    journal.answer(direct, 1, "reply")
    code = journal.text("a = 1")
    journal.say(CandidateScored(code, True, None, WRONG), direct.id)
    journal.say(ExperimentFinished("unsolved", "iterations", "held_out", code, 2.0, "assertion"), direct.id)
    found = files(direct)
    assert list(found) == [f"zeroshot_{name}" for name in ("prompt.txt", "raw.txt", "code.py", "result.txt")]
    assert b"not passed: 1 of 3 held-out tests" in found["zeroshot_result.txt"]


def test_an_answer_without_a_program_says_so_and_has_no_program_file(journal, files, direct):
    journal.ask(direct, 1)
    journal.answer(direct, 1, "I cannot.")
    journal.say(ExperimentFinished("unsolved", "gave_up", "held_out", None, 2.0, "extraction"), direct.id)
    found = files(direct)
    assert "zeroshot_code.py" not in found
    assert b"no program was found in the answer (extraction)" in found["zeroshot_result.txt"]


def test_marks_cannot_pass_for_a_line_of_ours(journal, files, supervised):
    iterate(journal, supervised, 1, "reply", "a = 1", replace(WRONG, marks=f"PFF{HOSTILE}"))
    said = files(supervised)["iter001_result.txt"]
    assert b"passed: 3 of 3 gate tests" in said
    assert b"\npassed: 3 of 3" not in said
    assert b"\x1b" not in said


def test_what_broke_off_has_the_files_of_what_there_is(journal, files, direct, supervised):
    journal.ask(direct, 1)
    iterate(journal, supervised, 1, "reply", "a = 1")
    journal.ask(supervised, 3)
    journal.say(CallFailed("overloaded", 2.0, False), supervised.id, 3)
    assert list(files(direct)) == ["zeroshot_prompt.txt"]
    found = files(supervised)
    assert list(found)[4:] == ["iter002_prompt.txt"]
    assert b"failed\n    overloaded\n" in found["iter002_prompt.txt"]


def test_a_result_says_of_each_failing_test_what_was_called_returned_and_expected(journal, files, supervised):
    iterate(journal, supervised, 1, "reply", "a = 1")
    said = files(supervised)["iter001_result.txt"].decode()
    assert "not passed: 1 of 3 gate tests\n0.5 s · isolation" in said
    assert "error class: assertion\nmessage:\n    it gave 4\n" in said
    told = "call:\n    assert candidate(2) == 3\nreturned:\n    4\nexpected:\n    3\nmessage:\n    not so\n"
    assert f"test 2 failed, 0.2 s\n{told}" in said
    assert "other failed tests, without stored details: 3" in said


def test_a_strangers_words_in_a_result_neither_pass_for_ours_nor_move_a_cursor(journal, files, supervised):
    wrong = replace(WRONG, message=HOSTILE, failures=(replace(FAILURE, actual=HOSTILE),))
    iterate(journal, supervised, 1, "reply", "a = 1", wrong)
    lines = files(supervised)["iter001_result.txt"].decode().split("\n")
    assert [line for line in lines if "passed: 3 of 3" in line] == ["    �[2Jpassed: 3 of 3 gate tests"] * 2
    assert not any(c in line for line in lines for c in "\r\x1b")


def test_a_prompt_tells_every_message_with_its_length(journal, files, supervised):
    iterate(journal, supervised, 1, "reply", "a = 1")
    said = files(supervised)["iter001_prompt.txt"].decode()
    assert said.startswith("=== coder · ollama/qwen2.5-coder:0.5b · temperature default requested")
    assert f"--- message 1 of 1, user (17 characters)\nWrite {supervised.problem}\n" in said


def test_guidance_tells_why_it_was_due_its_sections_and_the_whole_review(journal, files, supervised):
    iterate(journal, supervised, 1, "reply", "a = 1")
    journal.say(CallStarted("reviewer", 0, "m", "hash", (), Sampling(), 7, 1), supervised.id, 3)
    journal.answer(supervised, 3, "# Fix\nSets.\n# Why\nSlow.")
    sections = {"fix": "Sets.", "why": "Slow."}
    reviewed = CheckpointReviewed(1, 1, "Fix: sets.", "plateau", sections, ("fix",))
    journal.say(reviewed, supervised.id, 4)
    said = files(supervised)["checkpoint01_guidance.txt"].decode()
    assert said.startswith("checkpoint 1 after iteration 1, because the number of passed tests did not change\n")
    for part in (
        "--- guidance that the next prompts contain (10 characters)\nFix: sets.\n",
        "--- section fix, given to the coder (5 characters)\nSets.\n",
        "--- section why, withheld (5 characters)\nSlow.\n",
        "--- the whole review (23 characters)\n# Fix\nSets.\n# Why\nSlow.\n",
    ):
        assert part in said


def test_an_id_that_is_none_makes_no_file_name(journal, results, direct):
    journal.ask(direct, 1)
    details = results.experiment(direct.id)
    texts = results.texts(text_hashes(details))
    elsewhere = replace(details, experiment=replace(details.experiment, id="exp_/../../../.bashrc"))
    with pytest.raises(DataError, match="not a valid experiment id, so koderz does not use it in file names"):
        files_of(elsewhere, texts)


def test_a_benchmark_is_dumped_as_all_its_experiments_that_have_begun(journal, experiments, plan, tmp_path):
    for experiment in plan.experiments()[:2]:
        journal.tell(experiment)
    dumped = experiments.dump(plan.id, tmp_path / "a" / "b")
    assert (dumped.experiments, dumped.files) == (2, 8)
    written = sorted(path.name for path in dumped.folder.iterdir())
    assert len(written) == 8
    assert {name[:16] for name in written} == {experiment.id for experiment in plan.experiments()[:2]}

"""Files of one's own: every fault is named with line and field, and a sound file is kept for whoever resumes."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koderz_core.config import Settings
from koderz_core.datasets import dataset_names, load
from koderz_core.datasets.humaneval import load_humaneval
from koderz_core.datasets.own_problems import read_own
from koderz_core.errors import DataError

ADD = {
    "task_id": "mine/1",
    "prompt": 'import math\n\ndef add(a, b):\n    """Add."""\n',
    "entry_point": "add",
    "asserts": ["assert add(1, 2) == 3", "assert add(0, 0) == 0"],
    "canonical_solution": "    return a + b\n",
    "licence": "MIT",
}
TESTED = {key: value for key, value in ADD.items() if key != "asserts"} | {
    "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n"
}


def lines(*rows: object) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def faults(*rows: object) -> list[str]:
    return [fault.describe("my.jsonl") for fault in read_own(lines(*rows)).faults]


def own(path: Path, *rows: object) -> Path:
    path.write_bytes(lines(*rows))
    return path


def test_asserts_and_checks_make_the_same_problem() -> None:
    reading = read_own(lines(ADD, TESTED | {"task_id": "mine/2"}))
    first, second = reading.problems
    assert (reading.faults, reading.licences) == ((), ("MIT",))
    assert first.tests.source == "def check(candidate):\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n"
    assert first.canonical_solution == second.canonical_solution == f"{ADD['prompt']}{ADD['canonical_solution']}"
    assert (first.public.preamble, second.public.entry_point) == ("import math\n\n", "add")


def test_a_solution_may_be_a_whole_program_and_inputs_are_kept_as_they_are() -> None:
    whole = "def add(a, b):\n    return a + b\n"
    row = ADD | {"canonical_solution": whole, "plus_input": [[1, 2**80], [float("inf"), 1]], "atol": 1e-6}
    (problem,) = read_own(lines(row)).problems
    assert problem.canonical_solution == whole
    assert problem.plus is not None
    assert (json.loads(problem.plus.inputs), problem.plus.tolerance) == ([[1, 2**80], [float("inf"), 1]], 1e-6)


def test_humanevals_own_lines_are_of_this_format() -> None:
    published = load_humaneval(Settings(humaneval_path=None)).problems
    rows = [
        {
            "task_id": problem.id,
            "prompt": problem.public.prompt,
            "entry_point": problem.public.entry_point,
            "canonical_solution": problem.canonical_solution.removeprefix(problem.public.prompt),
            "test": problem.tests.source,
        }
        for problem in published
    ]
    reading = read_own(lines(*rows))
    assert (reading.problems, reading.faults) == (published, ())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"task_id": 7}, "field task_id: should be a valid string; give the problem an id"),
        ({"task_id": "a, b"}, "field task_id: is not a valid id: 'a, b'"),
        ({"prompt": " "}, "field prompt: is empty"),
        ({"prompt": "Add two numbers."}, "field prompt: does not mention the entry point add"),
        ({"entry_point": "a-b"}, "field entry_point: is not a valid name of a Python function: 'a-b'"),
        ({"asserts": []}, "field asserts: should have at least 1 item"),
        ({"asserts": ["add(1, 2)"]}, "field asserts: contains text that is not an assert statement: 'add(1, 2)'"),
        ({"asserts": ["assert ("]}, "field asserts: is not Python"),
        ({"asserts": ["assert True"]}, "field asserts: contains no assert that can fail"),
        ({"asserts": ["assert sum([1]) == 1"]}, "field asserts: does not call the entry point add"),
        (
            {"asserts": ["assert add(1, 2) or True"]},
            "field asserts: contains a constant assert: 'add(1",
        ),
        (
            {"asserts": ["assert (add(1, 2) == 3, 'no')"]},
            "field asserts: contains a constant assert",
        ),
        (
            {"asserts": ["assert not (add(1, 2) and [])"]},
            "field asserts: contains a constant assert",
        ),
        ({"test": "x"}, "field test: is given together with asserts; give either"),
        (
            {"asserts": ["assert add(1, 2) == 3"] * 2, "canonical_solution": "    return ("},
            "field canonical_solution: is not",
        ),
        ({"canonical_solution": 1}, "field canonical_solution: should be a valid string"),
        ({"plus_input": [1]}, "field plus_input: is not a list of lists"),
        ({"plus_input": [[1, 2]], "canonical_solution": ""}, "field plus_input: needs a canonical_solution"),
        ({"plus_inputs": [[1, 2]]}, "field plus_inputs: is not a field of this format; did you mean plus_input?"),
        ({"atol": -1}, "field atol: should be greater than or equal to 0"),
        ({"licence": "[MIT](https://x)"}, "field licence: is not a valid licence name"),
    ],
)
def test_a_fault_is_told_with_file_line_field_and_cure(wrong: dict[str, object], said: str) -> None:
    told, *_ = faults(ADD | {"task_id": "mine/0"}, ADD | wrong)
    assert told.startswith(f"my.jsonl:2: {said}")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"test": "def check(candidate)"}, "field test: is not Python"),
        ({"test": "def run(candidate):\n    assert candidate(1, 2)"}, "field test: does not define check(candidate)"),
        ({"test": "def check(candidate):\n    assert 1, 'x'"}, "field test: contains no assert that can fail"),
        ({"test": ""}, "field test: is missing; give either test or asserts"),
    ],
)
def test_a_wrong_check_is_told(wrong: dict[str, object], said: str) -> None:
    (told,) = faults(TESTED | wrong)
    assert told.startswith(f"my.jsonl:1: {said}")


def test_a_field_that_stands_twice_is_told() -> None:
    line = lines(ADD).replace(b'"licence"', b'"prompt": "x", "licence"')
    (fault,) = read_own(line).faults
    assert fault.describe("my.jsonl") == "my.jsonl:1: field prompt: occurs 2 times; keep only one of these fields"


def test_the_mark_that_some_editors_begin_a_file_with_is_no_part_of_it() -> None:
    reading = read_own(codecs.BOM_UTF8 + lines(ADD, [], ADD | {"task_id": "mine/2"}))
    assert ([problem.id for problem in reading.problems], reading.lines) == (["mine/1", "mine/2"], (1, 3))


@pytest.mark.parametrize("test", ["add(1, 2) or add(1, 3)", "add(1, 2) and True", "[*add(1, 2)]", "not add(0, 0)"])
def test_an_assert_that_a_program_decides_is_none_of_those(test: str) -> None:
    assert faults(ADD | {"asserts": [f"assert {test}"]}) == []


def test_all_faults_are_told_and_not_only_the_first() -> None:
    told = faults(ADD, {"prompt": 1, "atol": "x"}, ADD, [1])
    assert [line.split(": ")[0] for line in told] == ["my.jsonl:2"] * 4 + ["my.jsonl:3", "my.jsonl:4"]
    taken = "field task_id: 'mine/1' is already the id of the problem in line 1; give each problem its own id"
    assert told[-2].endswith(taken)
    assert "not a JSON object" in told[-1]


@pytest.mark.parametrize("content", [b"", b"\n \n", b"{", b"\xff\xfe", b"null", b"[" * 5000])
def test_what_is_no_file_of_problems_is_a_fault(content: bytes) -> None:
    assert len(read_own(content).faults) == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3)
)


@given(st.dictionaries(st.sampled_from([*ADD, "test", "plus_input", "atol", "x"]), json_values))
def test_no_value_whatever_breaks_the_reading(wrong: dict[str, object]) -> None:
    reading = read_own(lines(ADD | wrong))
    assert len(reading.problems) == (not reading.faults)


def test_a_file_is_kept_under_its_name_and_hash_and_found_again(settings: Settings, tmp_path: Path) -> None:
    file = own(tmp_path / "my first.jsonl", ADD)
    loaded = load(str(file), settings)
    file.unlink()
    assert loaded.origin.name == f"own-my-first-{loaded.origin.sha256[:12]}"
    assert load(loaded.origin.name, settings) == loaded
    assert loaded.origin.name in dataset_names(settings)


def test_a_kept_file_that_is_gone_or_changed_is_told_with_its_hash(settings: Settings, tmp_path: Path) -> None:
    name = load(str(own(tmp_path / "my.jsonl", ADD)), settings).origin.name
    kept = settings.home / "datasets" / f"{name}.jsonl"
    kept.write_bytes(kept.read_bytes() + b"\n")
    with pytest.raises(DataError, match=rf"was changed.*begins with {name[-12:]}\): --dataset FILE"):
        load(name, settings)
    kept.unlink()
    with pytest.raises(DataError, match=rf"is missing.*begins with {name[-12:]}"):
        load(name, settings)


def test_a_file_with_faults_is_not_kept(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"my file.jsonl:1: field atol.*: 1.*list-problems --file '/.*file.jsonl'$"):
        load(str(own(tmp_path / "my file.jsonl", ADD | {"atol": []})), settings)
    assert not (settings.home / "datasets").exists()


def test_without_a_licence_that_is_said(settings: Settings, tmp_path: Path) -> None:
    row = {key: value for key, value in ADD.items() if key != "licence"}
    assert load(str(own(tmp_path / "my.jsonl", row)), settings).origin.licence == "not stated"


def test_a_file_that_lacks_a_field_is_refused_with_how_to_map_a_column(tmp_path: Path, settings: Settings) -> None:
    file = tmp_path / "table.csv"
    file.write_text("question,code\nAdd,def f(a): return a\n")
    with pytest.raises(DataError, match=r"add: --map task_id=COLUMN\. Number of faults: 3"):
        load(str(file), settings)

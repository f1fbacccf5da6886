"""Hashes of problems, which journals contain: a new kind of problem must not change those of the others."""

from koderz_core import datasets
from koderz_core.config import Settings
from koderz_core.datasets.tasks import keep_task
from koderz_core.records import Problem, PublicProblem, TestSet, to_hash


def test_the_hashes_of_made_datasets_are_those_of_earlier_versions(settings: Settings) -> None:
    names = ("humaneval, variant renamed", "humaneval-stdin")
    hashes = [datasets.load(name, settings).origin.sha256 for name in names]
    assert [sha256[:12] for sha256 in hashes] == ["a48e6020cd86", "fd9523f8ffa4"]


def test_the_name_of_a_task_is_that_of_earlier_versions(settings: Settings) -> None:
    task = Problem(PublicProblem("a/1", "p", "f"), TestSet("x"), "s")
    assert keep_task(task, settings).origin.name == "fix-05500a3ce52b"


def test_only_what_a_repository_adds_is_left_out_and_only_if_it_is_empty() -> None:
    tests = to_hash((TestSet("x"), TestSet(ids=("a.py::test",)), PublicProblem("a/1", "", "f", names=())))
    plain, of_repository, public = tests
    assert "ids" not in plain
    assert of_repository["ids"] == ["a.py::test"]
    assert ("files" in public, public["names"], public["given"]) == (False, [], "")

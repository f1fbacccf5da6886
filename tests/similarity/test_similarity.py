"""CodeBLEU as its package has it, the same in every process, and only of programs that can be compared."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from koderz_core import similarity
from koderz_core.errors import InfrastructureError, PlanError
from koderz_core.similarity import Weights, normalised, require_package, similarities

EVEN = Weights.read("1,1,1,1")
ADD = "def add ( a , b ) :\n return a + b"
SUM = "def sum ( first , second ) :\n return second + first"
FOO, BAR = "def foo ( x ) :\n    return x", "def bar ( x ) :\n    return x"

PUBLISHED = [
    (ADD, SUM, 0.5538, 0.0001),  # the example of its README
    ("some rannnndom words in length more than 3", "def test ( ) :\n pass", 0.25, 0.025),
    ("def bar ( y , x ) :\n    a = x * x\n    return a", FOO, 0.4, 0.04),
    ("def foo ( x ) :\n    return x * x", BAR, 0.6, 0.06),
    (BAR, FOO, 0.8, 0.08),
    (FOO, "def bar ( y ) :\n    return y", 0.6, 0.06),
]
"""Prediction, reference, CodeBLEU, tolerance, as in tests/test_codebleu.py of github.com/k4black/codebleu 0.7.0."""


@pytest.fixture
def package() -> None:
    pytest.importorskip("codebleu", reason="the extra koderz[codebleu] is not installed")


@pytest.mark.usefixtures("package")
def test_it_agrees_with_the_tests_of_codebleu() -> None:
    programs = [program for item, other, *_ in PUBLISHED for program in (item, other)]
    found = similarity._scores(programs, EVEN)
    for place, (_, _, expected, tolerance) in enumerate(PUBLISHED):
        assert found[2 * place][2 * place + 1] == pytest.approx(expected, abs=tolerance)


@pytest.mark.usefixtures("package")
def test_programs_are_compared_both_ways_and_the_same_ones_are_alike_whole() -> None:
    rows = similarities([ADD, SUM, ADD], EVEN)
    assert rows[0] == rows[2] == (1.0, rows[0][1], 1.0)
    assert rows[0][1] == rows[1][0] < 1
    short = [ADD, "def add ( a ) :\n return a"]
    one, other = similarity._scores(short, EVEN)
    assert one[1] != other[0]
    assert similarities(short, EVEN)[0][1] == pytest.approx((one[1] + other[0]) / 2, abs=1e-6)


@pytest.mark.usefixtures("package")
def test_weights_decide_what_counts() -> None:
    (_, words), _ = similarities([FOO, "def bar ( y ) :\n    return y"], Weights.read("1,0,0,0"))
    (_, syntax), _ = similarities([FOO, "def bar ( y ) :\n    return y"], Weights.read("0,0,2,0"))
    assert (words < 0.5, syntax) == (True, 1.0)


@pytest.mark.usefixtures("package")
def test_every_process_comes_to_the_same_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    prefixes = "def f(word):\n    return [word[:i + 1] for i in range(len(word))]"
    divisor = "def f(n):\n    for i in range(2, n):\n        if n % i == 0:\n            return n // i\n    return 1"
    found = set()
    for seed in ("1", "2"):  # by which the package alone comes to different ones
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        found.add(similarities([prefixes, divisor], EVEN))
    assert len(found) == 1


def test_normalised_programs_differ_in_nothing_but_what_python_sees() -> None:
    plain = normalised('def f( x ):\n    """Doc."""\n    # why\n    return (x)\n')
    assert plain == normalised("def f(x): return x") == "def f(x):\n    return x"
    assert normalised('def f():\n    """Doc."""') == "def f():\n    pass"


@pytest.mark.parametrize(
    "program",
    [
        *("", "# nothing", "def f(:", "x = '\x00'", "x = 1\n" * 1001, "x = " + "-" * 150 + "1", "def \ud800(): pass"),
        "x = 0x" + "f" * 5000,
    ],
)
def test_what_cannot_be_compared_says_so(program: str) -> None:
    assert normalised(program) is None


def test_weights_are_read_in_any_proportion_and_have_one_spelling() -> None:
    assert str(Weights.read("1, 1,2 ,0")) == str(Weights.read("0.25,.25,0.5,0")) == "0.25,0.25,0.5,0"
    assert str(Weights.read(str(Weights.read("1,999999,0,0")))) == "0.000001,0.999999,0,0"
    assert Weights.read(str(Weights.read("1,1,1,0"))).shares == pytest.approx((1 / 3, 1 / 3, 1 / 3, 0), abs=1e-6)


@pytest.mark.parametrize("text", ["", "1,1,1", "0,0,0,0", "1,1,1,-1", "1,1,1,nan", "a,b,c,d", "1,1,1,1,1"])
def test_weights_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(
        PlanError, match=r"is not a list of weights\. Write four numbers.* such as 0\.25,0\.25,0\.25,0\.25"
    ):
        Weights.read(text)


def test_without_the_package_it_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "find_spec", lambda _: None)
    with pytest.raises(
        PlanError, match=r"needs packages .*\(codebleu, tree_sitter_python\).*pip install 'koderz\[codebleu\]'"
    ):
        require_package()


def test_a_package_that_fails_is_not_the_models_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "codebleu.py").write_text("raise ImportError('made for another tree-sitter')")
    monkeypatch.setattr(similarity, "require_package", lambda: None)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(InfrastructureError, match="CodeBLEU failed"):
        similarities([FOO, BAR], EVEN)

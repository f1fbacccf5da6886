"""Values written as source, and large ones as a digest that equal values share."""

from __future__ import annotations

import math
from collections import Counter, namedtuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koderz_core.sandbox.inside.literals import Large, NotPlainError, brief_digest, digest_of, flattened, literal

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
KEYS = st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.tuples(st.integers())
PLAIN = st.recursive(
    LEAVES | st.complex_numbers(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(KEYS, inner)
        | st.sets(KEYS)
        | st.frozensets(KEYS)
    ),
    max_leaves=20,
)
SCOPE = {"inf": math.inf, "nan": math.nan}


@given(PLAIN)
def test_a_literal_makes_an_equal_value_of_the_same_type(value: object) -> None:
    made = eval(literal(value), dict(SCOPE))
    assert made == value
    assert type(made) is type(value)
    assert digest_of(made) == digest_of(value)


@given(PLAIN, PLAIN)
def test_digests_are_equal_exactly_where_values_are(one: object, other: object) -> None:
    assert (digest_of(one) == digest_of(other)) is (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [(True, 1.0), ([1, 2], [1.0, 2]), ({1: 2, 3: 4}, {3.0: 4, True: 2}), ({1}, frozenset({1.0})), (2, 2 + 0j)],
)
def test_equal_values_of_other_types_share_a_digest(one: object, other: object) -> None:
    assert one == other
    assert digest_of(one) == digest_of(other)


def test_ints_of_more_digits_than_python_writes_are_written() -> None:
    assert eval(literal([10**5000, 1])) == [10**5000, 1]
    assert digest_of([10**5000, 1]) == digest_of([10**5000, True])


def test_a_subclass_is_written_as_its_plain_type() -> None:
    assert literal(Counter("aab")) == "{'a': 2, 'b': 1}"
    assert literal(namedtuple("Point", "x y")(1, 2)) == "(1, 2)"


@pytest.mark.parametrize("value", [object(), [print], iter([])])
def test_what_is_not_plain_is_refused(value: object) -> None:
    with pytest.raises(NotPlainError):
        literal(value)


def test_a_large_value_is_equal_to_its_digest_and_a_changed_one_is_not() -> None:
    large = flattened(list(range(10_000)))
    assert isinstance(large, Large)
    assert [*map(float, range(10_000))] == large
    assert [*range(9_999), 0] != large
    assert tuple(range(10_000)) != large
    assert [object()] != large


@given(PLAIN)
def test_what_is_not_large_stays_an_equal_value(value: object) -> None:
    assert flattened([value]) == [value]


def test_large_values_with_floats_are_kept_whole() -> None:
    assert flattened([0.5] * 5000) == [0.5] * 5000


LISTS = st.lists(st.integers() | st.floats() | st.booleans() | st.just(-0.0) | st.just(2**53 + 1), max_size=3)


@given(LISTS | LISTS.map(tuple) | st.text(max_size=3))
def test_a_digest_that_is_known_quickly_is_the_digest_of_an_answer_that_only_a_digest_stands_for(value: object) -> None:
    many = value * 6000  # type: ignore[operator]  # a sequence
    brief = brief_digest(many)
    right = flattened(many)
    assert brief is None or (isinstance(right, Large) and right.digest == brief == digest_of(many))


@pytest.mark.parametrize(
    ("one", "other"), [([2**53], [2**53 + 1]), ([2.0**53], [2**53 + 1]), ([1e300], [int(1e300) + 1])]
)
def test_numbers_that_no_float_tells_apart_have_digests_of_their_own(one: list[int], other: list[int]) -> None:
    assert digest_of(one) != digest_of(other)


def test_what_is_known_quickly_is_what_most_large_answers_are() -> None:
    assert brief_digest([1, 2.0] * 4000)
    assert brief_digest("\ud800" * 20_000)
    assert [brief_digest(value) for value in ([1] * 5000, "x" * 9000, [0.5] * 9000, [math.nan] * 9000)] == [None] * 4


def test_what_no_program_could_answer_is_refused() -> None:
    with pytest.raises(NotPlainError, match="12000000"):
        flattened([["x" * 1000] * 12_000])

import json
import math
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koderz_core.sandbox.inside.values import Opaque, decode, encode, holds
from koderz_core.sandbox.inside.wire import Channel, FrameTooLargeError, WireError

HASHABLE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**63 - 2, max_value=2**200)
    | st.floats(allow_nan=False)
    | st.text(st.characters())
    | st.binary()
    | st.complex_numbers(allow_nan=False),
    lambda inner: st.tuples(inner, inner) | st.tuples(inner) | st.frozensets(inner, max_size=3),
    max_leaves=6,
)
PLAIN = st.recursive(
    HASHABLE | st.sets(HASHABLE, max_size=3) | st.just(math.nan),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(HASHABLE, inner, max_size=3),
    max_leaves=12,
)


def crossed(value):
    return decode(json.loads(json.dumps(encode(value), allow_nan=False)))


def exactly(value):
    """A text that differs when a type, a sign or a bit of a value differs."""
    if isinstance(value, set | frozenset):
        return f"{type(value).__name__}{sorted(exactly(item) for item in value)}"
    if isinstance(value, dict):
        return f"dict{sorted((exactly(key), exactly(item)) for key, item in value.items())}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}{[exactly(item) for item in value]}"
    return f"{type(value).__name__} {value.hex() if isinstance(value, float) else value!r}"


@given(PLAIN)
def test_plain_data_comes_back_exactly(value):
    assert exactly(crossed(value)) == exactly(value)


@given(st.recursive(st.none(), st.lists) | st.dictionaries(st.text(), st.integers()))
def test_plain_data_holds_nothing_opaque(value):
    assert not holds(encode(value), "opaque")


def test_an_int_longer_than_python_would_print_comes_back():
    assert crossed(1 << 100_000) == 1 << 100_000


def test_subclasses_become_their_plain_type_whatever_they_say_of_themselves():
    class AlwaysEqual(int):
        def __eq__(self, other):
            return True

        __hash__ = int.__hash__

        def __int__(self):
            return 99

    arrived = crossed(AlwaysEqual(7))
    assert type(arrived) is int
    assert arrived == 7


@pytest.mark.parametrize("value", [object(), len, iter([1]), {1: 2}.keys()])
def test_what_is_not_plain_data_arrives_opaque(value):
    assert isinstance(crossed(value), Opaque)
    assert holds(encode([{"deep": (value,)}]), "opaque")


def test_an_opaque_value_is_equal_to_nothing_and_different_from_nothing():
    opaque = Opaque("thing")
    assert not opaque == opaque  # noqa: PLR0124, SIM201 (the operators are what is tested)
    assert not opaque != 5  # noqa: SIM202 (as above)
    with pytest.raises(TypeError, match="thing"):
        bool(opaque)


def test_a_value_that_holds_itself_does_not_cross_endlessly():
    endless = []
    endless.append(endless)
    assert holds(encode(endless), "beyond")


@pytest.mark.parametrize(
    "hostile",
    [
        {"unknown": 1},
        {},
        {"int": "x"},
        {"set": [[]]},
        {"dict": [1]},
        {"complex": [1]},
        {"bytes": 5},
        {"float": 10**400},
        {"tuple": None},
    ],
)
def test_values_that_nobody_encoded_are_refused(hostile):
    with pytest.raises(WireError):
        decode(hostile)


@pytest.fixture
def channel():
    read_fd, write_fd = os.pipe()
    yield Channel(read_fd, write_fd)
    os.close(read_fd)


def frame(body):
    return len(body).to_bytes(4, "big") + body


@pytest.mark.parametrize("garbage", [frame(b"no json"), frame(b"[1]"), frame(b"[" * 50_000), b"\xff\xff\xff\xff"])
def test_garbage_on_the_channel_is_refused(channel, garbage):
    os.write(channel.write_fd, garbage)
    os.close(channel.write_fd)
    with pytest.raises(WireError):
        channel.receive()


def test_a_message_cut_short_ends_the_channel(channel):
    os.write(channel.write_fd, frame(b'{"a": 1}')[:-1])
    os.close(channel.write_fd)
    with pytest.raises(EOFError):
        channel.receive()


def test_a_message_beyond_the_limit_is_not_sent(channel):
    with pytest.raises(FrameTooLargeError, match="17 MB"):
        channel.send({"value": "x" * 17_000_000})
    channel.send({"value": "small"})
    assert channel.receive() == {"value": "small"}
    os.close(channel.write_fd)

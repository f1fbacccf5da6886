"""No second of this machine is paid for twice, however many calls share it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from queue import SimpleQueue
from threading import Event

import pytest
from chat_server import REQUEST, serving_chat
from hypothesis import given
from hypothesis import strategies as st
from scripted_server import QWEN, ollama_says

from koderz_core.config import load_settings
from koderz_core.errors import Cancelled, ModelError
from koderz_core.models.machine import Machine, MeteredModel, Share
from koderz_core.models.open_models import OpenModels
from koderz_core.models.scripted import ScriptedModel
from koderz_core.protocols import OnText
from koderz_core.records import Completion, Request, Sampling, Usage

Calls = list[tuple[int, int]]  # when each began and how long it took


def shares(calls: Calls, watts: float = 0.0) -> list[Share]:
    """The shares of calls on a machine whose GPUs draw ``watts``."""
    now = 0.0
    machine = Machine(lambda: now, lambda: now * watts)
    begun: dict[int, Share] = {}
    ended: dict[int, Share] = {}
    changes = [(begin, 0, call) for call, (begin, _) in enumerate(calls)]
    changes += [(begin + seconds, 1, call) for call, (begin, seconds) in enumerate(calls)]
    for at, ends, call in sorted(changes):
        now = float(at)
        if ends:
            ended[call] = machine.end(begun[call])
        else:
            begun[call] = machine.begin()
    return [ended[call] for call in range(len(calls))]


def test_a_call_alone_has_the_whole_machine_and_two_at_once_have_half_of_it() -> None:
    assert [share.seconds for share in shares([(0, 10), (20, 5)])] == [10, 5]
    assert [share.seconds for share in shares([(0, 10), (0, 10)])] == [5, 5]
    assert [share.seconds for share in shares([(0, 10), (5, 10)])] == [7.5, 7.5]


def test_measured_energy_is_shared_as_time_is() -> None:
    assert [share.gpu_joules for share in shares([(0, 10), (5, 10)], watts=100)] == [750, 750]


def test_where_nothing_is_measured_the_energy_of_gpus_is_unknown() -> None:
    machine = Machine(lambda: 0.0)
    share = machine.end(machine.begin())
    assert (share.gpu_joules, share.cpu_joules) == (None, None)


def test_a_reading_that_fails_makes_its_own_call_unknown_and_keeps_the_energy_of_the_others() -> None:
    readings = iter([0.0, None, None, 1000.0])
    machine = Machine(lambda: 0.0, lambda: next(readings))
    first = machine.begin()
    assert machine.end(machine.begin()).gpu_joules is None
    assert machine.end(first).gpu_joules == 1000


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), min_size=1, max_size=12))
def test_the_shares_add_up_to_the_time_in_which_the_machine_worked(calls: Calls) -> None:
    worked = {second for begin, seconds in calls for second in range(begin, begin + seconds)}
    assert sum(share.seconds for share in shares(calls)) == pytest.approx(len(worked))
    assert sum(share.gpu_joules or 0.0 for share in shares(calls, watts=3)) == pytest.approx(3 * len(worked))


def test_a_call_that_waits_for_its_turn_has_no_share_of_what_others_do_meanwhile() -> None:
    slow = ScriptedModel("embedded/a", lambda _: "one", seconds_per_piece=0.1)
    model = MeteredModel(slow, Machine(), one_by_one=True)
    with ThreadPoolExecutor(4) as threads:
        shares = [completion.usage.machine_seconds or 9 for completion in threads.map(model.complete, [REQUEST] * 4)]
    assert all(0.1 <= seconds < 0.2 for seconds in shares)


def test_a_call_that_was_stopped_while_it_waited_for_its_turn_is_not_sent() -> None:
    sent, stopped = SimpleQueue[int](), Event()

    class Busy:
        id = "embedded/a"

        def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
            sent.put(request.seed)
            assert stopped.wait(10)
            return Completion("one", "stop", Usage(), 0.0, Sampling())

        def close(self) -> None: ...

    def check(_piece: str) -> None:
        if stopped.is_set():
            raise Cancelled("stopped")

    model = MeteredModel(Busy(), Machine(), one_by_one=True)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(model.complete, replace(REQUEST, seed=1), check)
        assert sent.get(timeout=10) == 1
        second = threads.submit(model.complete, replace(REQUEST, seed=2), check)
        stopped.set()
        assert first.result(10).text == "one"
        assert isinstance(second.exception(10), Cancelled)
    assert sent.empty()


def test_the_error_of_a_call_that_failed_tells_its_share() -> None:
    now = 0.0

    class Late:
        id = "embedded/a"

        def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
            nonlocal now
            now += 300.0
            raise ModelError("late")

        def close(self) -> None: ...

    with pytest.raises(ModelError) as caught:
        MeteredModel(Late(), Machine(lambda: now, lambda: now * 10)).complete(REQUEST)
    assert (caught.value.machine_seconds, caught.value.gpu_joules) == (300.0, 3000.0)


def test_a_model_on_this_machine_tells_its_share_and_one_elsewhere_has_none() -> None:
    with serving_chat() as server:
        server.answer = ollama_says()
        settings = load_settings(ollama_base_url=server.url.removesuffix("/v1"))
        opened = OpenModels(settings, lambda _: {})
        model = opened.get(QWEN, "d")
        with ThreadPoolExecutor(4) as threads:
            answers = list(threads.map(model.complete, [REQUEST] * 8))
        opened.close()
    assert all(answer.usage.machine_seconds is not None for answer in answers)
    scripted = OpenModels(settings, lambda _: {}).get("scripted/weak", "d").complete(REQUEST)
    assert scripted.usage == Usage(scripted.usage.input_tokens, scripted.usage.output_tokens, 0, 0)

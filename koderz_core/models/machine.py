"""This machine's time and the energy of its GPUs and processors, divided among the calls that use them together.

At every moment each of the ``k`` calls under way has ``1/k`` of the machine. So their shares add up to the time in
which it worked, and no second is paid for twice. Not covered: calls of other processes, and idle power; only the
counters of processors include both (``models/rapl.py``).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

from koderz_core.errors import ModelError
from koderz_core.protocols import Model, OnText
from koderz_core.records import Completion, Request

Joules = Callable[[], float | None]
"""Reads the energy that GPUs or processors of this machine have used so far; None: there is no counter."""

MILLI = 1000.0  # the counters are in millijoules


@dataclass(frozen=True, slots=True)
class Share:
    """The share of one call: time, energy of the GPUs, energy of the processors. None: not measured."""

    seconds: float
    gpu_joules: float | None
    cpu_joules: float | None


class _Meter:
    """The energy of a counter that belongs to a call that was under way from the beginning."""

    def __init__(self, joules: Joules | None) -> None:
        self._joules: Joules = joules or (lambda: None)
        self._drawn: float | None = None
        self._each = 0.0

    def read(self, calls: int) -> float | None:
        """``calls``: under way since the last call of this method.

        None: the counter cannot be read now. The energy since the last reading then counts at the next one.
        """
        before, now = self._drawn, self._joules()
        if now is None:
            return None
        self._drawn = now
        if calls and before is not None:
            self._each += max(0.0, now - before) / calls
        return self._each


class Machine:
    """Divides the time and energy of this machine among calls. Thread-safe."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        gpu_joules: Joules | None = None,
        cpu_joules: Joules | None = None,
    ) -> None:
        self._clock, self._meters = clock, (_Meter(gpu_joules), _Meter(cpu_joules))
        self._guard = threading.Lock()  # guards all below
        self._calls = 0  # under way
        self._at = 0.0
        self._each_seconds = 0.0  # the share of a call that was under way from the beginning

    def begin(self) -> Share:
        """Start a call; pass the result to ``end``."""
        return self._change(+1)

    def end(self, start: Share) -> Share:
        """End a call and return its share of the machine since ``start``."""
        now = self._change(-1)
        return Share(
            now.seconds - start.seconds,
            _between(start.gpu_joules, now.gpu_joules),
            _between(start.cpu_joules, now.cpu_joules),
        )

    def _change(self, by: int) -> Share:
        with self._guard:
            now = self._clock()
            gpu_joules, cpu_joules = (meter.read(self._calls) for meter in self._meters)
            if self._calls:
                self._each_seconds += (now - self._at) / self._calls
            self._at = now
            self._calls += by
            return Share(self._each_seconds, gpu_joules, cpu_joules)


def _between(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else end - start


class MeteredModel:
    """A model on this machine whose completions contain their share of it.

    ``one_by_one``: it answers one call at a time, so a call that waits for its turn has no share yet.
    """

    def __init__(self, model: Model, machine: Machine, *, one_by_one: bool = False) -> None:
        self.id, self._model, self._machine, self._one_by_one = model.id, model, machine, one_by_one
        self._turn: AbstractContextManager[object] = threading.Lock() if one_by_one else nullcontext()

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """As the model. The ModelError of a failed call contains its share too.

        ``on_text`` is called with "" when a call gets its turn: it may end the call.
        """
        with self._turn:
            if on_text and self._one_by_one:
                on_text("")  # the experiment may have been stopped while the call waited
            start, failure = self._machine.begin(), None
            try:
                completion = self._model.complete(request, on_text)
            except ModelError as error:
                failure = error
                raise
            finally:
                share = self._machine.end(start)
                if failure:
                    failure.machine_seconds = share.seconds
                    failure.gpu_joules, failure.cpu_joules = share.gpu_joules, share.cpu_joules
        usage = replace(
            completion.usage,
            machine_seconds=share.seconds,
            gpu_joules=share.gpu_joules,
            cpu_joules=share.cpu_joules,
        )
        return replace(completion, usage=usage)

    def close(self) -> None:
        """As the model."""
        self._model.close()


def gpu_joules() -> Joules:
    """A counter of all NVIDIA GPUs of this machine; it returns None without GPUs or without nvidia-ml-py."""
    pynvml, gpus = _gpus()

    def joules() -> float | None:
        with suppress(pynvml.NVMLError):  # GPUs before Volta have no counter
            return float(sum(pynvml.nvmlDeviceGetTotalEnergyConsumption(gpu) for gpu in gpus)) / MILLI
        return None

    return joules if gpus else lambda: None


def gpu_memory() -> Callable[[], tuple[int, int] | None]:
    """A reader of the used and the total memory (bytes) of all NVIDIA GPUs; it returns None as ``gpu_joules``."""
    pynvml, gpus = _gpus()

    def memory() -> tuple[int, int] | None:
        with suppress(pynvml.NVMLError):
            read = [pynvml.nvmlDeviceGetMemoryInfo(gpu) for gpu in gpus]
            return sum(int(gpu.used) for gpu in read), sum(int(gpu.total) for gpu in read)
        return None

    return memory if gpus else lambda: None


def _gpus() -> tuple[Any, list[Any]]:  # Any: nvidia-ml-py has no types
    """The module nvidia-ml-py and the handles of all GPUs; no handles without a GPU or without the module."""
    try:
        import pynvml  # noqa: PLC0415 (optional)
    except ImportError:
        return None, []
    with suppress(pynvml.NVMLError):  # without a driver there is no GPU to measure
        pynvml.nvmlInit()
        return pynvml, [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
    return pynvml, []

"""This machine's time and the energy of its GPUs, divided among the calls that use them at the same time.

At every moment each of the ``k`` calls under way has ``1/k`` of the machine. So their shares add up to the time in
which it worked, and no second is paid for twice. Not covered: calls of other processes, and idle power.
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
"""Reads the energy that the GPUs of this machine have used so far; None: there is no counter."""

MILLI = 1000.0  # the counters are in millijoules


@dataclass(frozen=True, slots=True)
class Share:
    """The share of one call. ``joules`` None: not measured."""

    seconds: float
    joules: float | None


class Machine:
    """Divides the time and energy of this machine among calls. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, joules: Joules = lambda: None) -> None:
        self._clock, self._joules = clock, joules
        self._guard = threading.Lock()  # guards all below
        self._calls = 0  # under way
        self._at = 0.0
        self._drawn: float | None = None
        self._each_seconds, self._each_joules = 0.0, 0.0  # the share of a call that was under way from the beginning

    def begin(self) -> Share:
        """Start a call; pass the result to ``end``."""
        return self._change(+1)

    def end(self, start: Share) -> Share:
        """End a call and return its share of the machine since ``start``."""
        now = self._change(-1)
        joules = None if now.joules is None or start.joules is None else now.joules - start.joules
        return Share(now.seconds - start.seconds, joules)

    def _change(self, by: int) -> Share:
        with self._guard:
            now, drawn = self._clock(), self._joules()
            if self._calls:
                self._each_seconds += (now - self._at) / self._calls
                if drawn is not None and self._drawn is not None:
                    self._each_joules += max(0.0, drawn - self._drawn) / self._calls
            self._at, self._drawn = now, drawn
            self._calls += by
            return Share(self._each_seconds, None if drawn is None else self._each_joules)


class MeteredModel:
    """A model on this machine whose completions contain their share of it.

    ``one_by_one``: it answers one call at a time, so a call that waits for its turn has no share yet.
    """

    def __init__(self, model: Model, machine: Machine, *, one_by_one: bool = False) -> None:
        self._model, self._machine = model, machine
        self._turn: AbstractContextManager[object] = threading.Lock() if one_by_one else nullcontext()

    @property
    def id(self) -> str:
        return self._model.id

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """As the model. The ModelError of a failed call contains its share too."""
        with self._turn:
            start, failure = self._machine.begin(), None
            try:
                completion = self._model.complete(request, on_text)
            except ModelError as error:
                failure = error
                raise
            finally:
                share = self._machine.end(start)
                if failure:
                    failure.machine_seconds, failure.gpu_joules = share.seconds, share.joules
        usage = replace(completion.usage, machine_seconds=share.seconds, gpu_joules=share.joules)
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

"""The memory of the machine in words and lines."""

from __future__ import annotations

from koderz_core.models.free_memory import Memory
from koderz_core.models.in_memory import InMemory
from koderz_core.report.memory import memory_alt, memory_chart, memory_rows
from koderz_core.runner.memory_watch import Sample

GB = 10**9


def test_the_chart_has_a_line_for_what_is_measured_and_where_experiments_wait() -> None:
    samples = [
        Sample(0.0, Memory(10 * GB, 4 * GB), "enough", GB, 2 * GB, 8 * GB),
        Sample(60.0, Memory(10 * GB, 7 * GB), "low", 0, GB, 8 * GB),
    ]
    lines = {line.name: (list(line.x), list(line.y)) for line in memory_chart(samples, GB).data}
    assert lines == {
        "used": ([-1.0, 0.0], [6.0, 3.0]),
        "models loaded by koderz (estimate)": ([-1.0, 0.0], [1.0, 0.0]),
        "used GPU memory": ([-1.0, 0.0], [2.0, 1.0]),
        "limit above which no experiment starts": ([-1.0, 0.0], [9.0, 9.0]),
    }
    assert memory_alt(samples) == "Memory in the last minutes: 3.00 GB used now, 6.00 GB used at the peak."


def test_a_hostile_name_of_a_model_cannot_act_in_a_terminal_and_the_unknown_is_said() -> None:
    (row,) = memory_rows([InMemory("a\x1b[2J\u202eb", "Ollama", "another program", None)])
    assert "\x1b" not in row["model"]
    assert "\u202e" not in row["model"]
    assert row["memory"] == "unknown"

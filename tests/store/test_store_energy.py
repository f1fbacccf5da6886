"""Where the energy of local calls comes from, by configuration."""

from __future__ import annotations

from koderz_core import open_workspace
from koderz_core.examples import EXAMPLE


def test_the_energy_of_the_example_is_a_stated_power_times_the_duration_of_its_calls() -> None:
    with open_workspace() as workspace:
        workspace.upkeep.open_example()
        sources = workspace.results.energy_sources([EXAMPLE])
        assert workspace.results.energy_sources(["bench_000000000000"]) == {}
    assert {benchmark for benchmark, _ in sources} == {EXAMPLE}
    assert list(sources.values()) == [("65 W",)] * 3

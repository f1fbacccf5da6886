"""Energy of processors from counters, on made folders in the form of Linux' sysfs."""

from __future__ import annotations

from pathlib import Path

import pytest

from koderz_core.models.rapl import cpu_joules

LIMIT = 1_000_000


def zone(powercap: Path, folder: str, name: str, microjoules: int) -> Path:
    made = powercap / folder
    made.mkdir(exist_ok=True)
    for file, value in (("name", name), ("max_energy_range_uj", LIMIT), ("energy_uj", microjoules)):
        (made / file).write_text(f"{value}\n")
    return made


def test_packages_and_memory_count_once_and_a_counter_may_restart(tmp_path: Path) -> None:
    zone(tmp_path, "intel-rapl:0", "package-0", 900_000)
    zone(tmp_path, "intel-rapl:1", "package-1", 100_000)
    zone(tmp_path, "intel-rapl:1:0", "dram", 0)
    joules = cpu_joules(tmp_path)
    assert joules() == 0.0
    zone(tmp_path, "intel-rapl:0", "package-0", 100_000)  # restarted at 0: 200,000 more
    zone(tmp_path, "intel-rapl:1", "package-1", 400_000)
    zone(tmp_path, "intel-rapl:1:0", "dram", 50_000)
    for folder, name in (("intel-rapl:0:0", "core"), ("intel-rapl-mmio:0", "package-0"), ("intel-rapl:2", "psys")):
        zone(tmp_path, folder, name, 999_999)  # parts of a package, the same package again, and all of the machine
    assert joules() == pytest.approx(0.55)


def test_a_counter_that_cannot_be_read_leaves_the_energy_unknown(tmp_path: Path) -> None:
    assert cpu_joules(tmp_path)() is None
    counter = zone(tmp_path, "intel-rapl:0", "package-0", 5) / "energy_uj"
    joules = cpu_joules(tmp_path)
    counter.write_text("")
    assert (joules(), cpu_joules(tmp_path)()) == (None, None)
    counter.write_text("1000005")
    assert joules() == 1.0

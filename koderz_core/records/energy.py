"""What this machine's work costs: energy and wear."""

from __future__ import annotations

from dataclasses import dataclass

from koderz_core.records.completions import Cost

JOULES_PER_KWH = 3.6e6
SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class MachineRates:
    """What an hour and a kilowatt-hour cost and how much power is drawn, under the names of the settings."""

    local_watts: float
    usd_per_kwh: float
    local_usd_per_hour: float

    def cost(self, seconds: float, gpu_joules: float | None = None, rental_usd: float | None = None) -> Cost:
        """The cost of ``seconds`` of this machine. ``gpu_joules``: energy of its GPUs, None if not measured."""
        kwh = (self.local_watts * seconds + (gpu_joules or 0.0)) / JOULES_PER_KWH
        energy_usd = kwh * self.usd_per_kwh
        wear_usd = seconds / SECONDS_PER_HOUR * self.local_usd_per_hour
        gpus = "" if gpu_joules is None else " + GPUs as measured"
        rates = f"at {self.usd_per_kwh:g} USD/kWh + {self.local_usd_per_hour:g} USD/h"
        source = f"{self.local_watts:g} W{gpus} {rates}"
        return Cost(energy_usd + wear_usd, source, kwh=kwh, energy_usd=energy_usd, rental_usd=rental_usd)

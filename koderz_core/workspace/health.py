"""Health of this machine: what works, what is missing and how to fix it, and the speed of models."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from koderz_core import __version__
from koderz_core.config import Settings
from koderz_core.diagnosis import SERVERS, SIGNS, Diagnosis, Finding, diagnose
from koderz_core.diagnosis.journals import index
from koderz_core.diagnosis.model_probes import Speed, ask_each, speed
from koderz_core.diagnosis.model_servers import all_ports
from koderz_core.errors import ConfigError
from koderz_core.workspace.models import Availability, Models
from koderz_core.workspace.upkeep import Upkeep

__all__ = ["SERVERS", "SIGNS", "Diagnosis", "Finding", "Health", "Speed"]


@dataclass(frozen=True)
class Health:
    """Checks this machine at each call, without a cache."""

    settings: Settings
    models: Models
    upkeep: Upkeep

    def overview(self, unread: Collection[str]) -> Diagnosis:
        """Run all checks that take little time. ``unread``: what the index could not read of the journals.

        Raises ConfigError.
        """
        return diagnose(self.settings, self.models.survey(), __version__, unread=unread)

    def diagnosis(self, *, whole_self_test: bool, ask_models: bool) -> Diagnosis:
        """Run all checks. ``ask_models``: also send a short question to each local and the cheapest paid models."""
        surveyed: list[Availability] = []
        unlisted: list[Finding] = []
        try:
            surveyed = self.models.survey()
        except ConfigError as error:  # a fault of what is checked does not stop the check
            lead, _, cure = str(error).rpartition(". ")
            unlisted = [Finding("settings", "models.toml", "missing", lead, cure)]
        found = diagnose(self.settings, surveyed, __version__, whole_self_test=whole_self_test)
        answers = ask_each(self.models.ask, surveyed, self.settings) if ask_models else ()
        return Diagnosis((*unlisted, *found.findings, *index(self.upkeep.index_fault()), *answers))

    def ports(self, more: Iterable[int] = ()) -> tuple[Finding, ...]:
        """Check the usual ports of model servers, those of the addresses that are set, and ``more``."""
        return all_ports(self.settings, more)

    def speed(self, model: str, *, warm: bool = True) -> Speed:
        """Send three prompts to a model, after a warm-up unless ``warm`` is False, and measure its speed."""
        return speed(self.models.ask, model, warm=warm)

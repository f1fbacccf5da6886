"""What stands ready on this machine and what is missing, found by looking, never by guessing."""

from koderz_core.diagnosis.checks import diagnose
from koderz_core.diagnosis.findings import SIGNS, Diagnosis, Finding

__all__ = ["SIGNS", "Diagnosis", "Finding", "diagnose"]

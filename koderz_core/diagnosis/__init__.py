"""What stands ready on this machine and what is missing, found by looking, never by guessing."""

from koderz_core.diagnosis.findings import SIGNS, Diagnosis, Finding
from koderz_core.diagnosis.looking import diagnose

__all__ = ["SIGNS", "Diagnosis", "Finding", "diagnose"]

"""Prompts with their versions, and the extraction of programs, tests and reviews from answers."""

from koderz_core.prompts import attempts, coder, critique, debate, extraction, judge, review, tester

VERSIONS = {
    "attempts": attempts.VERSION,
    "coding": coder.VERSION,
    "critique": critique.VERSION,
    "debating": debate.VERSION,
    "extraction": extraction.VERSION,
    "judging": judge.VERSION,
    "reminding": coder.REMINDING_VERSION,
    "review": review.VERSION,
    "spec": coder.SPEC_VERSION,
    "testing": tester.VERSION,
}

ATTEMPTS = "attempts"
"""The version of prompts that show a coder its attempts and lessons on its failures."""

REMINDING = "reminding"
"""The version of prompts that show a coder examples, or lessons without its own failures."""

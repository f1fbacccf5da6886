"""Prompts with their versions, and the extraction of programs, tests and reviews from answers."""

from koderz_core.prompts import attempts, coding, critique, debating, extraction, judging, review, testing

VERSIONS = {
    "attempts": attempts.VERSION,
    "coding": coding.VERSION,
    "critique": critique.VERSION,
    "debating": debating.VERSION,
    "extraction": extraction.VERSION,
    "judging": judging.VERSION,
    "reminding": coding.REMINDING_VERSION,
    "review": review.VERSION,
    "spec": coding.SPEC_VERSION,
    "testing": testing.VERSION,
}

ATTEMPTS = "attempts"
"""The version of prompts that show a coder its attempts and lessons on its failures."""

REMINDING = "reminding"
"""The version of prompts that show a coder examples, or lessons without its own failures."""

"""What models are told, with a version each, and how programs are found in what they answer."""

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
"""What a coder is told of its attempts, by the strategies that show it any."""

REMINDING = "reminding"
"""What a coder is told from outside its experiment beside lessons on its own failures, which are of its attempts."""

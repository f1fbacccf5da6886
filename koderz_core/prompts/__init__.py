"""What models are told, with a version each, and how programs are found in what they answer."""

from koderz_core.prompts import attempts, coding, debating, extraction, judging, review, spec, testing

VERSIONS = {
    "attempts": attempts.VERSION,
    "coding": coding.VERSION,
    "debating": debating.VERSION,
    "extraction": extraction.VERSION,
    "judging": judging.VERSION,
    "review": review.VERSION,
    "spec": spec.VERSION,
    "testing": testing.VERSION,
}

ATTEMPTS = "attempts"
"""What a coder is told of its attempts, by the strategies that show it any."""

OF_ROLES = {
    "coder": ("coding", "extraction"),
    "judge": ("judging",),
    "reviewer": ("review",),
    "speaker": ("debating",),
    "spec": ("spec",),
    "tester": ("testing",),
}
"""What each role is told, and how its answer is read."""

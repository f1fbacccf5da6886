"""What models are told, with a version each, and how programs are found in what they answer."""

from koderz_core.prompts import attempts, coding, extraction, review, spec

VERSIONS = {
    "attempts": attempts.VERSION,
    "coding": coding.VERSION,
    "extraction": extraction.VERSION,
    "review": review.VERSION,
    "spec": spec.VERSION,
}

ATTEMPTS = "attempts"
"""What a coder is told of its attempts, by the strategies that show it any."""

OF_ROLES = {"coder": ("coding", "extraction"), "reviewer": ("review",), "spec": ("spec",)}
"""What each role is told, and how its answer is read."""

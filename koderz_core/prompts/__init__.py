"""What models are told, with a version each, and how programs are found in what they answer."""

from koderz_core.prompts import coding, extraction, review, spec

VERSIONS = {
    "coding": coding.VERSION,
    "extraction": extraction.VERSION,
    "review": review.VERSION,
    "spec": spec.VERSION,
}

OF_ROLES = {"coder": ("coding", "extraction"), "reviewer": ("review",), "spec": ("spec",)}
"""What each role is told, and how its answer is read."""

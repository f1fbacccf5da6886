"""What models are told, with a version each, and how programs are found in what they answer."""

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
"""What a coder is told of its attempts, by the strategies that show it any."""

REMINDING = "reminding"
"""What a coder is told from outside its experiment beside lessons on its own failures, which are of its attempts."""

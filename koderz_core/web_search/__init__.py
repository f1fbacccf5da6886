"""Opt-in searches of public sites for a strategy: what is asked, how, and what is kept. Results are hostile texts."""

"""Runs untrusted programs on tests: the judge, the candidate's process, and what they say to each other."""

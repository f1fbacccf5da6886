"""Runs untrusted programs on tests: the judge, the candidate's process, and the messages between them."""

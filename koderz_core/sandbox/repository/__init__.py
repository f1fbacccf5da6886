"""Verdicts on the tests of a repository: the tests are rewritten so that expected values stay with the judge."""

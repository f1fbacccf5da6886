"""Runs experiments in threads and says all that happens through events."""

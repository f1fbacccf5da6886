"""Runs the experiments of a benchmark in threads and records everything that happens as events."""

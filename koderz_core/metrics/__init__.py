"""Metrics of this process for Prometheus: calls, tokens, dollars, verdicts and queues, derived from events."""

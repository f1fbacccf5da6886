"""Bundles: one benchmark as a zip that lets another person look at it and re-check it, as open as its level allows."""

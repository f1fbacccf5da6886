"""Upkeep of a data folder: repair of journals, backups, pins, and removal of benchmarks."""

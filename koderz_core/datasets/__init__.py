"""Coding problems by dataset name: one file per publisher's format."""

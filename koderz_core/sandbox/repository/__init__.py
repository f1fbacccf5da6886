"""Judging of repositories: a private copy of a tree, its tests in one process per verdict, and what they observe."""

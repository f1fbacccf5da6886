"""Attacks on the grader: cheats want to be counted as passing, host attacks want what is outside the sandbox.

Each has a twin: the same text must succeed where nothing defends, or it tests nothing. ``python -m attacks`` tries them
all and prints a table (see ``__main__``).
"""

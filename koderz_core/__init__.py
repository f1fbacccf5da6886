"""koderz: can cheap models with many tries, under a little frontier supervision, match an expensive one?"""

__version__ = "0.1.0"

"""From an order to a plan. An order is a benchmark as a person writes it, on a page, in a command or in Python.

This package does not import the runner or the store: earlier results are passed in as ``Evidence``.
"""

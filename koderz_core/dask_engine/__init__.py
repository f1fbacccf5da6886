"""The Dask engine: experiments run in workers of a Dask cluster, and one process, the owner, decides and records.

Dask starts the workers and keeps tasks running on them, which ask for experiments. A worker
runs ``perform`` of the runner unchanged. Its events and its questions (may I call, may I take the next step, what is
remembered) go to the owner over one connection per worker (``link.py``, ``messages.py``). The owner answers them with
the objects that it also uses for experiments of its own threads, so journal, budgets, limits, retries and prices have
one place. Nothing imports this package unless a user asks for this engine.
"""

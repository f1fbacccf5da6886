"""The code that runs inside the sandbox: the judge's process, the candidate's process, and the wire between them.

It uses only the standard library and nothing of koderz, because a bare interpreter without site packages loads it. It
avoids expensive imports, because every worker loads it at its start: records are named tuples, not dataclasses.
"""

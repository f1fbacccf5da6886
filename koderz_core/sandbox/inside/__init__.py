"""What runs inside the sandbox: the judge's process, the candidate's process, and the wire between them.

Standard library only, and nothing of koderz: these modules are loaded by a bare interpreter that knows no site
packages. They start up once per program, so they avoid imports that cost more than they do (no dataclasses: records
are named tuples).
"""

"""What was planned, as the headers of the journals have it."""

from __future__ import annotations

import msgspec
from duckdb import DuckDBPyConnection

from koderz_core.errors import UnknownNameError
from koderz_core.records import Plan
from koderz_core.store.finding import benchmark_ids


def planned(con: DuckDBPyConnection, benchmark: str) -> Plan:
    """The plan of a benchmark (by id), as it was last grown. Raises UnknownNameError."""
    found = con.execute("select plan from benchmarks where id = ?", [benchmark]).fetchone()
    if found is None:
        raise UnknownNameError("benchmark", benchmark, benchmark_ids(con))
    return msgspec.json.decode(str(found[0]), type=Plan)

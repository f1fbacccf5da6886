"""The manifest of a bundle, and the schemas that it and the figures hold to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from koderz_core.bundles.contents import (
    ENVIRONMENT,
    EXPERIMENTS,
    JOURNAL,
    KPI,
    KPI_VERSION,
    LICENCES,
    PRICES,
    README,
    BundleFile,
    Document,
    agents,
    digest,
    engines,
    models,
    moment,
)
from koderz_core.bundles.redaction import REDACTIONS, Level
from koderz_core.errors import DataError
from koderz_core.events.tally import Tally

MANIFEST_VERSION = "1.0.0"
SchemaName = Literal["kpi", "manifest"]


def manifest(told: Tally, level: Level, files: Sequence[BundleFile], version: str) -> Document:
    """``version``: of the koderz that makes it."""
    return {
        "manifest_schema_version": MANIFEST_VERSION,
        "kpi_schema_version": KPI_VERSION,
        "run_id": told.opened[-1].benchmark,
        "ts": moment(told.opened_at),
        "version": told.opened[-1].koderz_version,
        "privacy_level": level,
        "redactions": list(REDACTIONS[level]),
        "paths": {
            "kpi": KPI,
            "journal": JOURNAL,
            "environment": ENVIRONMENT,
            "prices": PRICES,
            "licences": LICENCES,
            "readme_case": README,
            "experiments_dir": EXPERIMENTS,
        },
        "files": [
            {"path": file.path, "size_bytes": len(file.content)}
            | {"full_size_bytes": file.full_size, "truncated": file.truncated}
            for file in files
        ],
        "hashes": {file.path: sha256(file.content) for file in files},
        "code_hashes": {file.path: sha256(file.content) for file in files if file.is_code},
        "bundle_truncated": any(file.truncated for file in files),
        "generated_by": {"version": version, "commit": None, "config_digest": digest(told.plan)},
        "engines": engines(told.plan),
        "models": models(told.plan),
        "agents": agents(told.plan),
    }


def faults(document: object, schema: SchemaName) -> list[str]:
    """In what a document is not as its schema has it: where, and what is wrong there. None are no fault."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 (slow to import, and only bundles need it)

    found = Draft202012Validator(_schema(schema)).iter_errors(document)
    return [f"{error.json_path}: {error.message[:200]}" for error in found]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@cache
def _schema(name: SchemaName) -> Any:  # Any: JSON
    path = Path(__file__).parent / "schemas" / f"{name}.schema.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path} is missing, so no bundle can be made or checked. Install koderz again.") from error

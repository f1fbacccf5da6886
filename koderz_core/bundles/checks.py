"""Verification of a bundle: its files against the manifest, documents against schemas, figures against the journal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from koderz_core.bundles.archive import unpacked
from koderz_core.bundles.documents import JOURNAL, KPI, LABELS, MANIFEST, SchemaName, faults, kpi, sha256
from koderz_core.errors import DataError, JournalError
from koderz_core.events import decode
from koderz_core.events.tally import tally
from koderz_core.verification.journals import Difference, Verified, verify_annotations, verify_journal

_Json = dict[str, Any]  # Any: JSON in the form of a schema
MOST_SHOWN = 50  # differences of one document


@dataclass(frozen=True, slots=True)
class CheckedBundle:
    """The result of a check, and the parts of the bundle that can be used if it holds.

    ``truncated``: the bundle contains only the first part of its journal.
    """

    verified: Verified
    run_id: str
    level: str
    journal: bytes
    labels: bytes
    truncated: bool = False


def checked_bundle(path: Path) -> CheckedBundle:
    """Check a whole bundle, without unpacking to disk. Raises DataError for a file that is not one or is malicious."""
    files = unpacked(path)
    if MANIFEST not in files:
        raise DataError(f"{path.name} is not a bundle of koderz: it has no {MANIFEST}.")
    manifest, wrong = _document(files, "manifest", MANIFEST)
    if wrong:
        return CheckedBundle(Verified(path.name, {"files": len(files)}, tuple(wrong)), "", "", b"", b"")
    figures, not_figures = _document(files, "kpi", KPI)
    verified = Verified(
        path.name,
        {"files": len(files)},
        (*_wrong_files(files, manifest), *not_figures),
        tuple(f"{file['path']} was truncated in the bundle" for file in manifest["files"] if file["truncated"]),
    )
    truncated = any(file["truncated"] for file in manifest["files"] if file["path"] == JOURNAL)
    if not not_figures and not truncated:
        verified = verified.and_also(_verified_journals(files, manifest["run_id"], figures))
    level, journal, labels = manifest["privacy_level"], files.get(JOURNAL, b""), files.get(LABELS, b"")
    return CheckedBundle(verified, manifest["run_id"], level, journal, labels, truncated)


def _document(files: Mapping[str, bytes], schema: SchemaName, name: str) -> tuple[_Json, list[Difference]]:
    try:
        read = json.loads(files.get(name, b""))
    except (ValueError, RecursionError) as error:
        return {}, [Difference("the text", name, f"not JSON ({error})", "JSON")]
    found = faults(read, schema)[:MOST_SHOWN]
    wrong = [Difference("the schema", name, fault, "no violation of the schema") for fault in found]
    return (read if isinstance(read, dict) else {}), wrong


def _wrong_files(files: Mapping[str, bytes], manifest: _Json) -> Iterator[Difference]:
    hashes, listed = manifest["hashes"], {file["path"]: file for file in manifest["files"]}
    for name in sorted({*files, *hashes, *listed} - {MANIFEST}):
        if name not in files:
            yield Difference("the content", name, "missing", "present")
        elif name not in hashes or name not in listed:
            yield Difference("the manifest entry", name, "missing", "present")
        elif sha256(files[name]) != hashes[name]:
            yield Difference("the SHA-256", name, hashes[name][:12], sha256(files[name])[:12])
        elif len(files[name]) != listed[name]["size_bytes"]:
            yield Difference("the size", name, f"{listed[name]['size_bytes']} bytes", f"{len(files[name])} bytes")
    for name, code in manifest["code_hashes"].items():
        if hashes.get(name) != code:
            yield Difference("the code hash (SHA-256)", name, code[:12], str(hashes.get(name))[:12])
    yield from _wrong_flags(manifest)


def _wrong_flags(manifest: _Json) -> Iterator[Difference]:
    for file in manifest["files"]:
        if file["truncated"] != (file["size_bytes"] < file["full_size_bytes"]):
            yield Difference("the truncation flag", file["path"], str(file["truncated"]), str(not file["truncated"]))
    truncated = any(file["truncated"] for file in manifest["files"])
    if manifest["bundle_truncated"] != truncated:
        yield Difference("the truncation flag", MANIFEST, str(not truncated), str(truncated))


def _verified_journals(files: Mapping[str, bytes], run_id: str, figures: _Json) -> Verified:
    try:
        entries = [entry for line in files.get(JOURNAL, b"").splitlines() if (entry := decode(line))]
    except JournalError as error:
        return Verified(run_id, {}, (Difference("the text", JOURNAL, str(error), "a journal"),))
    told = tally(entries)
    verified = verify_journal(run_id, entries, told).and_also(verify_annotations(files.get(LABELS, b""), told))
    if not told.opened:
        return verified
    try:
        expected = json.loads(json.dumps(kpi(told)))
    except JournalError as error:
        wrong = [Difference("the figures", JOURNAL, str(error), "figures that can be computed")]
        return verified.and_also(Verified(run_id, {}, tuple(wrong)))
    wrong = list(_unlike(expected, figures, "$"))[:MOST_SHOWN]
    return verified.and_also(Verified(run_id, {"figures": _leaves(expected)}, tuple(wrong)))


def _unlike(expected: object, actual: object, where: str) -> Iterator[Difference]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in expected | actual:
            yield from _unlike(expected.get(name), actual.get(name), f"{where}.{name}")
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for place, pair in enumerate(zip(expected, actual, strict=True)):
            yield from _unlike(*pair, f"{where}[{place}]")
    elif expected != actual:
        yield Difference(where, KPI, str(actual)[:200], str(expected)[:200])


def _leaves(value: object) -> int:
    if isinstance(value, dict | list):
        return sum(map(_leaves, value.values() if isinstance(value, dict) else value))
    return 1

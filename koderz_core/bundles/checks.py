"""Checking a bundle: its files against the manifest, both against their schemas, the figures against the journal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from koderz_core.bundles.archive import unpacked
from koderz_core.bundles.contents import JOURNAL, KPI, MANIFEST, kpi
from koderz_core.bundles.manifest import SchemaName, faults, sha256
from koderz_core.errors import DataError, JournalError
from koderz_core.events import Entry, decode
from koderz_core.events.tally import tally
from koderz_core.verification.journals import Difference, Verified, verify_journal

_Json = dict[str, Any]  # Any: JSON, of which the schema says more
MOST_SAID = 50  # differences of one document


@dataclass(frozen=True, slots=True)
class CheckedBundle:
    """What a check found, and what of the bundle may be used if it holds."""

    verified: Verified
    run_id: str
    level: str
    journal: bytes


def checked_bundle(path: Path) -> CheckedBundle:
    """Look at all of it. Raises DataError for what is no bundle, or is made to do harm; nothing is unpacked to disk."""
    files = unpacked(path)
    if MANIFEST not in files:
        raise DataError(f"{path.name} is no bundle of koderz: it has no {MANIFEST}.")
    manifest, wrong = _document(files, "manifest", MANIFEST)
    if wrong:
        return CheckedBundle(Verified(path.name, {"files": len(files)}, tuple(wrong)), "", "", b"")
    figures, not_figures = _document(files, "kpi", KPI)
    found = Verified(
        path.name,
        {"files": len(files)},
        (*_wrong_files(files, manifest), *not_figures),
        tuple(f"{one['path']} was cut when the bundle was made" for one in manifest["files"] if one["truncated"]),
    )
    if not _cut(manifest, JOURNAL) and not not_figures:
        found = found.and_also(_verified_journal(files.get(JOURNAL, b""), manifest["run_id"], figures))
    level, journal = manifest["privacy_level"], files.get(JOURNAL, b"")
    return CheckedBundle(found, manifest["run_id"], level, journal)


def _document(files: Mapping[str, bytes], schema: SchemaName, name: str) -> tuple[_Json, list[Difference]]:
    try:
        read = json.loads(files.get(name, b""))
    except (ValueError, RecursionError) as error:
        return {}, [Difference("the text", name, f"not JSON ({error})", "JSON")]
    wrong = [Difference("the schema", name, fault, "something else") for fault in faults(read, schema)[:MOST_SAID]]
    return (read if isinstance(read, dict) else {}), wrong


def _wrong_files(files: Mapping[str, bytes], manifest: _Json) -> Iterator[Difference]:
    hashes, listed = manifest["hashes"], {one["path"]: one for one in manifest["files"]}
    for name in sorted({*files, *hashes, *listed} - {MANIFEST}):
        if name not in files:
            yield Difference("a file", name, "missing", "that it is there")
        elif name not in hashes or name not in listed:
            yield Difference("a file", name, "in no list of the manifest", "that it is not there")
        elif sha256(files[name]) != hashes[name]:
            yield Difference("the SHA-256", name, hashes[name][:12], sha256(files[name])[:12])
        elif len(files[name]) != listed[name]["size_bytes"]:
            yield Difference("the size", name, str(listed[name]["size_bytes"]), str(len(files[name])))
    for name, code in manifest["code_hashes"].items():
        if hashes.get(name) != code:
            yield Difference("the hash of its code", name, code[:12], str(hashes.get(name))[:12])
    yield from _wrong_flags(manifest)


def _wrong_flags(manifest: _Json) -> Iterator[Difference]:
    for one in manifest["files"]:
        if one["truncated"] != (one["size_bytes"] < one["full_size_bytes"]):
            yield Difference("the mark of being cut", one["path"], str(one["truncated"]), str(not one["truncated"]))
    cut = any(one["truncated"] for one in manifest["files"])
    if manifest["bundle_truncated"] != cut:
        yield Difference("the mark of being cut", MANIFEST, str(not cut), str(cut))


def _cut(manifest: _Json, name: str) -> bool:
    return any(one["truncated"] for one in manifest["files"] if one["path"] == name)


def _verified_journal(journal: bytes, run_id: str, figures: _Json) -> Verified:
    try:
        entries = list(_entries(journal))
    except JournalError as error:
        return Verified(run_id, {}, (Difference("the text", JOURNAL, str(error), "a journal"),))
    told = tally(entries)
    found = verify_journal(run_id, entries, told)
    if not told.opened:
        return found
    expected = json.loads(json.dumps(kpi(told)))
    wrong = list(_unlike(expected, figures, "$"))[:MOST_SAID]
    return found.and_also(Verified(run_id, {"figures": _leaves(expected)}, tuple(wrong)))


def _entries(journal: bytes) -> Iterator[Entry]:
    for line in journal.splitlines():
        if entry := decode(line):
            yield entry


def _unlike(expected: object, stands: object, where: str) -> Iterator[Difference]:
    if isinstance(expected, dict) and isinstance(stands, dict):
        for name in expected | stands:
            yield from _unlike(expected.get(name), stands.get(name), f"{where}.{name}")
    elif isinstance(expected, list) and isinstance(stands, list) and len(expected) == len(stands):
        for place, (one, other) in enumerate(zip(expected, stands, strict=True)):
            yield from _unlike(one, other, f"{where}[{place}]")
    elif expected != stands:
        yield Difference(where, KPI, str(stands)[:200], str(expected)[:200])


def _leaves(value: object) -> int:
    if isinstance(value, dict | list):
        return sum(map(_leaves, value.values() if isinstance(value, dict) else value))
    return 1

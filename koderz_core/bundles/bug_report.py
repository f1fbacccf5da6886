"""Bug reports: a zip about one error that the user can check and send. koderz does not send it."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from traceback import extract_tb

from koderz_core.bundles.archive import BundleFile, packed
from koderz_core.bundles.documents import document
from koderz_core.bundles.privacy import Identities
from koderz_core.errors import KoderzError
from koderz_core.notices.mask import masked_keys, masked_output

FILE_NAME = "koderz-bug-report.zip"
_FRAMES = 30
_PACKAGES = ("streamlit", "duckdb", "pandas", "plotly", "click", "msgspec", "pydantic", "httpx", "mcp")
_README = """A report on one error of koderz: its kind, its place in the program, and versions. Keys, paths, hosts and
user names are masked. It contains no values of variables, prompts, replies or results. Check report.json before you
share it. koderz has not sent it.
"""


def bug_report(error: BaseException, identities: Identities, koderz_version: str) -> bytes:
    """A report as a zip. The same error always gives the same bytes on the same machine."""
    report = {
        "koderz": koderz_version,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": dict(_packages()),
        "errors": [_described(cause, identities) for cause in _chain(error)],
    }
    files = {"README.txt": _README.encode(), "report.json": document(report)}
    return packed((BundleFile(name, content, len(content)) for name, content in files.items()), "koderz bug report")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _described(error: BaseException, identities: Identities) -> dict[str, object]:
    """An error with its place. Only koderz' own errors keep their message, because others may quote anything."""
    message = masked_output(masked_keys(str(error), identities.secrets)) if isinstance(error, KoderzError) else None
    frames = extract_tb(error.__traceback__)[-_FRAMES:]
    places = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
    return {"kind": type(error).__name__, "message": message and identities.masked(message), "places": places}


def _packages() -> Iterator[tuple[str, str | None]]:
    for name in _PACKAGES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, None

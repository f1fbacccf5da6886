"""What a report of an error needs, as a zip that a person may look into and send: koderz sends it nowhere."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from traceback import extract_tb

from koderz_core.bundles.archive import packed
from koderz_core.bundles.contents import BundleFile, document
from koderz_core.bundles.redaction import Identities
from koderz_core.errors import KoderzError
from koderz_core.notices.mask import masked_keys, masked_output

FILE_NAME = "koderz-bug-report.zip"
_FRAMES = 30
_PACKAGES = ("streamlit", "duckdb", "pandas", "plotly", "click", "msgspec", "pydantic", "httpx", "mcp")
_README = """What koderz knows of one error: what kind, where in the program, which versions. Keys, paths, hosts and
user names are masked; no value of a variable, no prompt, no reply and no result is in it. Look into report.json before
you give it to anybody: koderz has sent it nowhere.
"""


def bug_report(error: BaseException, whose: Identities, koderz_version: str) -> bytes:
    """Of the same error always the same bytes on the same machine."""
    report = {
        "koderz": koderz_version,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": dict(_packages()),
        "errors": [_told(one, whose) for one in _chain(error)],
    }
    files = {"README.txt": _README.encode(), "report.json": document(report)}
    return packed((BundleFile(name, content, len(content)) for name, content in files.items()), "koderz bug report")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _told(error: BaseException, whose: Identities) -> dict[str, object]:
    """The message only of our own errors: what others say may quote anything."""
    said = masked_output(masked_keys(str(error), whose.secrets)) if isinstance(error, KoderzError) else None
    frames = extract_tb(error.__traceback__)[-_FRAMES:]
    places = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
    return {"kind": type(error).__name__, "message": said and whose.masked(said), "places": places}


def _packages() -> Iterator[tuple[str, str | None]]:
    for name in _PACKAGES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, None

"""What the first page needs is imported while the server starts, and no page runs before that has ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pages.ui.warm_up import imported_by, wait_for_imports

ROOT = Path(__file__).parents[2]
WARM = """
import sys
from pathlib import Path
from pages.ui.warm_up import begin_warming, wait_for_imports
script = Path("pages/overview.py")
assert "pandas" not in sys.modules
begin_warming(script)
wait_for_imports()
print(*sys.modules)
"""


def test_whoever_waits_finds_all_that_overview_imports() -> None:
    done = subprocess.run([sys.executable, "-c", WARM], cwd=ROOT, capture_output=True, text=True, check=True)
    imported = done.stdout.split()
    needed = set(imported_by(ROOT / "pages" / "overview.py"))
    assert needed <= set(imported)
    assert {"pages.ui.tables", "pandas"} <= set(imported)


def test_where_nothing_was_begun_nobody_waits() -> None:
    wait_for_imports()

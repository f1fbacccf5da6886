"""A small repository with a package, tests, manifests and two commits."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

FILES = {
    "pyproject.toml": """
        [project]
        name = "shop"
        version = "1.2"
        description = "Sells things"
        requires-python = ">=3.11"
        dependencies = ["httpx>=0.28"]
        scripts = { shop = "shop.cli:main" }
        [tool.ruff]
        line-length = 100
        [tool.pytest.ini_options]
        """,
    "README.md": "# Shop\n",
    ".gitignore": "*.log\nbuild/\n",
    "src/shop/__init__.py": '"""Sells things. And more."""\nfrom .cart import Cart\n',
    "src/shop/cart.py": '''
        """The cart of a customer."""
        import json
        from decimal import Decimal
        from shop import prices

        class Cart:
            def total(self) -> Decimal:
                """The sum."""
                return prices.add([])
        ''',
    "src/shop/prices.py": "import httpx\ndef add(numbers):\n    return sum(numbers)\n",
    "src/shop/cli.py": "import click\nfrom .cart import Cart\ndef main() -> None: ...\n",
    "src/shop/__main__.py": "from shop.cli import main\nmain()\n",
    "tests/helper.py": "def made(): ...\n",
    "tests/test_cart.py": "import pytest\nimport helper\nfrom shop.cart import Cart\ndef test_total(): ...\n",
}


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=n", "-c", "user.email=n@example.org", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"))

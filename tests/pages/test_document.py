"""The HTML document of the pages: the styles are in it, and it names only scripts that Streamlit has."""

from __future__ import annotations

import re

import pytest
from menu import PAGES

from pages.ui import document


@pytest.mark.parametrize("name", PAGES)
def test_a_document_names_scripts_that_exist_and_each_only_once(name: str) -> None:
    scripts = re.findall(r'rel="modulepreload" crossorigin href="\./([^"]+)"', document.document(name))
    assert all((document.STATIC / script).is_file() for script in scripts)
    assert len(scripts) == len(set(scripts))
    for part in document.EARLY.get(name, document.EVERYWHERE):
        assert any(script.startswith(f"static/js/{part}.") for script in scripts), f"Streamlit has renamed {part}"


def test_the_styles_are_in_the_document_before_any_script_of_a_page_runs() -> None:
    styles = document.STYLES.read_text(encoding="utf-8")
    assert styles in document.document("overview").partition("</head>")[0]
    assert "</style" not in styles

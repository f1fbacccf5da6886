"""The words that a page shows."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def said(app: AppTest) -> str:
    """Every word on the page that stands in an element of text."""
    kinds = ("title", "subheader", "caption", "text", "info", "warning", "error", "markdown", "code")
    words = [str(element.value) for kind in kinds for element in getattr(app, kind)]
    metrics = [f"{metric.label} {metric.value}" for metric in app.metric]
    return "\n".join(words + metrics)

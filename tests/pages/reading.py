"""The words that a page shows."""

from __future__ import annotations

import json
from typing import Any

from streamlit.testing.v1 import AppTest


def said(app: AppTest) -> str:
    """Every word on the page that stands in an element of text."""
    kinds = ("title", "header", "caption", "text", "info", "warning", "error", "markdown", "code")
    words = [str(element.value) for kind in kinds for element in getattr(app, kind)]
    metrics = [f"{metric.label} {metric.value}" for metric in app.metric]
    boards = [
        line
        for data in components(app)
        for line in (
            data.get("bar", {}).get("text", ""),
            *(" ".join(figure) for figure in data.get("figures", ())),
            *data.get("rates", ()),
        )
    ]
    return "\n".join(words + metrics + boards)


def components(app: AppTest) -> list[Any]:  # Any: JSON
    """The data of the page's own components."""
    return [json.loads(component.proto.json) for component in app.get("bidi_component")]

"""One sample of a file of Every Eval Ever."""

from __future__ import annotations

from typing import Any


def line(**fields: Any) -> dict[str, Any]:
    """A sample as a converter for another tool writes it. A field with dots is a part's."""
    row: dict[str, Any] = {
        "schema_version": "0.3.0",
        "evaluation_id": "inspect/org_model/1",
        "model_id": "org/model",
        "evaluation_name": "some benchmark",
        "sample_id": "1",
        "interaction_type": "single_turn",
        "input": {"raw": "What is 2 + 2?", "reference": ["4"]},
        "output": {"raw": ["4"]},
        "answer_attribution": [],
        "evaluation": {"score": 1.0, "is_correct": True},
    }
    for name, value in fields.items():
        part, _, key = name.rpartition("__")
        (row.setdefault(part, {}) if part else row)[key] = value
    return row

"""Which models may be asked: those on a list, if there is one; and none that is named by a key."""

from __future__ import annotations

from collections.abc import Iterable

from koderz_core.config import Settings
from koderz_core.errors import PlanError
from koderz_core.models.catalogue import resolve


def allowed(settings: Settings) -> tuple[str, ...]:
    """The ids on the list; none: every model may be asked. Raises UnknownNameError."""
    return tuple(dict.fromkeys(resolve(name, settings).id for name in settings.allowed_models.split()))


def check_allowed(models: Iterable[str], settings: Settings) -> None:
    """Raise PlanError if one of these models (ids) is not on the list, where there is one, or its name holds a key."""
    listed, redaction = allowed(settings), settings.redaction()
    for model in models:
        if (shown := redaction.text(model)) != model:
            raise PlanError(f"{shown} may not be asked: its name holds a key, and names are stored. Use another name.")
        if listed and model not in listed:
            raise PlanError(
                f"{model} may not be asked: allowed_models names {', '.join(listed)} only. Choose one of these, or "
                "change that setting (KODERZ_ALLOWED_MODELS)."
            )

"""The reasoning effort of each role on the page New run, for models that accept one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from koderz_core import the_workspace
from koderz_core.records import Scalar
from koderz_core.records.completions import EFFORTS

DEFAULT = "Default of the model"
TOKENS = "tokens"
ABOUT = (
    "How much the model thinks before it answers. With a higher effort, the model uses more tokens but does not always "
    "solve more problems."
)
ABOUT_TOKENS = "You can also type the maximum number of reasoning tokens, such as 4096."


def choose_efforts(
    chosen: Mapping[str, str | tuple[str, ...]], initial: Mapping[str, Scalar], key: str
) -> dict[str, Scalar]:
    """The overrides of the efforts of these roles, as the person has entered them now.

    ``chosen``: the models of each role. A role whose models accept no effort has no field, unless it has an effort.
    """
    coder = _names(chosen.get("coder", ()))
    efforts = dict[str, Scalar]()
    for role, models in chosen.items():
        names = [name for name in _names(models) if the_workspace().models.efforts(name)] or (
            [] if _names(models) else coder[:1]
        )
        accepted = {effort for name in names for effort in the_workspace().models.efforts(name)}
        now = str(initial.get(f"{role}.effort", ""))
        if accepted or now:
            effort = _effort(role, accepted, now, key)
            efforts |= {f"{role}.effort": effort} if effort else {}
    return efforts


def _effort(role: str, accepted: set[str], now: str, key: str) -> str:
    options = [DEFAULT, *dict.fromkeys([*(word for word in EFFORTS if word in accepted), *([now] if now else [])])]
    about = f"{ABOUT} {ABOUT_TOKENS}" if TOKENS in accepted else ABOUT
    place, label = options.index(now) if now else 0, f"Effort of the {role}"
    effort = st.selectbox(label, options, place, key=f"effort {role} {key}", help=about, accept_new_options=True)
    return "" if effort == DEFAULT else str(effort)


def _names(models: str | Sequence[str]) -> list[str]:
    return [models] if isinstance(models, str) else list(models)

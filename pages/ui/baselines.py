"""The offer to measure baselines too: what a supervised benchmark is to be held against."""

from __future__ import annotations

import streamlit as st

from koderz_core import Clone, Order, Workspace
from koderz_core.workspace.baselines import Offer

ABOUT = (
    "Also ask the stronger models and the coder directly, on the same problems. Without that nothing measured says "
    "what supervision adds, or what it saves."
)


def choose_baselines(workspace: Workspace, order: Order, dataset: str, clone: Clone | None) -> tuple[Offer, bool]:
    """The plan of an order with the baselines it lacks, unless the person wants none. Raises as ``Baselines.offer``.

    A ``clone`` has had those that it was to have.
    """
    lacking = workspace.baselines.lacking(order)
    of = f" of {clone.plan.id}" if clone else ""
    wanted = st.checkbox(
        "Measure baselines too", value=clone is None, key=f"baselines{of}", disabled=not lacking, help=ABOUT
    )
    offer = workspace.baselines.offer(order, dataset) if wanted else Offer(workspace.plan(order, dataset))
    for line in offer.told:
        st.text(line)
    return offer, wanted

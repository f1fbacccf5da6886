"""The memory and the GPUs of this machine now and in the last minutes, and the loaded models, on the page Models."""

from __future__ import annotations

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.report.memory import LEVELS, gigabytes, memory_alt, memory_chart, memory_rows
from pages.ui.edge import redrawn
from pages.ui.tables import show_picture, tall

BEAT_SECONDS = 5.0
COLUMNS = {"model": st.column_config.TextColumn(width=240, pinned=True)}


def show_machine(workspace: Workspace) -> None:
    """Draw the section now and then every few seconds."""
    redrawn("machine", lambda: _draw(workspace), BEAT_SECONDS)


def _draw(workspace: Workspace) -> None:
    samples = workspace.models.memory_samples()
    if not samples:
        st.caption(
            "This system does not report its free memory, so koderz cannot pause experiments when memory is low."
        )
        return
    now, reserve = samples[-1], workspace.models.reserve_bytes(samples[-1])
    with st.container(horizontal=True):
        st.metric(f"Free memory ({now.memory.place})", gigabytes(now.memory.free_bytes))
        st.metric("Total memory", gigabytes(now.memory.total_bytes))
        st.metric("Swap in use", gigabytes(now.memory.swap_bytes))
        gpu = f"{gigabytes(now.gpu_used_bytes)} of {gigabytes(now.gpu_total_bytes)}" if now.gpu_total_bytes else "none"
        st.metric("GPU memory", gpu, help="NVIDIA GPUs, if nvidia-ml-py is installed (`koderz[gpu]`).")
    (st.caption if now.level == "enough" else st.warning)(LEVELS[now.level])
    show_picture(memory_chart(samples, reserve), "memory", memory_alt(samples), "")
    if rows := memory_rows(workspace.models.in_memory()):
        alt = "Models in memory"
        st.dataframe(pd.DataFrame(rows), hide_index=True, column_config=COLUMNS, height=tall(len(rows)), alt=alt)
    else:
        st.caption("No local model is in memory.")
    never = "koderz does not pause experiments when memory is low, because the setting memory_reserve_gb is 0. "
    kept = f"koderz keeps {gigabytes(reserve)} of memory free. " if reserve else never
    st.caption(f"{kept}The chart shows only measurements made since this dashboard started.")

"""The memory of this machine in words and as a chart of the last minutes."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.models.in_memory import InMemory
from koderz_core.report.charts import calm, theme_color
from koderz_core.report.formats import plain
from koderz_core.runner.memory_watch import KEPT_SECONDS, Sample

HEIGHT = 240
GB = 1e9
USED, MODELS, GPU, LIMIT = theme_color(0), theme_color(2), theme_color(4), theme_color(1)
LEVELS = {
    "enough": "There is enough free memory.",
    "low": "Memory is low: no experiment starts and no model is loaded until more memory is free.",
    "critical": "Memory is critical: running experiments are paused until more memory is free.",
}


def gigabytes(size: float | None) -> str:
    """``1.23 GB``; ``unknown``."""
    return "unknown" if size is None else f"{size / GB:.2f} GB"


def memory_chart(samples: Sequence[Sample], reserve_bytes: int) -> go.Figure:
    """The used memory, the models of koderz and the GPUs, in GB, by minutes before the newest sample."""
    newest, total = samples[-1], samples[-1].memory.total_bytes
    minutes = [(sample.at - newest.at) / 60 for sample in samples]
    lines = [
        ("used", [sample.memory.total_bytes - sample.memory.free_bytes for sample in samples], USED, "solid"),
        ("models loaded by koderz (estimate)", [sample.models_bytes for sample in samples], MODELS, "solid"),
    ]
    if newest.gpu_total_bytes:
        lines.append(("used GPU memory", [sample.gpu_used_bytes or 0 for sample in samples], GPU, "solid"))
    if reserve_bytes:
        lines.append(("limit above which no experiment starts", [total - reserve_bytes] * len(samples), LIMIT, "dash"))
    figure = go.Figure()
    for name, sizes, colour, dash in lines:
        values = [size / GB for size in sizes]
        figure.add_scatter(
            x=minutes, y=values, name=name, mode="lines", line={"color": colour, "width": 2, "dash": dash}
        )
    ticks = range(0, int(KEPT_SECONDS / 60) + 1, 2)
    texts = ["now", *(f"{minute}" for minute in ticks[1:])]
    places = [-minute for minute in ticks]
    figure.update_xaxes(title="minutes ago", range=[-KEPT_SECONDS / 60, 0.05], tickvals=places, ticktext=texts)
    figure.update_yaxes(title="GB", rangemode="tozero", nticks=5)
    calm(figure, HEIGHT)
    return figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})


def memory_alt(samples: Sequence[Sample]) -> str:
    """The chart in words."""
    used = [sample.memory.total_bytes - sample.memory.free_bytes for sample in samples]
    return f"Memory in the last minutes: {gigabytes(used[-1])} used now, {gigabytes(max(used))} used at the peak."


def memory_rows(models: Sequence[InMemory]) -> list[dict[str, str]]:
    """One row per loaded model. All texts may come from other programs."""
    return [
        {
            "model": plain(model.model),
            "loaded in": model.program,
            "loaded by": model.loaded_by,
            "memory": gigabytes(model.memory_bytes) + (" (measured)" if model.measured else ""),
            "GPU memory": "" if model.gpu_bytes is None else gigabytes(model.gpu_bytes),
            "loads": "" if model.loads is None else str(model.loads),
        }
        for model in models
    ]

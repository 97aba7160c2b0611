"""A streaming run's map: only the kernel whose turn it is has its outline. A pure function."""

from __future__ import annotations

from dataclasses import replace

from app.views.map import MapView
from app.views.streaming import StreamingView


def of_turn(view: MapView, streaming: StreamingView | None) -> MapView:
    """Return the map with the outlines of the kernels whose turn it is.

    Regions that are equal share an outline and its name; here each is told apart again.
    """
    if streaming is None:
        return view
    kept = []
    for outline in view.outlines:
        names = [name for name in outline.name.split(", ") if name in streaming.turn]
        if names:
            shown = ", ".join(names)
            kept.append(replace(outline, name=f"next: {shown}" if streaming.is_waiting else shown))
    return replace(view, outlines=tuple(kept))

"""Icons as CSS masks over small SVG files in assets; nothing is drawn by a font."""

from __future__ import annotations

from typing import Any

from dash import html


def icon(name: str) -> Any:
    """Return the icon called `name`; the control around it carries the words."""
    return html.Span(className=f"icon-{name}", **{"aria-hidden": "true"})

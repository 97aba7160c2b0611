"""A picture as SVG: the map as an embedded PNG, outlines, text and legend as vectors."""

from __future__ import annotations

import base64
from html import escape

from app.export.picture import Picture
from app.export.raster import HATCHES, INKS, NO_KERNEL, map_png, pe_pixels
from app.export.ring import ring_of
from app.palette import hex_table, mark_colour

_MARGIN, _TOP = 24, 76


def render_svg(picture: Picture) -> str:
    """Return the picture as SVG text."""
    side = pe_pixels(picture)
    view = picture.viewport
    width, height = view.cols * side, view.rows * side
    wide = max(width, 640) + 2 * _MARGIN
    paper, ink, faint = (f"#{r:02x}{g:02x}{b:02x}" for r, g, b in INKS[picture.theme])
    png = base64.b64encode(map_png(picture)).decode("ascii")
    legend = _legend(picture, _TOP + height + 14, wide - 2 * _MARGIN, ink, faint)
    tall = _TOP + height + _legend_height(picture, wide) + (70 if picture.remark else 50)
    remark = f'<text x="{_MARGIN}" y="{tall - 32}" fill="{ink}">{escape(picture.remark)}</text>'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall}" '
        f'viewBox="0 0 {wide} {tall}" font-family="sans-serif" font-size="12">',
        f"<title>{escape(picture.title)}</title>",
        f'<rect width="{wide}" height="{tall}" fill="{paper}"/>',
        f'<text x="{_MARGIN}" y="34" font-size="17" fill="{ink}">{escape(picture.title)}</text>',
        f'<text x="{_MARGIN}" y="56" fill="{faint}">{escape(picture.subtitle)}</text>',
        *_hatch(picture, width, height),
        f'<image x="{_MARGIN}" y="{_TOP}" width="{width}" height="{height}" '
        f'preserveAspectRatio="none" style="image-rendering:pixelated" '
        f'href="data:image/png;base64,{png}"/>',
        *_outlines(picture, side, ink, paper),
        *_ring(picture, side, paper),
        *legend,
        *([remark] if picture.remark else []),
        f'<text x="{_MARGIN}" y="{tall - 12}" fill="{faint}">standing: '
        f"{escape(picture.standing)}"
        f"{f'; hatched: {NO_KERNEL}' if picture.hatched().any() else ''}</text>",
        "</svg>\n",
    ]
    return "\n".join(parts)


def _hatch(picture: Picture, width: int, height: int) -> list[str]:
    """Return the ground that shows through where no kernel is."""
    if not picture.hatched().any() and not picture.bare:
        return []
    ground, lines = (f"#{r:02x}{g:02x}{b:02x}" for r, g, b in HATCHES[picture.theme])
    return [
        '<defs><pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse">'
        f'<rect width="7" height="7" fill="{ground}"/>'
        f'<path d="M0 7L7 0" stroke="{lines}"/></pattern></defs>',
        f'<rect x="{_MARGIN}" y="{_TOP}" width="{width}" height="{height}" fill="url(#hatch)"/>',
    ]


def _ring(picture: Picture, side: int, paper: str) -> list[str]:
    """Return a ring around the PE that stopped the run, and a bar on the side of its link."""
    ring = ring_of(picture, side, _MARGIN, _TOP)
    if ring is None:
        return []
    path = f'<circle cx="{ring.x:g}" cy="{ring.y:g}" r="{ring.radius:g}"/>'
    if ring.bar:
        path += '<line x1="{:g}" y1="{:g}" x2="{:g}" y2="{:g}"/>'.format(*ring.bar)
    alert = mark_colour("alert", picture.theme)
    looks = ((paper, 5), (alert, 3))
    return [
        '<g id="hit">',
        f"<title>{escape(picture.remark)}</title>",
        *[f'<g fill="none" stroke="{c}" stroke-width="{w}">{path}</g>' for c, w in looks],
        "</g>",
    ]


def _outlines(picture: Picture, side: int, ink: str, paper: str) -> list[str]:
    view, lines = picture.viewport, []
    for name, region in picture.outlines:
        x = _MARGIN + (max(region.col, view.col) - view.col) * side
        y = _TOP + (max(region.row, view.row) - view.row) * side
        width = _MARGIN + (min(region.end_col, view.rect.end_col) - view.col) * side - x
        height = _TOP + (min(region.end_row, view.rect.end_row) - view.row) * side - y
        lines.append(
            f'<g><title>{escape(name)}</title><rect x="{x}" y="{y}" width="{width}" '
            f'height="{height}" fill="none" stroke="{ink}" stroke-opacity="0.6"/>'
        )
        if 7 * len(name) + 6 < width and height > 18:
            lines.append(
                f'<text x="{x + 4}" y="{y + 13}" fill="{ink}" stroke="{paper}" '
                f'stroke-width="3" paint-order="stroke">{escape(name)}</text>'
            )
        lines.append("</g>")
    return lines


def _legend_height(picture: Picture, wide: int) -> int:
    if picture.metric.kind != "category":
        return 44
    return 20 * -(-len(picture.ticks) // max(1, wide // 140)) + 10


def _legend(picture: Picture, top: int, wide: int, ink: str, faint: str) -> list[str]:
    if picture.metric.kind == "category":
        columns = max(1, wide // 140)
        lines = []
        table = hex_table(picture.metric.palette, picture.theme)
        for code, tick in enumerate(picture.ticks):
            x, y = _MARGIN + code % columns * 140, top + code // columns * 20
            fill = "url(#hatch)" if code in picture.bare else table[code]
            lines.append(
                f'<rect x="{x}" y="{y}" width="12" height="12" fill="{fill}" stroke="{faint}"/>'
                f'<text x="{x + 18}" y="{y + 11}" fill="{ink}">{escape(tick.text)}</text>'
            )
        return lines
    colours = hex_table(picture.metric.palette, picture.theme)
    stops = "".join(
        f'<stop offset="{index / 32:.5g}" stop-color="{colours[min(255, index * 8)]}"/>'
        for index in range(33)
    )
    length = min(wide, 640)
    lines = [
        f'<defs><linearGradient id="scale">{stops}</linearGradient></defs>',
        f'<rect x="{_MARGIN}" y="{top}" width="{length}" height="13" fill="url(#scale)"/>',
    ]
    free = 0.0
    for tick in picture.ticks:
        at = _MARGIN + tick.position * length
        if at - 3.5 * len(tick.text) < free:
            continue
        free = at + 3.5 * len(tick.text) + 8
        anchor = "start" if at < _MARGIN + 20 else "middle"
        lines.append(
            f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{top + 13}" y2="{top + 18}" stroke="{ink}"/>'
            f'<text x="{at:.1f}" y="{top + 31}" text-anchor="{anchor}" fill="{ink}">'
            f"{escape(tick.text)}</text>"
        )
    return lines

"""A picture as PNG: palette image with title, legend, units and standing, by Pillow."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from app.export.picture import Picture
from app.export.ring import ring_of
from app.palette import lut, mark_colour
from app.runs.frames import encode
from app.views.map import code_levels

LEVELS = 240
"""colours of the map; the rest of the 256 are for text and lines"""
LONGEST = 1200
"""pixels of the map's longer side below which PEs are enlarged"""
INKS = {
    "light": ((255, 255, 255), (30, 34, 40), (110, 118, 128)),
    "dark": ((16, 20, 25), (232, 236, 240), (140, 148, 158)),
}
"""theme -> paper, ink, faint ink"""
PAPER, INK, FAINT, GROUND, HATCH, ALERT = 250, 251, 252, 253, 254, 255
HATCHES = {"light": ((244, 246, 249), (213, 220, 229)), "dark": ((20, 26, 33), (44, 55, 67))}
"""theme -> ground and lines where no kernel is"""
NO_KERNEL = "no kernel here"
_PITCH = 7
"""pixels from line to line"""
_MARGIN = 24


def pe_pixels(picture: Picture) -> int:
    """Return the pixels of a PE's side."""
    longest = max(picture.viewport.rows, picture.viewport.cols)
    return max(1, min(48, LONGEST // longest))


def map_levels(picture: Picture) -> np.ndarray:
    """Return colour indices of the map, uint8 (rows, cols)."""
    kind = picture.metric.kind
    codes = encode(picture.field, picture.scale, kind)
    return code_levels(codes, picture.scale, kind, LEVELS)


def palette_of(picture: Picture) -> np.ndarray:
    """Return the image's 256 colours, uint8 (256, 3)."""
    table = lut(picture.metric.palette, picture.theme)
    colours = np.zeros((256, 3), np.uint8)
    if picture.metric.kind == "category":
        colours[:LEVELS] = table[:LEVELS]
    else:
        colours[:LEVELS] = table[np.linspace(0, 255, LEVELS).round().astype(int)]
    alert = bytes.fromhex(mark_colour("alert", picture.theme)[1:])
    inks = (*INKS[picture.theme], *HATCHES[picture.theme], tuple(alert))
    for index, ink in zip((PAPER, INK, FAINT, GROUND, HATCH, ALERT), inks, strict=True):
        colours[index] = ink
    return colours


def map_png(picture: Picture) -> bytes:
    """Return the bare map as PNG, one pixel a PE, see-through where no kernel is."""
    levels = np.where(picture.hatched(), np.uint8(GROUND), map_levels(picture))
    image = Image.fromarray(levels)
    image.putpalette(palette_of(picture).tobytes())
    return _png(image, transparency=GROUND) if picture.hatched().any() else _png(image)


def _png(image: Image.Image, **options: int) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "PNG", optimize=False, compress_level=6, **options)
    return stream.getvalue()


def render_png(picture: Picture) -> bytes:
    """Return the picture as PNG."""
    side = pe_pixels(picture)
    pixels = _pixels(picture, side)
    height, width = pixels.shape
    title, small = _font(18), _font(13)
    wide = max(width, 560, *(_width(f, t) for f, t in (
        (title, picture.title), (small, picture.subtitle), (small, f"standing: {picture.standing}"),
        (small, picture.remark),
    )))  # fmt: skip
    legend = _legend_height(picture, wide)
    extra = 20 if picture.remark else 0
    canvas = np.full((height + legend + 108 + extra, wide + 2 * _MARGIN), PAPER, np.uint8)
    canvas[76 : 76 + height, _MARGIN : _MARGIN + width] = pixels
    image = Image.fromarray(canvas)
    image.putpalette(palette_of(picture).tobytes())
    draw = ImageDraw.Draw(image)
    draw.fontmode = "1"
    draw.text((_MARGIN, 16), picture.title, fill=INK, font=title)
    draw.text((_MARGIN, 44), picture.subtitle, fill=FAINT, font=small)
    _outlines(draw, picture, side, small)
    _ring(draw, picture, side)
    _legend(draw, picture, 76 + height + 12, wide, small)
    bottom = canvas.shape[0] - 26
    draw.text((_MARGIN, bottom - 20), picture.remark, fill=INK, font=small)
    draw.text((_MARGIN, bottom), f"standing: {picture.standing}", fill=FAINT, font=small)
    return _png(image)


def _pixels(picture: Picture, side: int) -> np.ndarray:
    """Return colour indices of the map, `side` pixels a PE, hatched where no kernel is."""
    levels = np.repeat(np.repeat(map_levels(picture), side, axis=0), side, axis=1)
    hatched = np.repeat(np.repeat(picture.hatched(), side, axis=0), side, axis=1)
    rows, cols = np.arange(levels.shape[0])[:, None], np.arange(levels.shape[1])
    lines = np.where((rows + cols) % _PITCH == 0, np.uint8(HATCH), np.uint8(GROUND))
    return np.where(hatched, lines, levels)


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _width(font: ImageFont.FreeTypeFont | ImageFont.ImageFont, text: str) -> int:
    return int(font.getlength(text)) + 1


def _outlines(
    draw: ImageDraw.ImageDraw,
    picture: Picture,
    side: int,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
) -> None:
    view = picture.viewport
    for name, region in picture.outlines:
        left = _MARGIN + (max(region.col, view.col) - view.col) * side
        top = 76 + (max(region.row, view.row) - view.row) * side
        right = _MARGIN + (min(region.end_col, view.rect.end_col) - view.col) * side - 1
        bottom = 76 + (min(region.end_row, view.rect.end_row) - view.row) * side - 1
        draw.rectangle((left, top, right, bottom), outline=FAINT)
        if _width(font, name) + 6 < right - left and bottom - top > 18:
            box = (left + 1, top + 1, left + _width(font, name) + 5, top + 17)
            draw.rectangle(box, fill=PAPER)
            draw.text((left + 3, top + 1), name, fill=INK, font=font)


def _ring(draw: ImageDraw.ImageDraw, picture: Picture, side: int) -> None:
    """Draw a ring around the PE that stopped the run, and a bar on the side of its link."""
    ring = ring_of(picture, side, _MARGIN, 76)
    if ring is None:
        return
    x, y, radius = ring.x, ring.y, ring.radius
    for ink, width in ((PAPER, 5), (ALERT, 3)):
        grown = radius + width / 2
        draw.ellipse((x - grown, y - grown, x + grown, y + grown), outline=ink, width=width)
        if ring.bar:
            draw.line(ring.bar, fill=ink, width=width)


def _legend_height(picture: Picture, wide: int) -> int:
    if picture.metric.kind != "category":
        return 72
    return 20 * -(-len(picture.ticks) // max(1, wide // 140)) + 24


def _legend(
    draw: ImageDraw.ImageDraw,
    picture: Picture,
    top: int,
    wide: int,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
) -> None:
    if picture.metric.kind == "category":
        columns = max(1, wide // 140)
        for code, tick in enumerate(picture.ticks):
            x, y = _MARGIN + code % columns * 140, top + code // columns * 20
            is_bare = code in picture.bare
            draw.rectangle((x, y + 2, x + 12, y + 14), fill=GROUND if is_bare else code,
                           outline=FAINT)  # fmt: skip
            if is_bare:
                draw.line((x + 1, y + 13, x + 11, y + 3), fill=HATCH)
            draw.text((x + 18, y), tick.text, fill=INK, font=font)
        return
    length = min(wide - 100, 720)
    for x in range(length):
        level = x * LEVELS // length
        draw.line((_MARGIN + x, top, _MARGIN + x, top + 14), fill=level)
    free = 0
    for tick in picture.ticks:
        x = _MARGIN + round(tick.position * (length - 1))
        draw.line((x, top + 14, x, top + 19), fill=INK)
        start = min(max(_MARGIN, x - _width(font, tick.text) // 2), wide + 2 * _MARGIN)
        if start >= free:
            draw.text((start, top + 20), tick.text, fill=INK, font=font)
            free = start + _width(font, tick.text) + 12
    log = "log scale" if picture.scale.log else "linear scale"
    if picture.hatched().any():
        log += f"; hatched: {NO_KERNEL}"
    draw.text((_MARGIN, top + 38), log, fill=FAINT, font=font)

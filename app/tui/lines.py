"""The one-line parts of the screen as styled text: header, legend, time, keys. Pure functions."""

from __future__ import annotations

import numpy as np
from rich.style import Style
from rich.text import Text

from app.tui.difference import KIND
from app.tui.glyphs import DIFFERENCE_RAMP, LEVELS, Glyphs, hex_colour, letters
from app.units import count, percent
from app.views.map import MapView
from app.views.status import JobView, StatusView
from app.views.timeline import Series, TimelineView

SEVERITY = {"ok": "", "warn": "bold #f0e442", "alert": "bold #00e5ff"}
"""styles; colours only repeat what the words say"""
_FAINT = "dim"
_TITLE = 12
"""cells for the name of a series or a kernel"""
_TAIL = 24
"""cells for the peak of a series"""


def header(status: StatusView, width: int) -> Text:
    """Say what is shown, whether the books balance and what the numbers rest on."""
    text = Text(no_wrap=True)
    text.append(" Waferscope ", "bold reverse")
    text.append(f" {_cut(status.model, 24)} on {_cut(status.machine, 16)} ", "bold")
    badge = " ledger ok " if status.ledger_ok else " LEDGER BROKEN "
    text.append(badge, "reverse" if not status.ledger_ok else "#8fdcc0")
    if not status.would_run:
        text.append(" DOES NOT FIT, a what-if ", SEVERITY["alert"] + " reverse")
    standing = f"numbers: {status.standing}"
    if text.cell_len + len(standing) + 1 <= width:
        text.append(" " * (width - text.cell_len - len(standing)))
        text.append(standing, _FAINT)
    return text


def moment(status: StatusView, width: int) -> Text:
    """Say which step this is, what happens, where in time, and what a step means."""
    place = f"step {status.step}/{status.steps - 1}"
    cycles = f"  cycles {count(status.cycle_start)}..{count(status.cycle_end - 1)}"
    stride = f"  stride {status.stride}"
    of_all = f" of {count(status.makespan)}"
    sample = f", sample {status.sample} of 0..{status.samples - 1}"
    room = width - len(place) - len(cycles) - len(stride) - 2
    label = _cut(status.step_label, max(8, room))
    rest = room - len(label)
    if len(of_all) <= rest:
        cycles, rest = cycles + of_all, rest - len(of_all)
    if len(sample) <= rest:
        stride += sample
    text = Text(place, "bold", no_wrap=True)
    return text.append(f"  {label}", "#8fdcc0").append(f"{cycles}{stride}", "not bold")


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "~"


def legend(view: MapView, glyphs: Glyphs, width: int) -> Text:
    """Explain the colours: metric, unit, range, pooling, standing."""
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(view.label, "bold")
    if view.unit:
        text.append(f" [{view.unit}]")
    text.append(" ")
    if view.categories:
        _append_categories(text, view, glyphs)
    else:
        _append_scale(text, view, glyphs)
    extras = [view.pool_text, "log scale" if view.scale.log else "", view.standing]
    for extra in filter(None, extras):
        if text.cell_len + len(extra) + 2 <= width:
            text.append(f"  {extra}", _FAINT)
    return text


def _append_scale(text: Text, view: MapView, glyphs: Glyphs) -> None:
    low, high = view.ticks[0].text, view.ticks[-1].text
    text.append(f"{low} ")
    if glyphs.is_ascii:
        text.append(f"'{DIFFERENCE_RAMP if view.kind == KIND else glyphs.spark}'")
    else:
        table = glyphs.table(view.palette, False)
        for level in range(LEVELS - (view.kind == KIND)):
            text.append(" ", Style(bgcolor=hex_colour(int(table[level]))))
    text.append(f" {high}")


def _append_categories(text: Text, view: MapView, glyphs: Glyphs) -> None:
    table, marks = glyphs.table(view.palette, True), letters(view.categories)
    shown = np.unique(view.values).tolist()
    for code in shown:
        name = view.categories[code] if code < len(view.categories) else f"code {code}"
        if glyphs.is_ascii:
            text.append(f" '{marks[code]}'={name}")
        else:
            text.append("  ", Style(bgcolor=hex_colour(int(table[code]))))
            text.append(f" {name} ")


def spark(series: Series, timeline: TimelineView, glyphs: Glyphs, width: int) -> Text:
    """Draw a series along the run, the step shown reversed."""
    room = spark_bins(width)
    values = _resampled(series.mean, room)
    top = max(float(values.max(initial=0.0)), 1e-12)
    last = len(glyphs.spark) - 1
    marks = "".join(glyphs.spark[round(float(value) / top * last)] for value in values)
    text = Text(f"{series.name:<{_TITLE}}", no_wrap=True)
    first = _bin(timeline, timeline.step_start, room)
    end = _bin(timeline, timeline.step_end - 1, room) + 1
    text.append(marks[:first], "#5ec962")
    text.append(marks[first:end], "bold reverse")
    text.append(marks[end:], "#5ec962")
    return text.append(f" peak {_short_amount(series)} @{series.top_step}", _FAINT)


def spark_bins(width: int) -> int:
    """Return how many bins a sparkline of `width` cells shows."""
    return max(4, width - _TITLE - _TAIL)


def _bin(timeline: TimelineView, cycle: int, bins: int) -> int:
    part = (cycle - timeline.start) / max(1, timeline.end - timeline.start)
    return min(bins - 1, max(0, int(part * bins)))


def _resampled(values: tuple[float, ...], room: int) -> np.ndarray:
    """Return the series in exactly `room` bins; they differ only while the screen is resized."""
    array = np.asarray(values, np.float64)
    picked: np.ndarray = array[np.arange(room) * len(array) // room]
    return picked


def _short_amount(series: Series) -> str:
    if series.name == "utilization":
        return percent(series.top)
    base, unit = (1024.0, "B") if "bytes" in series.unit else (1000.0, "")
    if series.unit.endswith("a cycle"):
        unit = "/cycle"
    power = 0
    while series.top >= 999.5 * base**power and power < 4:
        power += 1
    return f"{series.top / base**power:.3g} {' kMGT'[power].strip()}{unit}".rstrip()


def lanes(timeline: TimelineView, glyphs: Glyphs, width: int, most: int) -> list[Text]:
    """Draw when each kernel runs, a line a kernel, around the lanes that run in this step."""
    names = timeline.lanes
    room = spark_bins(width)
    now = [bar.lane for bar in timeline.bars
           if bar.start < timeline.step_end and bar.end > timeline.step_start]  # fmt: skip
    middle = now[0] if now else 0
    first = max(0, min(middle - most // 2, len(names) - most))
    rows = np.zeros((min(most, len(names)), room), bool)
    for bar in timeline.bars:
        if first <= bar.lane < first + len(rows):
            start, end = _bin(timeline, bar.start, room), _bin(timeline, bar.end - 1, room)
            rows[bar.lane - first, start : end + 1] = True
    here = _bin(timeline, timeline.step_start, room)
    return [
        _lane(names[first + index], row, here, first + index in now, glyphs)
        for index, row in enumerate(rows)
    ]


def _lane(name: str, row: np.ndarray, here: int, is_running: bool, glyphs: Glyphs) -> Text:
    text = Text(
        f"{_cut(name, _TITLE - 1):<{_TITLE}}", "bold" if is_running else _FAINT, no_wrap=True
    )
    marks = "".join("=" if on and glyphs.is_ascii else "▬" if on else " " for on in row.tolist())
    text.append(marks[:here], "#7cc8f5")
    text.append(marks[here], "bold reverse")
    text.append(marks[here + 1 :], "#7cc8f5")
    return text


def answer(
    status: StatusView, view: MapView, error: str, note: str, glyphs: Glyphs, width: int
) -> Text:
    """Say what goes on: the job, an error, the answer to the last command, else the map."""
    text = Text(no_wrap=True, overflow="ellipsis")
    if status.job is not None and status.job.state == "running":
        return job_line(status.job, glyphs, width)
    if error:
        return text.append(error, SEVERITY["warn"])
    is_greeting = status.revision == 0
    if status.message and not (is_greeting and glyphs.reason):
        return text.append(status.message)
    if note or glyphs.reason:
        return text.append(note or glyphs.reason, _FAINT)
    return text.append(view.sentence, SEVERITY[view.severity] or _FAINT)


def job_line(job: JobView, glyphs: Glyphs, width: int) -> Text:
    """Draw how far the job is."""
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(f"{job.what}: ", "bold")
    text.append(bar(job.fraction, 16, glyphs))
    progress = f"{count(job.done)}/{count(job.total)} {job.unit}" if job.total else ""
    return text.append(f" {job.stage} {progress}  x cancels")


def bar(share: float, width: int, glyphs: Glyphs) -> str:
    """Return a bar of `width` cells, `share` of it full; a share above zero shows."""
    full = min(width, round(share * width))
    if share > 0 and full == 0:
        full = 1
    return glyphs.bar * full + glyphs.rest * (width - full)

"""Numbers as people read them. One place for every screen; knows no metric tables."""

from __future__ import annotations


def amount(value: float, kind: str) -> str:
    """Return a metric's value with its unit; kind as in engine.metrics, or words."""
    if kind == "fraction":
        return percent(value)
    if kind == "bytes":
        return size(value)
    if kind == "load":
        return f"{rate(value)} wavelets a cycle"
    if kind == "words":
        return f"{count(value)} wavelet{'' if value == 1 else 's'}"
    return count(value)


def rate(load: float) -> str:
    """Return wavelets a cycle as a number, three digits from 0.001 on."""
    if load >= 1000:
        return f"{load:,.0f}"
    return f"{load:.2f}" if load >= 0.1 or load == 0 else f"{load:.2g}"


def percent(share: float) -> str:
    """Return a share 0..1 as per cent, finer below 1 %."""
    value = 100 * share
    return f"{value:.2f} %" if 0 < value < 1 else f"{value:.1f} %"


def size(count_bytes: float) -> str:
    """Return bytes in B, KB of 1,024, or from ten of them on MB of 1,024 KB, GB, TB."""
    if abs(count_bytes) < 1024:
        return f"{count_bytes:.0f} B"
    for unit, power in (("TB", 40), ("GB", 30), ("MB", 20)):
        if abs(count_bytes) >= 10 << power:
            return f"{count_bytes / 2**power:,.1f} {unit}"
    return f"{count_bytes / 1024:,.1f} KB"


def count(value: float) -> str:
    """Return a number with separators, at most two decimals."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.2f}"


def seconds(cycles: float, clock_hz: float) -> str:
    """Return cycles as time at a clock, the clock named."""
    time = cycles / clock_hz
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6), ("ns", 1e9)):
        if time * factor >= 1 or unit == "ns":
            return f"{time * factor:.3g} {unit} at {clock_hz / 1e9:.3g} GHz"
    return "0"

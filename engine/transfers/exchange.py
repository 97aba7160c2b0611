"""Every word goes from one PE to one other PE of its line: shift, spread, collect, exchange.

The four differ in what they mean to a reader: a shift keeps each word's place in an equal
span, a spread starts at one PE, a collect ends at one, an exchange mixes inside its groups.
"""

from __future__ import annotations

from engine.transfers.lines import LineFlow, Span, crossing


def flow(span: Span) -> LineFlow:
    """Return the words on the line."""
    forward, backward = crossing(span)
    return LineFlow(forward, backward, span.sources(), span.destinations())


def hops(span: Span) -> int:
    """Return the links of the longest way a word takes."""
    first_src, last_src = span.src_start, span.src_start + span.src - 1
    first_dst, last_dst = span.dst_start, span.dst_start + span.dst - 1
    if span.groups == 1:
        return max(abs(last_dst - first_src), abs(last_src - first_dst))
    ends = max(abs(first_dst - first_src), abs(last_dst - last_src))
    if span.groups == 0:
        return ends
    return min(
        ends + max(span.src, span.dst) // span.groups,
        max(abs(last_dst - first_src), abs(last_src - first_dst)),
    )

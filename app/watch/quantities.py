"""The one table of names that a condition may use, with what each means. Knows no run."""

from __future__ import annotations

from app.watch.expr_tree import Name

NAMES: dict[str, Name] = {
    name.id: name
    for name in (
        Name("step", "count", "number of the step, from 0"),
        Name("cycle", "cycles", "any cycle of the step"),
        Name("sample", "count", "sample that a kernel works on, -1 for none"),
        Name("entered", "count", "newest sample that has entered the pipeline, -1 before the "
             "first"),
        Name("kernel", "text", "id of a kernel", is_static=True),
        Name("family", "text", "family of a kernel's main operation, such as dot",
             is_static=True),
        Name("cause", "text", "why a kernel's region waits; 'running' while it does not"),
        Name("starts", "flag", "a kernel starts a sample", is_event=True),
        Name("ends", "flag", "a kernel has just ended a sample", is_event=True),
        Name("running", "flag", "a kernel works on a sample, stalls not counted"),
        Name("waiting", "cycles", "cycles a kernel has waited for input at the end of the step "
             "(fill and drain not counted)"),
        Name("sram", "bytes", "bytes that hold data on a kernel's fullest PE, or on one PE",
             ("pe",)),
        Name("allocated", "bytes", "bytes of the layout on a kernel's fullest PE, or on one PE",
             ("pe",), is_static=True),
        Name("utilization", "share", "compute cycles / cycles, of a kernel's region, a PE or "
             "any region", ("pe", "region")),
        Name("link", "share", "highest load of a link that a kernel's flows use, of a PE's "
             "links, or of one link", ("pe", "link"), is_bounded=True),
        Name("ramp", "share", "the same of ramps between router and core", ("pe", "link"),
             is_bounded=True),
        Name("value", "number", "any element of what a kernel wrote last, or of a tensor "
             "(needs values)", ("tensor",), is_bounded=True),
        Name("nan", "flag", "what a kernel wrote last holds NaN (needs values)", ("tensor",)),
        Name("inf", "flag", "what a kernel wrote last holds an infinity (needs values)",
             ("tensor",)),
    )
}  # fmt: skip
"""name -> what it is"""

"""Rule: inside a kernel many PEs wait for those with larger tiles."""

from __future__ import annotations

from app.advice.facts import Facts
from app.advice.rule import Change, Finding, Rule
from app.units import count, percent

SHARE = 0.2
"""imbalance / PE-cycles of the kernel's instance"""


def check(facts: Facts) -> Finding | None:
    """Fire when imbalance takes over 20 % of the instances of the kernel where it costs most."""
    kernels = [k.id for k in facts.run.program.kernels]
    name = max(kernels, key=lambda kernel: facts.inside(kernel)["imbalance"])
    inside = facts.inside(name)
    share = inside["imbalance"] / max(1, sum(inside.values()))
    if share <= SHARE:
        return None
    area, box = facts.area(name), facts.kernel(name).region
    sizes = sorted({area * 3 // 4, area // 2} - {0, area}, reverse=True)
    return Finding(
        f"in {name} {percent(share)} of the PE-cycles of an instance are waits for slower PEs",
        (("imbalance", f"{count(inside['imbalance'])} PE-cycles a sample"),
         ("compute", f"{count(inside['compute'])} PE-cycles a sample"),
         ("region", f"{box.rows}x{box.cols} PEs")),
        ("pe_cap",), tuple((Change("pe_cap", str(cap), name),) for cap in sizes),
        kernels=(name,), place=(box.row, box.col, box.rows, box.cols),
        weight=inside["imbalance"] * facts.run.program.samples / facts.region_cycles,
    )  # fmt: skip


RULE = Rule("tile-imbalance", "Tiles of a kernel differ", check)

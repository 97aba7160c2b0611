"""Rule: in the slowest kernel set-up and control cost more than the work itself."""

from __future__ import annotations

from app.advice.facts import Facts
from app.advice.rule import Change, Changes, Finding, Rule
from app.units import count, percent


def check(facts: Facts) -> Finding | None:
    """Fire when overhead exceeds compute in the kernel that bounds the pipeline."""
    name = facts.slowest
    inside = facts.inside(name)
    if inside["overhead"] <= inside["compute"]:
        return None
    area, box = facts.area(name), facts.kernel(name).region
    proposals: list[Changes] = [
        (Change("pe_cap", str(area // by), name),) for by in (2, 4) if area >= by
    ]
    if facts.run.config.max_chunks > 1:
        proposals.append((Change("max_chunks", "1"),))
    share = inside["overhead"] / max(1, sum(inside.values()))
    return Finding(
        f"{name} bounds the pipeline and spends {percent(share)} of its PE-cycles on set-up and "
        "control, more than on computing: its tiles are too small for its vector operations",
        (("overhead", f"{count(inside['overhead'])} PE-cycles a sample"),
         ("compute", f"{count(inside['compute'])} PE-cycles a sample")),
        ("pe_cap", "max_chunks"), tuple(proposals), kernels=(name,),
        place=(box.row, box.col, box.rows, box.cols), weight=facts.share("overhead"),
    )  # fmt: skip


RULE = Rule("overhead", "Overhead above compute", check)

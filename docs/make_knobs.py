"""Write docs/knobs.md from the table of knobs: python docs/make_knobs.py."""

from __future__ import annotations

from pathlib import Path

from lowering.config import KNOBS, CompileConfig, Knob, knob_value

PAGE = Path(__file__).with_name("knobs.md")
_HEAD = """# Knobs

Everything that can be tuned, made from the table in `lowering/knobs.py` by `docs/make_knobs.py`.
`waferscope knobs` prints the same.

Turn one on the command line with `--set KNOB=VALUE` (for one kernel `--set KNOB@KERNEL=VALUE`),
in a session with `:set KNOB VALUE`, in a [config file](compare.md#config-files) by its name.
A change makes anew what its stage and the stages after it make; what comes before is kept.

passes > kernels > sizing > placement > routing > memory > timing; `values` and `print` compile
nothing.

| knob | values | default | made anew from | what it does |
|---|---|---|---|---|
"""
_TAIL = """
A figure of the machine that is changed shows in the machine's name, such as
`wse2[hop_cycles=2]`; it holds for whatever machine is chosen, before or after.
"""


def page() -> str:
    """Return the page as text."""
    return _HEAD + "".join(map(_row, KNOBS.values())) + _TAIL


def _row(knob: Knob) -> str:
    name = f"{knob.name}@KERNEL" if knob.per_kernel else knob.name
    default = knob_value(CompileConfig(), knob.name)
    return f"| `{name}` | {knob.describe_range()} | {default} | {knob.stage} | {knob.help} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

"""The nearest of known names to a wrong one, for messages. Knows nothing else."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def hint(name: str, known: Iterable[str], cutoff: float = 0.3) -> str:
    """Return "; did you mean 'x'?" for the nearest known name, nothing when none is near."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f"; did you mean '{near[0]}'?" if near else ""

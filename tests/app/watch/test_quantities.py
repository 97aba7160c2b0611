"""The names of conditions: each has help, each can be asked of a run."""

from __future__ import annotations

import numpy as np
import pytest

from app.watch.conditions import Condition, holds
from app.watch.quantities import NAMES
from tests.factories.worked import with_values, worked_run

_WITH = {"text": "!= 'k1'", "flag": "", "share": "> 1%"}


@pytest.mark.parametrize("name", NAMES.values(), ids=lambda name: name.id)
def test_every_name_can_be_asked(name: object) -> None:
    from app.watch.expr_tree import Name

    assert isinstance(name, Name)
    run = with_values(worked_run(1, 1), h1=np.ones(2), h2=np.ones(2))
    words = {"family": "!= pointwise", "cause": "!= fill"}.get(name.id)
    text = f"{name.id} {words or _WITH.get(name.kind, '> 1')}"
    found = holds(run, Condition.parse(text))
    assert found.shape[1] == run.timeline.steps
    assert found.shape[0] in (1, 3)


def test_every_name_has_help() -> None:
    assert all(name.help and name.id == key for key, name in NAMES.items())

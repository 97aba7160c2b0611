"""Fields of a config: numeric text, spellings, what is left."""

from __future__ import annotations

import pytest

from lowering.errors import ModelImportError
from lowering.frontends.fields import Fields


def test_numeric_text_is_a_number() -> None:
    fields = Fields({"a": "1e-05", "b": "12", "c": "True"}, "f")
    assert (fields.number("a"), fields.integer("b"), fields.flag("c")) == (1e-5, 12, True)


@pytest.mark.parametrize("value", [True, "x", 1.5, [3], -1, float("nan"), float("inf"), 10**400])
def test_what_is_no_whole_number_is_named(value: object) -> None:
    with pytest.raises(ModelImportError, match=r"f: a is .*, must be a whole number of at least 1"):
        Fields({"a": value}, "f").integer("a")


def test_null_is_absent() -> None:
    fields = Fields({"a": None}, "f")
    assert not fields.has("a")
    assert fields.integer("a", default=4) == 4
    with pytest.raises(ModelImportError, match=r"field 'a' \(or 'b'\) is missing"):
        fields.integer("a", "b")


def test_leftovers_are_sorted_out() -> None:
    fields = Fields({"a": 1, "dropout": 0.1, "odd": 2}, "f")
    assert fields.integer("a") + fields.integer("size", default=3) == 4
    found = fields.leftovers({"dropout"})
    assert (found.unused, found.unknown, found.assumed) == (("dropout",), ("odd",), ("size = 3",))


def test_a_slip_of_an_absent_field_is_refused() -> None:
    fields = Fields({"hidden_sise": 8}, "f")
    fields.integer("hidden_size", default=4)
    with pytest.raises(ModelImportError, match="did you mean 'hidden_size'"):
        fields.leftovers(())

"""Fields of a config: numeric text, spellings, what is left."""

from __future__ import annotations

import pytest

from lowering.errors import ModelImportError
from lowering.frontends.fields import Fields


def test_numeric_text_is_a_number() -> None:
    fields = Fields({"a": "1e-05", "b": "12", "c": "True"}, "f")
    assert (fields.number("a"), fields.integer("b"), fields.flag("c")) == (1e-5, 12, True)


def test_an_unknown_field_is_told_with_the_absent_one_that_it_resembles() -> None:
    fields = Fields({"facter": 2.0, "size": 1, "sizer": 2, "colour": 3}, "f")
    assert fields.number("factor", default=1.0) + fields.integer("size") == 2
    found = fields.leftovers(())
    assert found.unknown == ("facter (nearest known: factor)", "sizer", "colour")


@pytest.mark.parametrize("value", [True, "x", 1.5, [3], -1, float("nan"), float("inf"), 10**400])
def test_what_is_no_whole_number_is_named(value: object) -> None:
    with pytest.raises(ModelImportError, match=r"f: a is .*, must be a whole number of at least 1"):
        Fields({"a": value}, "f").integer("a")


@pytest.mark.parametrize("value", [0, 1, -3.0, "x", float("nan")])
def test_a_number_outside_its_limits_is_named(value: object) -> None:
    with pytest.raises(ModelImportError, match=r"f: a is .*, must be a number above 0 and below 1"):
        Fields({"a": value}, "f").number("a", above=0, below=1)


def test_sizes_beyond_any_model_are_named() -> None:
    assert Fields({"a": 2**31 - 1}, "f").integer("a") == 2**31 - 1
    with pytest.raises(ModelImportError, match="at most 2,147,483,647"):
        Fields({"a": 2**31}, "f").integer("a")


def test_paths_read_lead_into_mappings_and_lists() -> None:
    fields = Fields({"a": {"b": 1, "c": {"d": 2, "e": 3}}, "l": [{"x": 1, "y": 2}, {"y": 3}]}, "f")
    assert list(fields.paths_read()) == []
    inner = fields.mapping("a")
    assert inner is not None
    assert list(fields.paths_read()) == []
    deep = inner.mapping("c")
    assert deep is not None
    assert inner.integer("b") + deep.integer("e") == 4
    first, second = fields.mappings("l")
    assert (first.integer("x"), second.integer("y")) == (1, 3)
    assert list(fields.paths_read()) == ["a.b", "a.c.e", "l[].x", "l[].y"]


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


def test_leftovers_inside_a_mapping_are_named_with_it() -> None:
    fields = Fields({"m": {"a": 1, "dropout": 0.1, "odd": 2}, "n": {"odd": 3}}, "f")
    inner = fields.mapping("m")
    assert inner is not None
    assert inner.integer("a") + inner.integer("size", default=3) == 4
    found = fields.leftovers((), {"dropout"})
    assert (found.unused, found.assumed) == (("m.dropout",), ("m.size = 3",))
    assert found.unknown == ("n", "m.odd")


def test_a_slip_of_an_absent_field_is_refused() -> None:
    fields = Fields({"hidden_sise": 8}, "f")
    fields.integer("hidden_size", default=4)
    with pytest.raises(ModelImportError, match="did you mean 'hidden_size'"):
        fields.leftovers(())

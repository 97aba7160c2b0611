"""Values as people write them in YAML."""

from __future__ import annotations

import pytest

from app.configs.text import as_number, as_switch, plain_text, unquoted


@pytest.mark.parametrize(
    ("value", "text"),
    [("1e-05", "1e-05"), (1000.0, "1000"), ("1e3", "1000"), (True, "on"), (False, "off"),
     ("auto", "auto"), (None, "empty"), ([1], "a list"), ({}, "a mapping"), ("nan", "nan"),
     (12, "12"), ("1_000", "1_000")],
)  # fmt: skip
def test_value_as_text(value: object, text: str) -> None:
    assert plain_text(value) == text


def test_typographic_quotes_come_off_names_and_texts() -> None:
    found = unquoted({"“a”": ["‘b’", "«c»", "d", 3], "e": {"f": "„g“"}})
    assert found == {"a": ["b", "c", "d", 3], "e": {"f": "g"}}
    assert unquoted("it’s") == "it’s"


def test_switches_and_numbers() -> None:
    assert [as_switch(v) for v in (True, "Yes", "off", 1, "2")] == [True, True, False, None, None]
    assert [as_number(v) for v in (3, "2e-4", True, "x", "inf")] == [3, 2e-4, None, None, None]

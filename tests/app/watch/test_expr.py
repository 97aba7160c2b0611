"""The language of conditions: what it reads, what it refuses and where it points."""

from __future__ import annotations

import pytest

from app.watch.expr import parse_expression
from app.watch.expr_tree import (
    Both,
    Compare,
    ExpressionError,
    Flag,
    Literal,
    Name,
    Not,
    Quantity,
    quantities,
)

NAMES = {
    name.id: name
    for name in (
        Name("sram", "bytes", "live bytes", ("pe",)),
        Name("kernel", "text", "kernel id"),
        Name("link", "share", "load", ("link",), is_bounded=True),
        Name("waiting", "cycles", "cycles waited"),
        Name("starts", "flag", "starts", is_event=True),
        Name("step", "count", "step number"),
    )
}


def test_comparison_reads_units() -> None:
    assert parse_expression("sram > 46KB", NAMES) == Compare(
        ">", Quantity("sram", 1), Literal(46 * 1024, 8, "KB")
    )
    right = parse_expression("link >= 90 %", NAMES)
    assert isinstance(right, Compare)
    assert right.right == Literal(0.9, 9, "%")


def test_and_binds_tighter_than_or() -> None:
    node = parse_expression("starts or step == 3 and not starts", NAMES)
    assert isinstance(node, Both)
    assert node.word == "or"
    assert isinstance(node.left, Flag)
    assert isinstance(node.right, Both)
    assert node.right.word == "and"
    assert isinstance(node.right.right, Not)


def test_brackets_bind_tightest() -> None:
    node = parse_expression("(starts or step == 3) and starts", NAMES)
    assert isinstance(node, Both)
    assert node.word == "and"


def test_number_may_stand_first() -> None:
    assert parse_expression("46KB < sram", NAMES) == Compare(
        ">", Quantity("sram", 8), Literal(46 * 1024, 1, "KB")
    )


def test_bare_word_is_a_text_beside_a_text() -> None:
    bare = parse_expression("kernel == ffn1", NAMES)
    assert bare == parse_expression('kernel == "ffn1"', NAMES)


def test_place_stands_in_brackets() -> None:
    node = parse_expression("sram(3, 4) > 1 and link(3, 4, east) > 0.5", NAMES)
    assert [q.place for q in quantities(node)] == [(3, 4), (3, 4, "east")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sarm > 5", r"column 1 of 'sarm > 5': there is no 'sarm'; did you mean 'sram'\?"),
        ("sram > 5 and", "column 13 .*expected a name or a number, found the end"),
        ("(sram > 5) sram", "column 12 .*expected 'and', 'or' or the end"),
        ("sram", "column 5 .*'sram' must be compared"),
        ("sram > 90%", "column 6 .*'sram' is in bytes, not in %"),
        ("link > 90", "column 6 .*write 90% or a number from 0 to 1"),
        ("link == 50%", "column 6 .*compared by < <= > >="),
        ("kernel > 'a'", "column 8 .*use == or !="),
        ("kernel == 'a", "column 11 .*a quote is never closed"),
        ("(sram > 5", "column 10 .*a bracket is never closed"),
        ("sram > 5 pounds", "column 8 .*'pounds' is no unit"),
        ("sram(1) > 5", r"column 1 .*'sram' takes \(row, col\)"),
        ("starts == 1", "column 8 .*true or false by itself"),
        ("kernel == kernel", "column 8 .*compared with a text in quotes"),
        ("sram > step", "column 6 .*bytes cannot be compared with count"),
        ("sram > link", "column 6 .*can only be compared with a number"),
        ("5 > 4", "column 1 .*must be a name"),
        ("sram > __import__('os')", "column 8 .*there is no '__import__'"),
        ("sram ; 5", "column 6 .*';' means nothing"),
        ("", "column 1 .*expected a name"),
    ],
)
def test_error_points_at_the_column(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        parse_expression(text, NAMES)


def test_endless_brackets_are_refused() -> None:
    with pytest.raises(ExpressionError, match="more than 40 brackets"):
        parse_expression("(" * 60 + "starts" + ")" * 60, NAMES)
    with pytest.raises(ExpressionError, match="at most 400"):
        parse_expression("starts or " * 50 + "starts", NAMES)

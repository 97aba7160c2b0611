"""Typed lines: conditions keep their quotes, the rest is split into words."""

from __future__ import annotations

import pytest

from app.command_line import split_line
from app.commands import CommandError, parse_arguments


def test_a_condition_is_one_argument_with_its_quotes() -> None:
    command, arguments = split_line('watch sram > 46KB and kernel == "ffn1"')
    assert command.id == "watch"
    assert arguments == ('sram > 46KB and kernel == "ffn1"',)
    assert parse_arguments(command, ("sram", ">", "5")) == ("sram > 5",)
    assert split_line("watch")[1] == ()


def test_other_commands_take_words() -> None:
    assert split_line("pe 3 4")[1] == ("3", "4")
    assert split_line("search 'a b'")[1] == ("a b",)


@pytest.mark.parametrize(
    ("line", "message"),
    [("", "nothing was typed"), ("wach x", "did you mean 'watch'"), ("pe 'a", "cannot read")],
)
def test_what_cannot_be_read_is_a_sentence(line: str, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        split_line(line)

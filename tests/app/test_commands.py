"""The table of commands: keys are unique, verbs exist, arguments are parsed or refused."""

from __future__ import annotations

import inspect

import pytest

from app.commands import COMMANDS, CommandError, find_command, keymap, parse_arguments
from app.debugger import Debugger


def test_no_key_is_bound_twice() -> None:
    keys = [key for command in COMMANDS.values() for key in command.keys]
    assert len(keys) == len(set(keys)) == len(keymap())


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda c: c.id)
def test_core_command_is_a_verb_that_takes_its_arguments(command: object) -> None:
    from app.commands import Command

    assert isinstance(command, Command)
    if command.scope == "face":
        assert command.verb == ""
        return
    count = len(command.fixed) + len(command.arguments)
    signature = inspect.signature(getattr(Debugger, command.verb))
    signature.bind(None, *range(count))


def test_key_needs_no_arguments() -> None:
    for command in COMMANDS.values():
        if command.keys:
            assert all(a.default is not None for a in command.arguments), command.id


def test_arguments_take_their_types_and_defaults() -> None:
    assert parse_arguments(find_command("next"), ()) == (1,)
    assert parse_arguments(find_command("pe"), ("3", 4)) == (3, 4)
    assert parse_arguments(find_command("event-back"), ()) == (-1,)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("pe", ("3",), "needs col; usage: pe ROW COL"),
        ("pe", ("3", "x"), "col is 'x', must be a whole number"),
        ("seek", ("1", "2"), "takes 1 argument"),
        ("stride", ("week",), "must be one of kernel, event, sample, layer"),
    ],
)
def test_wrong_arguments_are_sentences(name: str, given: tuple[str, ...], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        parse_arguments(find_command(name), given)


def test_unknown_command_gets_the_nearest() -> None:
    with pytest.raises(CommandError, match="did you mean 'export'"):
        find_command("exprot")

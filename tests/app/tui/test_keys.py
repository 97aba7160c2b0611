"""Keys and typed lines, from the shared table."""

from __future__ import annotations

import pytest

from app.commands import COMMANDS, CommandError
from app.tui.keys import TABLE, hints, key_commands, key_name, parse_line, view_own_help


def test_shared_keys_keep_their_command() -> None:
    keys = key_commands()
    for command in COMMANDS.values():
        assert all(keys[key] == command.id for key in command.keys)


def test_no_key_stands_for_two_commands() -> None:
    keys = [key for command in TABLE.values() for key in command.keys]
    assert sorted(keys) == sorted(set(keys))


@pytest.mark.parametrize(
    ("key", "character", "name"),
    [("N", "N", "N"), ("full_stop", ".", "."), ("space", " ", "space"), ("left", None, "left"),
     ("escape", "\x1b", "escape"), ("question_mark", "?", "?")],
)  # fmt: skip
def test_key_events_become_words_of_the_table(key: str, character: str | None, name: str) -> None:
    assert key_name(key, character) == name


def test_a_line_is_a_command_and_its_arguments() -> None:
    command, arguments = parse_line("export 'my file.png'")
    assert (command.id, arguments) == ("export", ("my file.png",))


@pytest.mark.parametrize(
    ("line", "part"), [("", "nothing was typed"), ("zom-in", "zoom-in"), ("a 'b", "cannot read")]
)
def test_a_line_that_means_nothing_is_refused(line: str, part: str) -> None:
    with pytest.raises(CommandError, match=part):
        parse_line(line)


def test_help_has_a_row_a_command() -> None:
    assert {row.id for row in view_own_help().rows} == set(TABLE)


def test_hints_fit_and_start_with_the_most_needed() -> None:
    kept = hints(80)
    assert sum(len(key) + len(label) + 3 for key, label in kept) <= 80
    assert ("?", "help") in kept
    assert ("q", "quit") in kept


def test_hints_name_keys_that_exist() -> None:
    keys = key_commands()
    for shown, _ in hints(1000):
        single = shown.replace("-", "") if shown in ("1-9", "+-0") else shown
        for key in [shown] if shown in keys else single.replace("/", "").replace(" ", ""):
            assert key in keys, shown

"""The views of a session by name, and what each takes.

Read off `app.session.protocol.Session`, so that a view added there is served.
Knows no protocol.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from inspect import Parameter, signature
from typing import Any, get_args, get_type_hints

from app.commands import CommandError
from app.session.protocol import Session

_MOST_TEXT = 2000
"""characters of an argument"""
_NUMBER = re.compile(r"\d{1,9}")


@dataclass(frozen=True, slots=True)
class Read:
    """One view."""

    name: str
    """method of the session"""
    arguments: Mapping[str, Any]
    """type by the argument's name: int or str, maybe None"""
    needed: frozenset[str]
    """arguments without a default"""

    def parse(self, texts: Mapping[str, str]) -> dict[str, int | str]:
        """Return arguments given as texts in their types.

        Raises:
            CommandError: an argument that the view does not take, or of another type.
        """
        unknown = sorted(texts.keys() - self.arguments.keys())
        if unknown:
            takes = ", ".join(self.arguments) or "nothing"
            raise CommandError(f"'{self.name}' takes {takes}, not '{unknown[0][:40]}'")
        missing = sorted(self.needed - texts.keys())
        if missing:
            raise CommandError(f"'{self.name}' needs {', '.join(missing)}")
        return {name: self._parse_one(name, text) for name, text in texts.items()}

    def _parse_one(self, name: str, text: str) -> int | str:
        kind = self.arguments[name]
        if kind is int or int in get_args(kind):
            if not _NUMBER.fullmatch(text):
                raise CommandError(f"'{self.name}': {name} is '{text[:40]}', must be 0..999999999")
            return int(text)
        if len(text) > _MOST_TEXT:
            raise CommandError(
                f"'{self.name}': {name} has {len(text):,} characters, at most {_MOST_TEXT:,}"
            )
        return text


@lru_cache(maxsize=1)
def reads() -> dict[str, Read]:
    """Return every view by name."""
    found = {}
    for name, member in vars(Session).items():
        if name.startswith(("view_", "find_")):
            hints = get_type_hints(member)
            del hints["return"]
            values = signature(member).parameters
            needed = frozenset(word for word in hints if values[word].default is Parameter.empty)
            found[name] = Read(name, hints, needed)
    return found

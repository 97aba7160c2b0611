"""The sessions of a running dashboard, and which one is meant. Knows no views."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from app.remote.link import Link, Refused
from app.remote.wire import WireError, decode
from app.version import VERSION

TOOL = "waferscope"
"""what a server says it is"""
GONE, UNKNOWN, WRONG = 410, 404, 422
"""status of an answer: no such session, no such address, a question that has no answer"""


@dataclass(frozen=True, slots=True)
class Listed:
    """A session that a server has."""

    id: str
    """EPOCH-TAB, the epoch being the server's"""
    model: str
    machine: str
    step: int
    steps: int
    idle_seconds: float
    """time since its newest command or view"""
    faces: int
    """pages and terminals that look at it now"""

    @property
    def tab(self) -> str:
        """the part of the id that is the session's own"""
        return self.id.partition("-")[2]


@dataclass(frozen=True, slots=True)
class Listing:
    """What a server has."""

    tool: str
    version: str
    epoch: str
    sessions: tuple[Listed, ...]
    """the one used last comes first"""


def list_sessions(link: Link) -> Listing:
    """Return the sessions of a server of this version.

    Raises:
        SessionLost: not there, it wants a token, or it is of another version.
    """
    where = link.address.shown
    try:
        plain = link.get("sessions")
    except Refused as refusal:
        if refusal.status != UNKNOWN:
            raise
        raise Refused(
            f"what answers at {where} is no Waferscope server, or one that is too old to attach "
            f"to; this is {VERSION}", UNKNOWN,
        ) from None  # fmt: skip
    version = plain.get("version") if isinstance(plain, dict) else None
    if version is not None and version != VERSION:
        raise Refused(
            f"the server at {where} is Waferscope {str(version)[:40]}, this is {VERSION}; attach "
            "with the same version", 0,
        )  # fmt: skip
    try:
        listing: Listing = decode(Listing, plain)
    except WireError as error:
        raise Refused(f"what answers at {where} is no Waferscope server: {error}", 0) from None
    return listing


def choose(listing: Listing, wanted: str = "") -> str:
    """Return the id of the session whose tab begins with `wanted`, the newest when none is named.

    A server without sessions gets a new one.

    Raises:
        SessionLost: there is no such session, or several.
    """
    if not wanted:
        if listing.sessions:
            return listing.sessions[0].id
        return f"{listing.epoch}-{secrets.token_hex(12)}"
    found = [one for one in listing.sessions if wanted in (one.id, one.tab)]
    found = found or [one for one in listing.sessions if one.tab.startswith(wanted)]
    if len(found) == 1:
        return found[0].id
    known = ", ".join(one.tab[:8] for one in listing.sessions) or "none"
    what = "several sessions begin" if found else "there is no session that begins"
    raise Refused(f"{what} with '{wanted[:40]}'; sessions of this server: {known}", GONE)

"""`attach`: the terminal on the session of a running dashboard."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from contextlib import closing

from app.cli.faults import UsageError
from app.cli.main import OK
from app.remote.link import Address, Link, Refused, parse_address
from app.remote.listing import Listed, Listing, choose, list_sessions
from app.session.protocol import SessionLost

_ASKS_TOKEN = 401


def attach(arguments: argparse.Namespace) -> int:
    """Show a session of a server in this terminal, or list its sessions."""
    try:
        address = parse_address(arguments.url)
    except ValueError as error:
        raise UsageError(str(error)) from None
    token = arguments.token or os.environ.get("WAFERSCOPE_TOKEN", "") or address.token
    try:
        with closing(Link(address, token or _asked_token(address))) as link:
            listing = list_sessions(link)
            if arguments.list:
                print("\n".join(map(session_line, listing.sessions)) or "no sessions")
                return OK
            return _show(link, listing, choose(listing, arguments.session or address.session))
    except SessionLost as lost:
        raise UsageError(str(lost)) from None


def _asked_token(address: Address) -> str:
    """Return the token that the user types where the server wants one, else nothing."""
    with closing(Link(address)) as link:
        try:
            list_sessions(link)
        except Refused as refusal:
            if refusal.status == _ASKS_TOKEN and sys.stdin.isatty():
                return getpass.getpass(f"token of {address.shown}: ").strip()
        return ""


def _show(link: Link, listing: Listing, chosen: str) -> int:
    from app import tui
    from app.remote.session import RemoteSession

    others = [one for one in listing.sessions if one.id != chosen]
    if len(others) == len(listing.sessions):
        print("no page is open there: this terminal has a session of its own", file=sys.stderr)
    elif others:
        print(f"attached to {chosen.partition('-')[2][:8]}; the server also has", file=sys.stderr)
        print("\n".join(map(session_line, others)), file=sys.stderr)
    session = RemoteSession(link, chosen)
    try:
        return tui.run(session)
    finally:
        session.close()


def session_line(one: Listed) -> str:
    """Return a session as a line of a list."""
    faces = f"{one.faces} face{'' if one.faces == 1 else 's'}"
    return (
        f"{one.tab[:8]}  {one.model} on {one.machine}, step {one.step:,} of {one.steps:,}, "
        f"{faces}, used {one.idle_seconds:,.0f} s ago"
    )

"""The browser face: a Dash shell, a canvas and JSON routes over one Debugger a tab.

Thin by contract: every action is a command of `app.commands`, every number comes from a view.
"""

from __future__ import annotations

from app.web.access import Access, AccessError, make_access
from app.web.app import create_app
from app.web.folders import Folders
from app.web.registry import Registry, SessionError
from app.web.server import ServeError, serve

__all__ = [
    "Access", "AccessError", "Folders", "Registry", "ServeError", "SessionError", "create_app",
    "make_access", "serve",
]  # fmt: skip

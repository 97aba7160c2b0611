"""The terminal face: the same commands and views as every other face, by keyboard alone.

It must not know the web, nor any rule about what is idle, hot or too large.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.session.protocol import Session

USAGE = 2
"""exit code when there is no terminal to draw on"""
INTERNAL_FAULT = 70
"""exit code when the application broke; what happened stands on the terminal"""


def run(debugger: Session) -> int:
    """Show a debugger on this terminal until the user leaves; returns the exit code."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        print(
            "waferscope: the terminal view needs a terminal, but standard input or standard error "
            "is not one; run it without redirection, or use 'waferscope show' or 'export'",
            file=sys.stderr,
        )
        return USAGE
    from app.tui.app import WaferscopeApp

    application = WaferscopeApp(debugger)
    code = application.run()
    if application.return_code:
        return INTERNAL_FAULT
    return code or 0

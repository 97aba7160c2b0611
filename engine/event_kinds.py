"""The kinds of events of a run: their codes, their words, and which one names a step."""

from __future__ import annotations

KINDS = ("start", "stall", "resume", "end", "moves", "left", "given", "needed", "arrives")
"""event kinds by code; subject: a kernel for the first four, then a transfer, of `needed` a use"""
START, STALL, RESUME, END, MOVES, LEFT, GIVEN, NEEDED, ARRIVES = range(len(KINDS))

WORDS = {
    START: "starts", END: "ends", STALL: "stalls", RESUME: "resumes", MOVES: "starts to move",
    LEFT: "has left", GIVEN: "is given", NEEDED: "is needed", ARRIVES: "arrives",
}  # fmt: skip
_IMPORTANCE = (START, END, STALL, RESUME, ARRIVES, GIVEN, MOVES, LEFT, NEEDED)
RANK = tuple(_IMPORTANCE.index(kind) for kind in range(len(KINDS)))
"""importance of a kind, 0 highest: the first event in this order names a step"""

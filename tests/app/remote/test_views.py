"""Every view that a session has, over HTTP as in this process; one that is added is found here."""

from __future__ import annotations

from app.remote.reads import reads
from tests.app.served import attached, served
from tests.app.sessions import mlp_session, mlp_streaming


def test_every_view_there_is_is_the_same_as_here() -> None:
    debugger = mlp_session()
    with served(debugger) as server, attached(server.link()) as session:
        session.do("pe", 3, 4)
        session.do("set", "samples", 2)
        debugger.wait(60)
        session.do("compare")
        session.do("watch", "sram > 4380")
        for name, read in reads().items():
            given = dict.fromkeys(read.needed, 24)
            here, there = getattr(debugger, name)(**given), getattr(session, name)(**given)
            assert type(there) is type(here), name
            assert name == "view_streaming" or here is not None, name
            assert here is None or there.to_json() == here.to_json(), name


def test_streaming_run_says_whose_turn_it_is() -> None:
    debugger = mlp_streaming()
    with served(debugger) as server, attached(server.link()) as session:
        session.do("peak")
        assert session.view_streaming() == debugger.view_streaming()
        assert session.view_streaming() is not None

"""Every panel and every command in the browser, on real runs: a resnet's training step on a wafer
whose kernels take turns, and a transformer in a layer pipeline.

One page a model goes through all of it; the page is watched for errors and foreign requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from app.commands import COMMANDS
from app.debugger import Debugger
from app.headless import view_of
from app.views.streaming import NO_TURNS
from app.web import Registry, create_app
from app.web.folders import Folders
from app.web.layout import TABS
from app.web.pages import PAGES
from tests.browser.conftest import LiveServer, watched

DATA = Path(__file__).parents[1] / "data" / "train_steps"
MODELS: dict[str, str | Path] = {"resnet": DATA / "resnet_s.onnx", "transformer": "transformer"}
VIEWS = {"overview": "bottleneck", "why": "why", "hot": "hot", "breaks": "breaks",
         "advice": "advice", "graph": "graph", "memory": "memory", "roofline": "roofline",
         "idle": "idle", "values": "values",
         "activations": "activations"}  # fmt: skip
"""panel -> view whose sentence it shows"""
LATER = {"cancel", "load-config", "save-config", "export", "export-difference", "advise",
         "optimize", "values", "undo", "redo", "set", "compare"}  # fmt: skip
"""commands that write files or start work"""


@dataclass(frozen=True, slots=True)
class Live:
    """A page on a session."""

    page: Page
    session: Debugger
    folder: Path
    """where the page may write files"""


@pytest.fixture(scope="module", params=list(MODELS))
def live(
    request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Live]:
    session, folder = Debugger.open(MODELS[request.param]), tmp_path_factory.mktemp("files")
    app = create_app(Registry(session), folders=Folders.of(folder))
    server = LiveServer(session, app=app)
    with watched(browser, server.address) as page:
        yield Live(page, session, folder)
    server.stop()


def kernel_of(session: Debugger) -> str:
    kernels = session.run.program.kernels
    return kernels[len(kernels) // 2].id


@pytest.mark.parametrize("tab", [name for name, _, _ in TABS])
def test_panel_shows_what_the_session_says(live: Live, tab: str) -> None:
    page, session = live.page, live.session
    page.evaluate("name => window.WS.act('kernel', name)", kernel_of(session))
    page.click(f"#tab-{tab}")
    panel = page.locator(f"#fill-{tab}" if tab in PAGES else f"#panel-{tab}")
    expect(panel).to_be_visible()
    if tab in VIEWS:
        view = view_of(session, VIEWS[tab])
        expect(panel).to_contain_text(str(view.to_json()["sentence"]) if view else "nothing")
    elif tab == "turn":
        turn = session.view_streaming()
        expect(panel).to_contain_text(turn.sentence if turn else NO_TURNS)
    elif tab == "inspect":
        expect(panel).to_contain_text(kernel_of(session))
    elif tab == "kernels":
        expect(panel).to_contain_text(session.view_report().rows[0].name)
    elif tab == "report":
        expect(panel).to_contain_text(session.view_report().bottleneck)
    else:
        expect(panel).to_contain_text("Nothing is compared")


def line_of(session: Debugger, command: str) -> str:
    """Return arguments for a command on this session."""
    row, col, rows, cols = _region(session)
    given = {
        "seek": "30", "cycle": "4000", "stride": "event", "sample": "1",
        "pe": f"{row} {col}", "region": f"{row} {col} {rows} {cols}", "goto": f"{row},{col}",
        "search": kernel_of(session)[:6], "metric": "sram_live", "pan": "5 5",
        "break": "step 50", "watch": "sram > 1KB", "until": "utilization > 1%",
        "until-back": "sram > 1KB", "explain": "step 30",
        **dict.fromkeys(("enable", "disable", "once", "delete"), "1"), "ignore": "1 2",
    }  # fmt: skip
    return kernel_of(session) if command == "kernel" else given.get(command, "")


def _region(session: Debugger) -> tuple[int, int, int, int]:
    region = session.run.region(kernel_of(session))
    return region.row, region.col, region.rows, region.cols


def test_every_core_command_is_carried_out_and_the_map_follows(live: Live) -> None:
    page, session = live.page, live.session
    commands = [c.id for c in COMMANDS.values() if c.scope == "core" and c.id not in LATER]
    last = [name for name in ("enable", "disable", "once", "ignore", "delete") if name in commands]
    for name in [c for c in commands if c not in last] + last:
        page.evaluate("name => window.WS.act('kernel', name)", kernel_of(session))
        before = session.revision
        words = line_of(session, name).split()
        state = page.evaluate("([id, args]) => window.WS.run(id, args)", [name, words])
        assert not (state or {}).get("error"), f"{name}: {state['error']}"
        assert session.revision >= before
    page.evaluate("window.WS.act('metric', 'utilization')")
    page.evaluate("window.WS.act('seek', 40)")
    page.wait_for_function("window.MESH.step === 40 && window.MESH.metric === 'utilization'")
    codes = page.evaluate("() => Array.from(window.WS.mesh.scene().codes.slice(0, 40000))")
    assert bytes(codes) == session.frame_bytes("utilization", 40)[:40000]


FACES = [command for command in COMMANDS.values() if command.scope == "face"]
TAB_OF = {"hot-links": "hot", "bottleneck": "overview", "tensors": "values"}
"""commands whose panel has another name"""
DIALOGS = ("ask-search", "ask-goto", "ask-export", "command", "help")


def test_every_screen_command_is_done_by_its_key(live: Live) -> None:
    page = live.page
    tabs = [name for name, _, _ in TABS]
    for command in FACES:
        page.evaluate("window.WS.showTab('inspect')")
        page.evaluate("window.WS.toast('')")
        page.keyboard.press({"space": "Space"}.get(command.keys[0], command.keys[0]))
        tab = TAB_OF.get(command.id, command.id)
        if tab in tabs:
            expect(page.locator(f"#tab-{tab}")).to_have_attribute("aria-selected", "true")
        elif command.id in DIALOGS:
            expect(page.locator("dialog[open]"), command.id).to_have_count(1)
            page.keyboard.press("Escape")
            expect(page.locator("dialog[open]"), command.id).to_have_count(0)
        elif command.id == "play":
            expect(page.locator("#play")).to_have_attribute("aria-pressed", "true")
            page.keyboard.press("Space")
            expect(page.locator("#play")).to_have_attribute("aria-pressed", "false")
        else:
            words = "Ctrl-C" if command.id == "quit" else "steps a second"
            expect(page.locator("#toast")).to_contain_text(words)


def test_commands_that_write_files_or_start_work(live: Live) -> None:
    page, session = live.page, live.session
    done = set()

    def run(name: str, *words: str) -> None:
        state = page.evaluate("([id, args]) => window.WS.run(id, args)", [name, list(words)])
        assert not (state or {}).get("error"), f"{name}: {state['error']}"
        session.wait(60)
        done.add(name)

    before = session.run.program.samples
    run("set", "samples", str(before + 1))
    assert session.run.program.samples == before + 1
    run("save-config", "kept.yaml")
    run("undo")
    assert session.run.program.samples == before
    run("redo")
    assert session.run.program.samples == before + 1
    run("undo")
    run("load-config", "kept.yaml")
    assert session.run.program.samples == before + 1
    run("compare")
    run("export-difference", "difference.png")
    assert (live.folder / "difference.png").read_bytes().startswith(b"\x89PNG")
    run("values")
    assert session.run.computed is not None
    for name, words in (("advise", ()), ("optimize", ("1",)), ("cancel", ())):
        run(name, *words)
    with page.expect_download() as download:
        run("export", "view.csv")
    assert download.value.suggested_filename.endswith(".csv")
    assert done == LATER

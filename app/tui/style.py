"""The layout of the screens in Textual's style language."""

from __future__ import annotations

from rich.text import Text

_LIGHT = {
    "#8fdcc0": "#00705a", "#5ec962": "#2b7a2f", "#7cc8f5": "#0b66a0", "#f0e442": "#7a5c00",
    "#00e5ff": "#006b8f",
}  # fmt: skip
"""ink on a dark ground -> the same on a light one, each with a contrast of 4.5 or more"""


def relit(text: Text, theme: str) -> Text:
    """Return a text whose colours are readable on the theme's ground."""
    if theme == "dark":
        return text
    found = text.copy()
    found.style = _light(found.style) if isinstance(found.style, str) else found.style
    found.spans = [
        span._replace(style=_light(span.style)) if isinstance(span.style, str) else span
        for span in found.spans
    ]
    return found


def _light(style: str) -> str:
    return " ".join(_LIGHT.get(word, word) for word in style.split(" "))


CSS = """
MainScreen { layout: vertical; background: #0d1016; color: #d5dae2; }
#head { height: 1; background: #171c25; }
#middle { height: 1fr; }
#map { width: 1fr; height: 1fr; background: #0d1016; }
#side { width: 46; height: 1fr; background: #12161d; padding: 0 1; scrollbar-size-vertical: 1; }
.-compact #side { width: 40; }
#panel { height: auto; }
#foot { height: auto; background: #12161d; text-wrap: nowrap; text-overflow: ellipsis; }
TablePage, TextPage, PalettePage { align: center middle; background: #0d1016 60%; }
.page { width: 96%; height: auto; max-height: 92%; max-width: 150; background: #171c25;
        border: round #5a6475; padding: 0 1; }
.page DataTable { height: auto; max-height: 46vh; background: #171c25; }
.page VerticalScroll { height: auto; max-height: 70vh; }
.page .title { height: auto; margin-bottom: 1; }
.page #detail { height: auto; min-height: 2; max-height: 4; margin-top: 1; color: #8fdcc0; }
.page .foot { height: 1; }
.prompt { align: left bottom; background: #0d1016 30%; }
.prompt .line { height: auto; background: #171c25; border-top: solid #5a6475; }
App.-light MainScreen, App.-light #map { background: #fafbfc; color: #1b2430; }
App.-light #head, App.-light .page, App.-light .page DataTable { background: #e4e8ee; }
App.-light .page, App.-light .line { color: #1b2430; }
App.-light #side, App.-light #foot, App.-light .prompt .line { background: #eef1f5; }
App.-light .page #detail { color: #00705a; }
App.-light TablePage, App.-light TextPage, App.-light PalettePage { background: #fafbfc 60%; }
.page OptionList { height: auto; max-height: 60vh; background: transparent; border: none; }
App.-ascii .page { border: ascii #ffffff; }
App.-ascii .prompt .line { border-top: ascii #ffffff; }
"""

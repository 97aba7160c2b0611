"""Pages over the map: a table, a text, a line to type. They know rows and words, no debugger."""

from app.tui.pages.palette import PalettePage
from app.tui.pages.prompt import PromptPage
from app.tui.pages.table import TablePage, TableSpec
from app.tui.pages.text import TextPage

__all__ = ["PalettePage", "PromptPage", "TablePage", "TableSpec", "TextPage"]

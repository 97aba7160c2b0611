"""Pictures and tables of a run as files, byte for byte the same for the same run. No screen."""

from app.export.picture import ExportError, Picture, Request, make_picture
from app.export.write import ENDINGS, export_request, export_view

__all__ = [
    "ENDINGS", "ExportError", "Picture", "Request", "export_request", "export_view",
    "make_picture",
]  # fmt: skip

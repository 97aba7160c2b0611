"""Make the Dash app: the shell, its callbacks, its routes, its guard. Holds no state itself."""

from __future__ import annotations

from importlib import resources

from dash import Dash

from app.web.access import Access
from app.web.beside import add_beside
from app.web.callbacks import add_callbacks
from app.web.folders import Folders
from app.web.layout import page
from app.web.opening import MOST_UPLOAD_BYTES, add_opening
from app.web.recent import add_recent
from app.web.registry import Registry
from app.web.routes import make_api
from app.web.security import guard

_INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
{%metas%}
<title>{%title%}</title>
<link rel="icon" type="image/svg+xml" href="assets/mark.svg">
<script>
(function () {
  var kept = null;
  try { kept = localStorage.getItem('waferscope-theme'); } catch (error) { kept = null; }
  var dark = kept ? kept === 'dark' : !matchMedia('(prefers-color-scheme: light)').matches;
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();
</script>
{%css%}
</head>
<body>
{%app_entry%}
<footer>{%config%}{%scripts%}{%renderer%}</footer>
</body>
</html>
"""


def create_app(
    registry: Registry,
    access: Access | None = None,
    folders: Folders | None = None,
    most_upload_bytes: int = MOST_UPLOAD_BYTES,
) -> Dash:
    """Return the app of one server; `app.server` is its Flask server.

    Without `access` it answers to this machine alone; without `folders` no file can be named.
    """
    allowed, known = access or Access(), folders or Folders(())
    app = Dash(
        "waferscope",
        url_base_pathname=allowed.base,
        assets_folder=str(resources.files("app.assets")),
        title="Waferscope",
        update_title="",
        index_string=_INDEX,
        serve_locally=True,
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
    )
    guard(app.server, allowed)
    api = make_api(registry, known)
    add_opening(api, registry, known, most_upload_bytes)
    add_recent(api, registry)
    add_beside(api, registry)
    app.server.register_blueprint(api, url_prefix=f"{allowed.base}api")
    app.layout = page(registry.epoch, allowed.base)
    add_callbacks(app, registry)
    return app

"""Make the Dash app: the shell, its callbacks, its routes, its guard. Holds no state itself."""

from __future__ import annotations

from importlib import resources

from dash import Dash

from app.web.callbacks import add_callbacks
from app.web.layout import page
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


def create_app(registry: Registry) -> Dash:
    """Return the app of one server; `app.server` is its Flask server."""
    app = Dash(
        "waferscope",
        assets_folder=str(resources.files("app.assets")),
        title="Waferscope",
        update_title="",
        index_string=_INDEX,
        serve_locally=True,
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
    )
    guard(app.server)
    app.server.register_blueprint(make_api(registry))
    app.layout = page(registry.epoch)
    add_callbacks(app, registry)
    return app

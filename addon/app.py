"""The service: blueprints over one set of services, and nothing else."""

from pathlib import Path

from flask import Flask, Response, jsonify
from werkzeug.exceptions import HTTPException

from addon import hooks
from addon.environment import from_environment
from addon.jobs import routes as task_routes
from addon.refusals import http_refusal, refusal
from addon.services import Services, build
from addon.settings import Settings
from addon.sidebar import routes as sidebar_routes
from addon.store.documents import StoreError

MAX_BODY = 1_000_000
"""Bytes of a request: an event object is a few kilobytes."""


def create_app(settings: Settings | None = None, *, services: Services | None = None) -> Flask:
    """Make the WSGI application; tests hand in services of their own."""
    if services is None:
        services = build(settings or from_environment())
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False  # no page calls this service, so no browser has to ask
    app.url_map.merge_slashes = False  # a redirect would name the host that the caller claims to call
    app.extensions["services"] = services
    hooks.install(app)
    app.register_blueprint(sidebar_routes.blueprint(services), url_prefix="/sidebar")
    app.register_blueprint(task_routes.blueprint(services.tools, services.tasks, services.identity))

    @app.get("/healthz")
    def healthz() -> tuple[Response, int]:
        return jsonify({"status": "ok"}), 200

    @app.get("/readyz")
    def readyz() -> tuple[Response, int]:
        if services.stopping.is_set():
            return refusal(503, "stopping", "The process has been told to end.")
        try:
            services.documents.now()
        except StoreError:
            return refusal(503, "store", "The store does not answer.")
        return jsonify({"status": "ready"}), 200

    logo = (Path(__file__).parent / "sidebar" / "logo.png").read_bytes()

    @app.get("/logo.png")
    def logo_png() -> Response:
        """The picture that the deployment descriptor names."""
        return Response(logo, mimetype="image/png", headers={"Cache-Control": "public, max-age=86400"})

    app.register_error_handler(HTTPException, http_refusal)
    return app

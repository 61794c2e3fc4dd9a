"""What surrounds every request: its trace, its line in the log, and the headers of its answer."""

import logging
import time

from flask import Flask, Response, g, request

from addon.logs import bind, event, trace_of, unbind

log = logging.getLogger(__name__)

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Every answer is JSON for a machine: nothing is to be kept, guessed at, framed or run."""

PROBES = frozenset({"/healthz", "/readyz"})
"""Routes that are asked every few seconds: worth a line only when they say no."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def install(app: Flask) -> None:
    """Put the hooks around an application's requests."""
    app.before_request(_begin)
    app.after_request(_answered)
    app.teardown_request(_end)


def _begin() -> None:
    g.log_began = time.monotonic()
    g.log_bound = bind(**trace_of(request.headers))


def _answered(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    # The rule, not the path: what nobody routes may hold anything, and so may a query.
    route, status = request.url_rule.rule if request.url_rule else "none", response.status_code
    if route in PROBES and status == 200:
        severity = logging.DEBUG
    else:
        severity = logging.WARNING if status >= 500 else logging.INFO
    event(
        log,
        "request",
        severity=severity,
        route=route,
        method=request.method if request.method in METHODS else "other",
        status=status,
        milliseconds=(time.monotonic() - g.log_began) * 1000,
    )
    return response


def _end(_: BaseException | None) -> None:
    if token := g.pop("log_bound", None):
        unbind(token)

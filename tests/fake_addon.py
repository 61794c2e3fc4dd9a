"""A stand-in for the add-on's service: answers what a test puts in, and remembers what was posted."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Json = dict[str, Any]
Answer = Json | bytes | int | Callable[[Json], Json]
"""An object, the bytes of a body, an HTTP status, or a function of the event."""


class FakeAddOn:
    """Serves POST on a free port. ``answers`` maps the last part of a path to what it answers."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.events: list[tuple[str, Json]] = []
        self.proofs: list[str] = []
        self.locations: dict[str, str] = {}
        addon = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                addon._answer(self)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = False  # so that leaving waits for the last answer
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def function(self, name: str) -> str:
        """URL of one of its functions."""
        return f"{self.url}/sidebar/{name}"

    def button(self, text: str, name: str, **action: Any) -> Json:
        """A button that calls one of its functions."""
        return {"text": text, "onClick": {"action": {"function": self.function(name), **action}}}

    def last(self, name: str) -> Json:
        """The last event posted to a function."""
        return next(event for path, event in reversed(self.events) if path == name)

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        event = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        name = handler.path.rpartition("/")[2]
        self.events.append((name, event))
        self.proofs.append(handler.headers.get("Authorization", ""))
        answer = self.answers.get(name, 404)
        if callable(answer):
            answer = answer(event)
        handler.send_response(answer if isinstance(answer, int) else 200)
        if name in self.locations:
            handler.send_header("Location", self.locations[name])
        content = b"" if isinstance(answer, int) else answer
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def __enter__(self) -> "FakeAddOn":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End it; the port is closed then."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()


def shown(card: Json) -> Json:
    """The answer to a trigger."""
    return {"action": {"navigations": [{"pushCard": card}]}}


def clicked(*navigations: Json, **action: Any) -> Json:
    """The answer to a click."""
    return {"renderActions": {"action": {"navigations": list(navigations), **action}}}


def card(*widgets: Json, **fields: Any) -> Json:
    """A card of one section."""
    return {"header": {"title": "A card"}, "sections": [{"widgets": list(widgets)}], **fields}


def text(shown_text: str) -> Json:
    """A paragraph."""
    return {"textParagraph": {"text": shown_text}}


def gallery(addon: FakeAddOn) -> Json:
    """A card with every widget the page can draw."""
    items = [
        {"text": f"Item {number}", "value": f"v{number}", "selected": number == 1} for number in range(3)
    ]
    many = [{"text": f"Column {number}", "value": f"c{number}"} for number in range(30)]
    change = {"function": addon.function("changed"), "persistValues": True}
    return {
        "name": "gallery",
        "header": {"title": "All widgets", "subtitle": "drawn by the demo page"},
        "cardActions": [{"actionLabel": "Settings", "onClick": addon.button("", "settings")["onClick"]}],
        "sections": [
            {
                "header": "Texts",
                "widgets": [
                    text(
                        'Plain, <b>bold</b>, <i>italic</i>, <font color="#c5221f">red</font> &amp; a <a href="https://example.com/">link</a>'
                    ),
                    {
                        "decoratedText": {
                            "startIcon": {"knownIcon": "CLOCK"},
                            "topLabel": "Step 3 of 5",
                            "text": "<b>Running</b>, with a text that is long enough to wrap",
                            "bottomLabel": "started 12:01",
                            "wrapText": True,
                            "button": addon.button("Refresh", "refresh"),
                        }
                    },
                    {
                        "decoratedText": {
                            "startIcon": {"knownIcon": "EMAIL"},
                            "text": "Tell me when it is done",
                            "switchControl": {
                                "name": "tell",
                                "value": "yes",
                                "selected": True,
                                "controlType": "SWITCH",
                            },
                        }
                    },
                    {"divider": {}},
                    {"image": {"imageUrl": f"{addon.url}/none.png", "altText": "40 percent"}},
                ],
            },
            {
                "header": "Inputs",
                "widgets": [
                    {
                        "textInput": {
                            "name": "title",
                            "label": "Title",
                            "value": "Summary",
                            "hintText": "One line",
                            "validation": {"characterLimit": 80},
                        }
                    },
                    {
                        "textInput": {
                            "name": "wish",
                            "label": "Instructions",
                            "type": "MULTIPLE_LINE",
                            "value": "Two\nlines",
                        }
                    },
                    {
                        "selectionInput": {
                            "name": "boxes",
                            "label": "Boxes",
                            "type": "CHECK_BOX",
                            "items": items,
                            "onChangeAction": change,
                        }
                    },
                    {
                        "selectionInput": {
                            "name": "one",
                            "label": "One of",
                            "type": "RADIO_BUTTON",
                            "items": items,
                        }
                    },
                    {
                        "selectionInput": {
                            "name": "switches",
                            "label": "Switches",
                            "type": "SWITCH",
                            "items": items,
                        }
                    },
                    {"selectionInput": {"name": "list", "label": "List", "type": "DROPDOWN", "items": items}},
                    {
                        "selectionInput": {
                            "name": "many",
                            "label": "Many",
                            "type": "MULTI_SELECT",
                            "items": many,
                            "multiSelectMaxSelectedItems": 2,
                        }
                    },
                ],
            },
            {
                "header": "Folded",
                "collapsible": True,
                "uncollapsibleWidgetsCount": 1,
                "widgets": [
                    text("Always shown"),
                    text("Shown when unfolded"),
                    {
                        "grid": {
                            "title": "Preview",
                            "columnCount": 2,
                            "items": [
                                {"id": "r1", "title": "A2", "subtitle": "ok"},
                                {"id": "r2", "title": "A3"},
                            ],
                            "onClick": addon.button("", "tile")["onClick"],
                        }
                    },
                ],
            },
            {
                "widgets": [
                    {
                        "buttonList": {
                            "buttons": [
                                {
                                    "text": "Open log",
                                    "onClick": {"openLink": {"url": "https://example.com/log"}},
                                },
                                addon.button("Next", "next"),
                                {**addon.button("Blue", "next"), "type": "FILLED"},
                                {**addon.button("Disabled", "next"), "disabled": True},
                                {
                                    "text": "More",
                                    "onClick": {
                                        "overflowMenu": {"items": [addon.button("In the menu", "next")]}
                                    },
                                },
                            ]
                        }
                    }
                ]
            },
        ],
        "fixedFooter": {
            "primaryButton": addon.button(
                "Run", "run", requiredWidgets=["title"], parameters=[{"key": "op", "value": "start"}]
            ),
            "secondaryButton": addon.button("Cancel", "cancel"),
        },
    }

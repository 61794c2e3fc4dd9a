"""Promise 5, hunted: random texts are planted wherever content or secrets are, and looked for elsewhere.

Everything is searched as it is and as it might be disguised: base64, escaped for JSON or URLs, in UTF-16.
"""

import base64
import json
import logging
import secrets
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from recording import Recording, json_lines
from stack import QUICK, Stack, running

from addon.jobs.commands import resume
from addon.llm.base import Blocked, Fatal, Outcome, Prompt, Rejected, Text, Transient, Truncated
from addon.llm.scripted import ScriptedModel
from addon.simulator.identity import TASKS_ACCOUNT
from addon.simulator.page_events import authorization
from addon.store.documents import Documents

PLACES = (
    "cell", "japanese cell", "source title", "output title", "spreadsheet title", "tab title", "instructions",
    "answer", "sentence of a refusal", "sentence of a block", "sentence of a breakdown", "fatal sentence",
    "exception", "crash", "typed into the form", "forged token", "path",
)  # fmt: skip


def a_canary(place: str) -> str:
    """A text that is nowhere else; some are of another script."""
    if "japanese" in place:
        return "".join(chr(0x4E00 + secrets.randbelow(0x5000)) for _ in range(8))
    return f"canary{secrets.token_hex(8)}"


def disguises(text: str) -> dict[str, bytes]:
    """What to look for to find a text."""
    raw = text.encode()
    escaped = json.dumps(text)[1:-1]
    found = {
        "as it is": raw,
        "escaped": escaped.encode(),
        "escaped in capitals": escaped.upper().replace("\\U", "\\u").encode(),
        "in a URL": quote(text, safe="").encode(),
        "in UTF-16": text.encode("utf-16-le"),
        "as bytes shown": repr(raw)[2:-1].encode(),
    }
    for offset in range(3):
        coded = base64.b64encode(bytes(offset) + raw)
        core = coded[-(-offset * 4 // 3) : -4]  # without what neighbours would change
        found[f"in base64, {offset}"] = core
        found[f"in base64 for URLs, {offset}"] = core.replace(b"+", b"-").replace(b"/", b"_")
    return found


def hits(planted: dict[str, str], places: dict[str, bytes]) -> list[str]:
    """Which text was found where, and in which disguise; never the text."""
    return [
        f"{name} in {place}, {disguise}"
        for name, text in planted.items()
        for disguise, needle in disguises(text).items()
        for place, content in places.items()
        if needle in content
    ]


@contextmanager
def everything_logged() -> Iterator[StringIO]:
    """Every logger of every library at DEBUG, in full, as libraries' own handlers would write it."""
    with json_lines() as stream:
        plain = logging.StreamHandler(stream)
        plain.setFormatter(logging.Formatter("%(name)s %(message)s %(args)s"))
        logging.getLogger().addHandler(plain)
        logging.getLogger().setLevel(logging.DEBUG)
        made = logging.root.manager.loggerDict.values()
        before = [(item, item.level, item.propagate) for item in made if isinstance(item, logging.Logger)]
        for logger, _, _ in before:
            logger.setLevel(logging.DEBUG)
            logger.propagate = True
        try:
            yield stream
        finally:
            for logger, level, propagate in before:
                logger.setLevel(level)
                logger.propagate = propagate


class Scene:
    """A model and a fault point that say canaries."""

    def __init__(self, planted: dict[str, str]) -> None:
        self.planted = planted
        self.mood = "raise"
        self.crashes = 1

    def answer(self, prompt: Prompt) -> Outcome:
        """What the model says in the present mood."""
        text, said = prompt.fields[0][1], self.planted
        if self.mood == "raise":
            raise RuntimeError(f"{said['exception']} {prompt}")
        if self.mood == "fatal":
            return Fatal(f"{said['fatal sentence']} {text}")
        if self.mood == "work" and "reject" in text:
            return Rejected(f"{said['sentence of a refusal']} {text}")
        if self.mood == "work" and "block" in text:
            return Blocked(f"{said['sentence of a block']} {text}")
        if self.mood == "work" and "long" in text:
            return Truncated()
        return Text(f"{said['answer']} {text}")

    def reach(self, step: str) -> None:
        """Crash once, with a text."""
        if step == "after part upload" and self.crashes and self.mood == "work":
            self.crashes -= 1
            raise RuntimeError(self.planted["crash"])


def _work(stack: Stack, scene: Scene) -> str:
    """A job that is paused by a bug and by its provider, crashes, fails rows, and is retried; its id."""
    said, model = scene.planted, stack.model
    kinds = ["fine"] * 20 + ["reject", "block", "long"]
    texts = [f"{said['cell']} {said['japanese cell']} {kind} {n}" for n, kind in enumerate(kinds)]
    rows = [[said["source title"]], *([text] for text in [*texts, "#REF!"])]
    sid = stack.workbook(said["spreadsheet title"], rows, sheet_title=said["tab title"])
    changes: dict[str, Any] = {
        "source_columns": (said["source title"],),
        "output_column": said["output title"],
        "instructions": said["instructions"],
    }
    status = stack.run(sid, **changes)
    assert (status.status, status.reason) == ("paused", "stuck")
    scene.mood = "fatal"
    resume(stack.documents, stack.services.tasks, status.job_id)
    assert stack.wait(status.job_id).status == "paused"
    scene.mood = "work"
    model.enqueue([Transient(f"{said['sentence of a breakdown']} and more", wait=0.01, rate_limited=True)])
    resume(stack.documents, stack.services.tasks, status.job_id)
    status = stack.wait(status.job_id, until=frozenset({"done"}))
    assert (status.done, status.failed, scene.crashes) == (20, 4, 0)
    scene.mood = "better"
    stack.retry(sid, status.job_id)
    status = stack.wait(status.job_id, until=frozenset({"done"}))
    assert (status.done, status.failed) == (23, 1)
    assert all(said["answer"] in text for text in stack.column(sid, said["output title"])[:-1])
    return status.job_id


def _visit(stack: Stack, scene: Scene, sid: str) -> None:
    """Calls of the sidebar: what Google sends, what it sends broken, and what strangers send."""
    said, identity = scene.planted, stack.simulator.identity
    event = {
        "commonEventObject": {
            "hostApp": "SHEETS",
            "platform": "WEB",
            "userLocale": "en-US",
            "formInputs": {"instructions": {"stringInputs": {"value": [said["typed into the form"]]}}},
        },
        "sheets": {"addonHasFileScopePermission": True, "id": sid, "title": said["spreadsheet title"]},
    }
    post = Poster(stack.services.settings.base_url)

    def call(path: str, event: dict[str, Any]) -> int:
        proof = authorization(identity, post.url + path)
        for name in ("userOAuthToken", "systemIdToken", "userIdToken"):
            said[f"{name} of {path}"] = proof[name]
        proof["userOAuthToken"] = identity.user.token
        return post(path, {**event, "authorizationEventObject": proof}, proof["systemIdToken"])

    for action in ("home", "refresh", "choose", "run", "new", "admin"):
        assert call(f"/sidebar/{action}", event) == 200
    assert call("/sidebar/home", {**event, "commonEventObject": said["typed into the form"]}) in {200, 400}
    assert call(f"/sidebar/{said['path']}?q={said['path']}", event) == 404
    assert post("/sidebar/home", event, said["forged token"]) == 401
    assert post("/tasks/link", {"job": said["path"]}, said["forged token"]) == 401
    said["the queue's token"] = identity.id_token(f"{post.url}/tasks", TASKS_ACCOUNT)
    assert post("/tasks/link", {"job": f"{said['path']}!"}, said["the queue's token"]) == 200


class Poster:
    """Posts events by a client that logs nothing itself."""

    def __init__(self, url: str) -> None:
        self.url = url

    def __call__(self, path: str, body: object, token: str) -> int:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code


def _stored(documents: Documents, job: str, sid: str) -> str:
    """Every document there is, by the port."""
    collections = ["jobs", f"jobs/{job}/shards", f"jobs/{job}/failures", "spreadsheets"]
    collections += [f"spreadsheets/{sid}/results", f"spreadsheets/{sid}/folders"]
    found = {name: list(documents.query(name)) for name in collections}
    assert all(found.values()), [name for name in collections if not found[name]]
    return "\n".join(f"{item.path} {item.data!r}" for items in found.values() for item in items)


def test_no_content_and_no_secret_is_found_in_logs_tasks_or_the_store(
    tmp_path: Path, documents: Documents, store_kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    scene = Scene({place: a_canary(place) for place in PLACES})
    recording, payloads = Recording(documents), []

    def read(path: str, body: bytes) -> bool:
        payloads.append(path.encode() + body)
        return False

    model = ScriptedModel(default=scene.answer)
    settings = replace(QUICK, lease_ttl=1.5)
    with (
        everything_logged() as stream,
        running(
            tmp_path,
            documents=recording,  # type: ignore[arg-type]
            model=model,
            settings=settings,
            reach=scene.reach,
        ) as stack,
    ):
        stack.simulator.faults.add("tasks.create", "status", times=None, match=read)
        job = _work(stack, scene)
        sid = stack.status(job).spreadsheet_id
        _visit(stack, scene, sid)
        stored = _stored(documents, job, sid)
        identity = stack.simulator.identity
    output = capfd.readouterr()
    planted = {
        **scene.planted,
        "the user's token": identity.user.token,
        "the user's address": identity.user.email,
        "the worker's key": "".join(identity.worker_key.private.split("\n")[1:3]),
        **{f"access token {n}": token for n, token in enumerate(identity.issued)},
    }
    places = {
        "the log": stream.getvalue().encode("utf-8", "backslashreplace"),
        "what was printed": (output.out + output.err).encode("utf-8", "backslashreplace"),
        "task payloads": b"\n".join(map(_opened, payloads)),
        "writes to the store": "\n".join(recording.written).encode(),
        "the store": stored.encode(),
        **{path.name: path.read_bytes() for path in tmp_path.glob("store.*")},
    }
    assert ("store.db" in places) == (store_kind == "sqlite")
    assert len(payloads) >= 4 and len(recording.written) >= 30
    assert places["the log"].count(b'"event": "') >= 30 and b"urllib3" in places["the log"]
    assert hits(planted, places) == []


def _opened(payload: bytes) -> bytes:
    """A task as it was sent, and its body out of its base64."""
    at = payload.find(b"{")
    try:
        body = json.loads(payload[at:])["task"]["httpRequest"]["body"]
    except (ValueError, KeyError, TypeError):
        return payload
    return payload + b"\n" + base64.b64decode(body)


@pytest.mark.parametrize("disguise", ["utf-8", "json", "url", "base64", "base64 behind others", "repr"])
@pytest.mark.parametrize("place", ["cell", "japanese cell"])
def test_the_hunt_finds_a_planted_text_in_every_disguise(place: str, disguise: str) -> None:
    text = a_canary(place)
    wrapped: dict[str, Callable[[str], bytes]] = {
        "utf-8": lambda text: text.encode(),
        "json": lambda text: json.dumps({"told": text}).encode(),
        "url": lambda text: f"https://x?q={quote(text)}".encode(),
        "base64": lambda text: base64.b64encode(text.encode()),
        "base64 behind others": lambda text: base64.b64encode(f"row 7: {text}, and more".encode()),
        "repr": lambda text: repr({"told": text.encode()}).encode(),
    }
    assert hits({place: text}, {"here": b"before " + wrapped[disguise](text) + b" after"})

"""A provider with too many calls for a while, over the wire: waits, fewer calls, then slowly more again."""

import itertools
import threading
import time
from collections.abc import Iterator

import pytest
from llm_messages import KEY, Kind
from llm_wire import LlmServer
from scripted import Received, Reply

from addon.jobs import pool as pools
from addon.jobs.feed import Feed
from addon.jobs.items import Item, Page
from addon.jobs.pool import Pool
from addon.llm.base import LanguageModel
from addon.llm.gemini import ApiKey, Gemini
from addon.llm.openai import OpenAI

CALLERS = 8
ROWS = 160
WAIT = 0.3
"""Seconds the provider asks to be left alone."""

PATIENCE = 20.0


class Crowded:
    """Refuses everybody once as many call as can; then answers, and never before as many call as it expects.

    Since it holds calls until so many are in flight, a pool that keeps fewer would make it lose patience,
    and one that keeps more is seen.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.refused = threading.Barrier(CALLERS)
        self.calls = itertools.count()
        self.moments: list[float] = []
        self.crowds: list[int] = []
        self.expected = CALLERS // 2
        self.impatient = False
        self.server: LlmServer | None = None

    def answer(self, request: Received) -> Reply | None:
        server = self.server
        assert server is not None
        number = next(self.calls)
        if number < CALLERS:
            self.refused.wait(PATIENCE)  # all of them are in flight
            self.moments.append(time.monotonic())
            return self.refusal()
        self.moments.append(time.monotonic())
        with server.changed:
            if number < CALLERS + CALLERS // 2:  # time enough for one too many to come
                server.changed.wait_for(lambda: server.in_flight > CALLERS // 2, 0.5)
            late = not server.changed.wait_for(lambda: server.in_flight >= self.expected, PATIENCE)
            self.impatient = self.impatient or late
            self.crowds.append(server.in_flight)
        return None

    def expect(self, answered: int) -> None:
        """Half as many at first; all once they had the time to grow; any number for the last rows."""
        assert self.server is not None
        with self.server.changed:
            if answered > ROWS - 3 * CALLERS:
                self.expected = 1
            elif answered > ROWS // 2:
                self.expected = CALLERS
            self.server.changed.notify_all()

    def refusal(self) -> Reply:
        if self.kind == "openai":
            error = {"message": "slow down", "type": "requests", "code": "rate_limit_exceeded"}
            return Reply(429, {"error": error}, headers={"retry-after-ms": str(int(WAIT * 1000))})
        info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{WAIT}s"}
        return Reply(429, {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [info]}})


@pytest.fixture(params=["gemini", "openai"])
def crowded(request: pytest.FixtureRequest) -> Iterator[Crowded]:
    made = Crowded(request.param)
    with LlmServer(request.param, answer=made.answer).running() as server:
        made.server = server
        yield made


def model_of(server: LlmServer) -> LanguageModel:
    if server.kind == "gemini":
        return Gemini("gemini-2.5-flash", ApiKey(KEY, server.url))
    return OpenAI("gpt-4o-mini", KEY, server.url)


def test_a_rate_limit_is_waited_out_then_calls_are_half_as_many_and_grow_back_and_no_row_is_lost(
    crowded: Crowded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "FIRST_PAUSE", 0.05)
    server = crowded.server
    assert server is not None
    feed = Feed(CALLERS, ROWS, 0.0, time.monotonic)
    pool = Pool(feed, model_of(server), "Summarise.", CALLERS, PATIENCE, jitter=lambda: 0.0)
    texts = [f"row {number} of them" for number in range(ROWS)]
    for text in texts:
        feed.offer(Item(text, (("Text", text),), [(Page(9), 1)]))
    answers: dict[str, object] = {}
    end = time.monotonic() + 4 * PATIENCE
    while len(answers) < ROWS and time.monotonic() < end:
        batch = feed.batch(0.05)
        feed.committed([(one, "made") for one in batch])
        answers |= {one.key: one.answer for one in batch}
        crowded.expect(len(answers))
    pool.stop()
    assert not crowded.impatient, "fewer calls at once than half, or they never grew back"
    assert sorted(answers) == sorted(texts)
    assert [getattr(answers[text], "text", None) for text in texts] == [
        f"summary of {text}" for text in texts
    ]
    first = crowded.crowds[:CALLERS]
    assert max(first) <= CALLERS // 2, "as many calls as before"
    assert max(crowded.crowds) == CALLERS, "calls did not grow back"
    assert min(crowded.moments[CALLERS:]) - max(crowded.moments[:1]) >= WAIT, (
        "called before the wait was over"
    )
    counts = server.counts()
    assert (counts["calls"], counts["rows"], counts["repeated"]) == (ROWS + CALLERS, ROWS, 0)
    assert (pool.fatal, pool.suspended) == (None, None)

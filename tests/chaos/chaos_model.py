"""A hosted model that is slow, says no, loses answers, and remembers every call."""

import hashlib
import threading
import time
from collections import Counter
from dataclasses import dataclass

from llm_messages import row_of
from llm_wire import LlmServer
from scripted import Received, Reply

MOST_TROUBLE = 2
"""Calls of one text that may go wrong, so that none is given up as `model_error` (four tries)."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call as the provider saw it; ``paid`` where it answered, whether anybody heard it or not."""

    text: str
    at: float
    paid: bool


class Provider:
    """Decides every answer from the seed, the text and how often it came: the same again for the same seed.

    Parameters
    ----------
    trouble
        Share of first and second calls that go wrong.
    latency, slow
        Seconds an answer takes, and one that the client does not wait for.
    """

    def __init__(self, seed: int, *, latency: float, slow: float, trouble: float) -> None:
        self.calls: list[Call] = []
        self.faults: Counter[str] = Counter()
        self.server = LlmServer("openai", answer=self._answer)
        self._seed, self._latency, self._slow, self._trouble = seed, latency, slow, trouble
        self._came: Counter[str] = Counter()
        self._lock = threading.Lock()

    def _answer(self, request: Received) -> Reply | None:
        text = " ".join(cell["text"] for cell in row_of("openai", request.json))
        began = time.monotonic()
        with self._lock:
            number = self._came[text]
            self._came[text] += 1
            kind = self._kind(text, number)
            self.calls.append(Call(text, began, kind in {"good", "slow", "lost"}))
            self.faults[kind] += kind != "good"
        time.sleep(self._slow if kind == "slow" else self._latency)
        return {
            "429": Reply(429, {"error": {"message": "slow down"}}, headers={"Retry-After": "1"}),
            "500": Reply(500, {"error": {"message": "oops"}}),
            "lost": Reply(lost=True),
        }.get(kind)

    def _kind(self, text: str, number: int) -> str:
        drawn = hashlib.sha256(f"{self._seed} {number} {text}".encode()).digest()
        if number >= MOST_TROUBLE or drawn[0] >= 256 * self._trouble:
            return "good"
        return ("429", "500", "slow", "lost")[drawn[1] % 4]

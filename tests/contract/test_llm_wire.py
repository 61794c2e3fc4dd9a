"""The provider for whole programs: a process of its own that can be counted and spoiled from outside."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests
from llm_messages import KEY
from llm_wire import LlmServer

from addon.llm.base import LanguageModel, Prompt, Text, Transient
from addon.llm.gemini import ApiKey, Gemini
from addon.llm.openai import OpenAI

SCRIPT = Path(__file__).parent.parent / "llm_wire.py"


@contextmanager
def process(kind: str) -> Iterator[str]:
    command = [sys.executable, str(SCRIPT), "--kind", kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            yield running.stdout.readline().strip()
        finally:
            running.kill()


@pytest.mark.parametrize("kind", ["gemini", "openai"])
def test_a_process_answers_counts_and_can_be_told_to_fail(kind: str) -> None:
    with process(kind) as url:
        root = url.removesuffix("/v1")
        model: LanguageModel = OpenAI("gpt-4o-mini", KEY, url)
        if kind == "gemini":
            model = Gemini("gemini-2.5-flash", ApiKey(KEY, url))
        fault = {"answers": 2, "status": 503, "body": {"error": {}}, "headers": {"Retry-After": "3"}}
        requests.post(f"{root}/faults", json=fault, timeout=10)
        prompt = Prompt("Summarise.", (("Text", "a b c"),))
        outcomes = [model.summarise(prompt, 10.0) for _ in range(4)]
        assert outcomes[:2] == [Transient("server_error", 3.0)] * 2
        assert [outcome.text for outcome in outcomes[2:] if isinstance(outcome, Text)] == [
            "summary of a b c"
        ] * 2
        assert requests.get(f"{root}/counts", timeout=10).json() == {
            "calls": 4,
            "answered": 2,
            "rows": 1,
            "repeated": 1,
            "most_at_once": 1,
            "faults_left": 0,
            "problems": [],
        }


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"unknown": 1}, 400),
        ({"contents": [{"parts": [{"text": "[]"}]}]}, 400),
        ({"systemInstruction": {"parts": [{"text": ""}]}}, 400),
        ({"generationConfig": {"thinkingConfig": {"thinkingLevel": "low"}}}, 400),
        ({"generationConfig": {"maxTokens": 3}}, 400),
        ({"contents": [{"role": "user", "parts": [{"text": "\ud83d"}]}]}, 400),
        ({}, 200),
    ],
)
def test_requests_that_google_would_refuse_are_refused(change: dict[str, object], status: int) -> None:
    body: dict[str, object] = {
        "systemInstruction": {"parts": [{"text": "Summarise."}]},
        "contents": [{"role": "user", "parts": [{"text": '[{"column": "a", "text": "b"}]'}]}],
    }
    with LlmServer("gemini").running() as server:
        url = f"{server.url}/v1beta/models/gemini-2.5-flash:generateContent"
        answer = requests.post(url, json={**body, **change}, headers={"x-goog-api-key": KEY}, timeout=10)
        assert answer.status_code == status
        assert len(server.problems) == (status != 200)

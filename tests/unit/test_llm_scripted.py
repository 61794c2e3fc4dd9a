"""The scripted model: a test can hold, count and order calls, also those of killed processes."""

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from addon.llm.base import Blocked, Empty, Fatal, LanguageModel, Prompt, Text, Transient, Usage
from addon.llm.scripted import ScriptedModel, fields_digest, read_call_log


def row(text: str) -> Prompt:
    return Prompt("Summarise", (("text", text),))


@pytest.fixture
def in_threads():
    """Run calls in threads; the pool is shut down after the test."""
    with ThreadPoolExecutor(16) as pool:
        yield pool.submit


def test_default_answer_comes_from_the_prompt():
    model: LanguageModel = ScriptedModel()
    text = "The projector in the large room shows a purple picture"
    assert model.summarise(row(text), 1.0) == Text(
        "summary of The projector in the large room shows a", Usage(len(text), 50)
    )
    assert model.summarise(row(" \n"), 1.0) == Empty(Usage(2, 0))


def test_enqueued_outcomes_come_first_then_the_default():
    model = ScriptedModel(default=lambda prompt: Fatal("key") if "bad" in prompt.fields[0][1] else None)
    model.enqueue([Blocked("SAFETY"), Transient("rate_limited", wait=3.0)])
    assert model.unused == 2
    outcomes = [model.summarise(row(text), 1.0) for text in ("a", "b", "bad", "d")]
    assert outcomes == [
        Blocked("SAFETY"),
        Transient("rate_limited", wait=3.0),
        Fatal("key"),
        Text("summary of d", Usage(1, 12)),
    ]
    assert model.unused == 0


def test_history_tells_order_and_counts():
    model = ScriptedModel()
    for text in ("a", "b", "a"):
        model.summarise(row(text), 1.0)
    assert [(call.prompt, call.started, call.ended) for call in model.calls] == [
        (row("a"), 1, 2),
        (row("b"), 3, 4),
        (row("a"), 5, 6),
    ]
    assert model.calls_by_key == {fields_digest(row("a")): 2, fields_digest(row("b")): 1}
    assert (model.count(row("a")), model.count(row("x")), model.max_concurrent) == (2, 0, 1)


def test_event_gate_holds_calls_in_flight_until_opened(in_threads: Callable):
    gate = threading.Event()
    model = ScriptedModel(gate=gate)
    futures = [in_threads(model.summarise, row(str(number)), 10.0) for number in range(5)]
    assert model.wait_until_in_flight(5)
    assert not any(future.done() for future in futures)
    gate.set()
    assert [future.result(10) for future in futures] == [
        Text(f"summary of {number}", Usage(1, 12)) for number in range(5)
    ]
    assert (model.max_concurrent, model.in_flight) == (5, 0)


def test_semaphore_gate_lets_calls_through_one_by_one(in_threads: Callable):
    gate = threading.Semaphore(0)
    model = ScriptedModel(gate=gate)
    first, second = (in_threads(model.summarise, row(text), 10.0) for text in "ab")
    assert model.wait_until_in_flight(2)
    gate.release()
    assert model.wait_until_ended(1)
    assert model.in_flight == 1
    gate.release()
    assert {first.result(10), second.result(10)} == {
        Text("summary of a", Usage(1, 12)),
        Text("summary of b", Usage(1, 12)),
    }


def test_call_held_past_its_timeout_is_transient():
    assert ScriptedModel(gate=threading.Event()).summarise(row("a"), 0.01) == Transient("timeout")
    assert ScriptedModel(gate=threading.Semaphore(0)).summarise(row("a"), 0.01) == Transient("timeout")
    assert ScriptedModel(latency=60.0).summarise(row("a"), 0.01) == Transient("timeout")


def test_script_that_raises_still_ends_its_call():
    def broken(prompt: Prompt) -> None:
        raise RuntimeError("bug in an adapter")

    model = ScriptedModel(default=broken)
    with pytest.raises(RuntimeError, match="bug in an adapter"):
        model.summarise(row("a"), 1.0)
    (call,) = model.calls
    assert (call.ended, call.outcome, model.in_flight) == (2, None, 0)


def test_many_threads_lose_no_call_and_no_outcome(in_threads: Callable):
    model = ScriptedModel()
    model.enqueue(Text(str(number)) for number in range(200))
    futures = [in_threads(model.summarise, row("same"), 10.0) for _ in range(200)]
    assert {future.result(10) for future in futures} == {Text(str(number)) for number in range(200)}
    assert [call.outcome for call in model.calls] == [Text(str(number)) for number in range(200)]
    assert model.count(row("same")) == 200
    order = [call.started for call in model.calls] + [call.ended for call in model.calls]
    assert sorted(order) == list(range(1, 401))


KILLED = """
import sys, threading
from pathlib import Path
from addon.llm.base import Prompt
from addon.llm.scripted import ScriptedModel
log = Path(sys.argv[1])
ScriptedModel(log=log).summarise(Prompt("", (("text", "secret done"),)), 1.0)
held = ScriptedModel(log=log, gate=threading.Event())
prompt = Prompt("", (("text", "secret held"),))
threading.Thread(target=held.summarise, args=(prompt, 600.0), daemon=True).start()
held.wait_until_in_flight(1)
print("held", flush=True)
threading.Event().wait(600)
"""


def test_log_counts_the_calls_of_a_killed_process_and_holds_no_text(tmp_path: Path):
    log = tmp_path / "calls.log"
    for _ in range(2):
        command = [sys.executable, "-c", KILLED, str(log)]
        root = Path(__file__).parents[2]
        with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            process.send_signal(signal.SIGKILL)
            process.wait(10)
    done, held = fields_digest(row("secret done")), fields_digest(row("secret held"))
    counts = read_call_log(log)
    assert (counts.started, counts.ended) == ({done: 2, held: 2}, {done: 2})
    assert counts.interrupted == {held: 2}
    assert "secret" not in log.read_text("ascii")


def test_log_is_read_without_its_torn_last_line_and_missing_means_no_calls(tmp_path: Path):
    log = tmp_path / "calls.log"
    assert read_call_log(log).started == {}
    ScriptedModel(log=log).summarise(row("a"), 1.0)
    with log.open("a") as file:
        file.write("start 12")
    assert read_call_log(log).started == {fields_digest(row("a")): 1}


def test_digest_depends_on_the_fields_alone_and_keeps_their_borders():
    assert fields_digest(Prompt("x", (("t", "a"),))) == fields_digest(Prompt("y", (("t", "a"),)))
    assert fields_digest(Prompt("", (("t", "ab"),))) != fields_digest(Prompt("", (("ta", "b"),)))
    assert len(fields_digest(row("\ud800"))) == 64

"""One round: many jobs at once, faults while they run, calm, and the facts for the audit."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import requests
from chaos_audit import Facts
from chaos_plan import Fault
from chaos_world import World
from workspace import button, form_of

from addon.jobs.chain import read_shards
from addon.jobs.records import Job, results_path
from addon.jobs.status import job_status
from addon.models import open_model
from addon.rows.keys import idempotency_key
from addon.settings import Settings
from addon.store.documents import Documents, StoreError

INSTRUCTIONS = "Summarise."
LOOK_EVERY = 2.0
"""Seconds between two looks at what is committed."""
TROUBLE = (requests.RequestException, AssertionError, StoreError, ValueError, KeyError, StopIteration)
"""What a click or a look may meet while everything around it is being broken; it is tried again."""


class Round:
    """The jobs of a world, and what happens to them."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.documents: Documents = world.documents()
        self.happened: Counter[str] = Counter()
        self.committed: dict[str, float] = {}
        self.problems: list[str] = []
        self._ended = threading.Event()
        model = open_model(
            Settings(model="openai:gpt-4o-mini", model_key="-", model_endpoint="http://127.0.0.1")
        )
        self._keys = {
            idempotency_key(model.name, model.settings, INSTRUCTIONS, [("text", text)]): text
            for texts in world.wanted.values()
            for text in filter(None, texts)
        }

    # the jobs

    def start_all(self) -> None:
        """Everybody clicks at once, and clicks the same button again where no answer comes."""
        with ThreadPoolExecutor(len(self.world.wanted)) as people:
            list(people.map(self._start, self.world.wanted))

    def _start(self, spreadsheet: str) -> None:
        person, end, card = self.world.person(spreadsheet), time.monotonic() + 60, None
        while True:
            try:
                card = card or person.home()
                person.click(button(card, "Run summaries"), form_of(card) | {"instructions": [INSTRUCTIONS]})
                return
            except TROUBLE as error:
                if time.monotonic() > end:
                    self.problems.append(f"no answer to a click ({type(error).__name__})")
                    return
                time.sleep(0.3)

    def jobs(self) -> dict[str, Job]:
        """All jobs by id."""
        return {item.id: Job.from_data(item.data) for item in self.documents.query("jobs")}

    def over(self) -> bool:
        """Whether every spreadsheet has a job and none has anything left to do."""
        with suppress(StoreError):
            found = self.jobs().values()
            return len(found) >= len(self.world.wanted) and all(
                job.status in {"done", "cancelled", "paused"} for job in found
            )
        return False

    def settle(self, patience: float) -> None:
        """Wait until all is over and put away, or for as long as one would wait."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            with suppress(*TROUBLE):
                if self.over() and not (self._tasks() or self._shared()):
                    return
                if any(job.status == "paused" for job in self.jobs().values()):
                    return  # nothing more will come of it
            time.sleep(0.3)

    # the faults

    def suffer(self, faults: Iterator[Fault], kills: int, end: float) -> None:
        """Let faults happen until all jobs are over, so many processes were killed, or it is ``end``."""
        checked = 0.0
        while self.happened["kills"] < kills:
            fault = next(faults)
            time.sleep(fault.wait)
            if time.monotonic() > end or (time.monotonic() - checked > 1 and self.over()):
                return
            checked = time.monotonic()
            with suppress(requests.RequestException, AssertionError):  # the simulator may be down
                self._happen(fault)

    def _happen(self, fault: Fault) -> None:
        how, world = fault.how or {}, self.world
        if fault.kind == "kill":
            kill = world.kill_service if fault.what == "service" else world.kill_worker
            if not kill(how["victim"]):
                return
            self.happened["kills"] += 1
        elif fault.kind == "simulator":
            world.restart_simulator()
        elif fault.kind == "store":
            world.store_fault(fault.what, how["seconds"])
        elif fault.kind == "disk":
            if not world.fill_disk(how["victim"], how["seconds"]):
                return
        else:
            world.control("POST", "faults", how)
        self.happened[f"{fault.kind} {fault.what}".strip()] += 1

    # the facts

    def watch(self) -> None:
        """Note what is committed, again and again, until `stop`."""
        while not self._ended.wait(LOOK_EVERY):
            with suppress(StoreError):
                self._look()

    def stop(self) -> None:
        """Watch no longer."""
        self._ended.set()

    def _look(self) -> frozenset[str]:
        found = {
            self._keys[item.id]
            for sheet in self.world.wanted
            for item in self.documents.query(results_path(sheet))
        }
        now = time.monotonic()
        for text in found:
            self.committed.setdefault(text, now)
        return frozenset(found)

    def facts(self) -> Facts:
        """What is left."""
        jobs, world = self.jobs(), self.world
        results, told, leases = self._look(), {}, []
        for job_id, job in jobs.items():
            status = job_status(self.documents, job_id)
            assert status is not None
            told[job_id] = (
                job.spreadsheet_id,
                " ".join(filter(None, (job.status, job.reason))),
                status.repeated,
            )
            shards = read_shards(self.documents, job_id, job)
            leases += [f"{job_id}/{number}" for number, shard in shards.items() if shard.owner]
        for item in self.documents.query("spreadsheets"):
            if item.data.get("active_job"):
                leases.append(f"{item.path} active")
        leases += [item.path for item in self.documents.query("locks") if item.data.get("owner")]
        return Facts(
            wanted=world.wanted,
            shown={sheet: world.cells(sheet) for sheet in world.wanted},
            calls=list(world.provider.calls),
            committed=dict(self.committed),
            results=results,
            jobs=told,
            leases=leases,
            tasks=self._tasks(),
            shared=self._shared(),
        )

    def _tasks(self) -> list[str]:
        return list(self.world.control("GET", "queue")["pending"])

    def _shared(self) -> list[str]:
        """Spreadsheets that the index says the worker still reaches."""
        return [item.id for item in self.documents.query("spreadsheets") if item.data.get("shared")]

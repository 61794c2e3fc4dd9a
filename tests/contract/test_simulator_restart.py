"""What the simulator has answered is there after kill -9."""

import json
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from simulated import QUEUE, Api, Receiver, error, task, write

from addon.simulator.server import Simulator
from addon.simulator.state import StateInUse

TASKS = f"/v2/{QUEUE}/tasks"


class Process:
    """A simulator in a process of its own."""

    def __init__(self, state: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "addon.simulator", "--state", str(state), *options],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"it ended with {self.process.wait(10)}"
        self.ready = json.loads(line)
        identity = json.loads((state / "identity.json").read_text())
        self.api = Api(self.ready["url"], identity["user"]["token"])

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(10)

    def close(self) -> None:
        self.api.session.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()


@contextmanager
def running(state: Path, *options: str) -> Iterator[Process]:
    process = Process(state, *options)
    try:
        yield process
    finally:
        process.close()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def test_cells_files_permissions_and_ids_survive_a_kill(state: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("id,text\n1,one\n2,二\n", encoding="utf-8")
    with running(state, "--open", str(table)) as first:
        sid = first.ready["spreadsheets"][str(table)]
        sort = {
            "sortRange": {
                "range": {"sheetId": 0, "startRowIndex": 1},
                "sortSpecs": [{"dimensionIndex": 0, "sortOrder": "DESCENDING"}],
            }
        }
        assert first.api.change(sid, sort, write(1, 2, "=kept"), write(4, 0, "far")).ok
        (file_id,) = first.api.ok("GET", "/drive/v3/files/generateIds", params={"count": "1"})["ids"]
        first.api.ok("POST", "/drive/v3/files", {"id": file_id, "name": "part.csv"})
        assert first.api.upload({}, b"content", file_id).ok
        grant = {"type": "user", "role": "writer", "emailAddress": "a@example.com"}
        first.api.ok("POST", f"/drive/v3/files/{sid}/permissions", grant)
        assert first.end(signal.SIGKILL) == -signal.SIGKILL
    with running(state, "--open", str(table)) as second:
        assert second.ready["spreadsheets"] == {str(table): sid}
        assert second.api.values(sid) == [["id", "text"], ["2", "二", "=kept"], ["1", "one"], [], ["far"]]
        content = second.api("GET", f"/drive/v3/files/{file_id}", params={"alt": "media"}).content
        assert content == b"content"
        assert second.api("POST", "/drive/v3/files", {"id": file_id}).status_code == 409
        assert len(second.api.ok("GET", f"/drive/v3/files/{sid}/permissions")["permissions"]) == 2
        assert second.end(signal.SIGTERM) == 0


def test_pending_tasks_and_one_in_delivery_are_delivered_after_a_kill(state: Path) -> None:
    hold = threading.Event()
    with Receiver(hold=hold) as service, running(state) as first:
        first.api.ok("POST", TASKS, task(service.url, "in-delivery"))
        service.wait(1)
        first.api.ok("POST", f"/v2/{QUEUE}:pause")
        first.api.ok("POST", TASKS, task(service.url, "waiting"))
        first.end(signal.SIGKILL)
        hold.set()
        with running(state) as second:
            service.wait(2)
            names = zip(service.headers("TaskName"), service.headers("TaskRetryCount"), strict=True)
            assert sorted(names) == [("in-delivery", "0"), ("in-delivery", "1"), ("waiting", "0")]
            for name in ("in-delivery", "waiting"):
                error(second.api("POST", TASKS, task(service.url, name)), 409)


def test_deliveries_go_on_while_the_disk_is_full_and_are_kept_again_afterwards(state: Path) -> None:
    with Receiver(statuses=[503]) as service, running(state) as one:
        one.api.ok("POST", f"/v2/{QUEUE}:pause")
        for name in ("first", "second"):
            one.api.ok("POST", TASKS, task(service.url, name))
        full(one.process.pid, 0)
        assert one.api("POST", TASKS, task(service.url, "too-much")).status_code == 500
        one.api.ok("POST", f"/v2/{QUEUE}:resume")
        service.wait(3)
        assert sorted(service.headers("TaskName")) == ["first", "first", "second"]
        full(one.process.pid, resource.RLIM_INFINITY)
        one.api.ok("POST", TASKS, task(service.url, "later"))
        service.wait(1)
        assert service.headers("TaskName")[3:] == ["later"]


def full(pid: int, size: int) -> None:
    """Let a process write files of so many bytes at most: nothing, as if the disk were full."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_names_stay_taken_after_a_restart(tmp_path: Path) -> None:
    with Receiver() as service:
        for expected in (200, 409):
            with Simulator(tmp_path / "state") as simulator:
                api = Api(simulator.url, simulator.identity.user.token)
                with api.session:
                    assert api("POST", TASKS, task(service.url, "once")).status_code == expected
                    assert simulator.queue.wait_idle()
    assert len(service.got) == 1


def test_it_ends_with_its_parent_and_on_sigint(state: Path) -> None:
    with running(state, "--exit-with-stdin") as first:
        assert first.process.stdin is not None
        first.process.stdin.close()
        assert first.process.wait(10) == 0
    with running(state) as second:
        assert second.end(signal.SIGINT) == 0


def test_a_folder_is_used_by_one_simulator_at_a_time(tmp_path: Path) -> None:
    with Simulator(tmp_path / "state"), pytest.raises(StateInUse, match="Another simulator"):
        Simulator(tmp_path / "state")
    with Simulator(tmp_path / "state"):
        pass


def test_tokens_are_kept_and_are_for_the_owner_only(tmp_path: Path) -> None:
    with Simulator(tmp_path / "state") as first:
        identity = first.identity
    with Simulator(tmp_path / "state") as second:
        assert second.identity == identity
        assert second.identity_file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_opened_is_one_sentence(state: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "addon.simulator",
        "--state",
        str(state),
        "--open",
        str(tmp_path / "no.csv"),
    ]
    ended = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=30, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr == f"simulator: There is no file {tmp_path / 'no.csv'}; check its name.\n"


def test_content_nobody_names_is_removed(tmp_path: Path) -> None:
    """A crash between writing content and naming it leaves a file that nothing needs."""
    with Simulator(tmp_path / "state") as first:
        kept = first.files.add("you@example.com", "a", "text/csv", content=b"kept")
        (tmp_path / "state" / "drive" / "orphan.1").write_bytes(b"x")
    with Simulator(tmp_path / "state") as second:
        assert second.files.read(kept) == b"kept"
        assert len(list((tmp_path / "state" / "drive").iterdir())) == 1

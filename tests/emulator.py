"""Stores for tests: SQLite, and the official Firestore emulator, started once per run where it is installed.

The Firestore tests are skipped without the emulator, unless ``ADDON_TEST_REQUIRE`` names ``emulator``: then
they fail. An emulator at ``FIRESTORE_EMULATOR_HOST`` is used as it is.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from addon.store.documents import Documents
from addon.store.firestore import FirestoreDocuments
from addon.store.sqlite import SqliteDocuments

DEBIAN = Path("/usr/lib/google-cloud-sdk/platform/cloud-firestore-emulator/cloud_firestore_emulator")
START_SECONDS = 60.0


def emulator_command() -> list[str] | None:
    """How to start the emulator, but for its address; ``None`` where it is not installed."""
    if not (shutil.which("java") or os.environ.get("JAVA")):
        return None
    if DEBIAN.exists():
        return [str(DEBIAN), "start"]
    gcloud = shutil.which("gcloud")
    if gcloud is None:
        return None
    root = subprocess.run(
        [gcloud, "info", "--format=value(installation.sdk_root)"], capture_output=True, text=True, check=False
    ).stdout.strip()
    script = Path(root) / "platform" / "cloud-firestore-emulator" / "cloud_firestore_emulator"
    return [str(script), "start"] if script.exists() else None


@contextmanager
def running_emulator() -> Iterator[str]:
    """Run the emulator on a free port of the loopback and give its address."""
    command = emulator_command()
    if command is None:
        raise FileNotFoundError("The Firestore emulator is not installed.")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [*command, "--host=127.0.0.1", f"--port={port}"],
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # the script leaves its Java child behind unless the whole group is ended
        )
        try:
            _await_port(process, port)
            yield f"127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _await_port(process: "subprocess.Popen[bytes]", port: int) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"The Firestore emulator ended at once with status {process.returncode}.")
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"The Firestore emulator did not listen within {START_SECONDS:g} s.")


def emulator_is_required() -> bool:
    """Whether this run must not skip the emulator's tests."""
    return "emulator" in re.split(r"[,\s]+", os.environ.get("ADDON_TEST_REQUIRE", ""))


@pytest.fixture(scope="session")
def firestore_emulator() -> Iterator[str]:
    """Address of a running emulator; also in ``FIRESTORE_EMULATOR_HOST`` while the run lasts."""
    given = os.environ.get("FIRESTORE_EMULATOR_HOST")
    if given:
        yield given
        return
    if emulator_command() is None:
        text = (
            "The official Firestore emulator is not installed: the Firestore half of the tests did not run."
        )
        if emulator_is_required():
            pytest.fail(text)
        pytest.skip(text)
    with running_emulator() as address:
        os.environ["FIRESTORE_EMULATOR_HOST"] = address
        try:
            yield address
        finally:
            del os.environ["FIRESTORE_EMULATOR_HOST"]


@pytest.fixture(params=["sqlite", pytest.param("firestore", marks=pytest.mark.emulator)])
def store_kind(request: pytest.FixtureRequest) -> str:
    """The two stores a test runs against."""
    if request.param == "firestore":
        request.getfixturevalue("firestore_emulator")
    return str(request.param)


OpenStore = Callable[[], Documents]


@pytest.fixture
def open_documents(store_kind: str, tmp_path: Path) -> Iterator[OpenStore]:
    """Opens the same empty store any number of times, as several workers would."""
    project = f"t-{uuid.uuid4().hex[:20]}"  # a project of its own isolates a test in a shared emulator
    opened: list[Documents] = []

    def open_store() -> Documents:
        if store_kind == "sqlite":
            opened.append(SqliteDocuments(tmp_path / "store.db", strict=True))
        else:
            opened.append(FirestoreDocuments(project, strict=True))
        return opened[-1]

    yield open_store
    for documents in opened:
        documents.close()


@pytest.fixture
def documents(open_documents: OpenStore) -> Documents:
    """An empty store."""
    return open_documents()

"""What was ever said or written: to the store, and to the log."""

import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

from addon.loglines import configure
from addon.store.documents import Documents, Transaction


class Recording:
    """A store that remembers everything that was ever given to it to be written."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self.written: list[str] = []

    def transact(self, work: Callable[[Transaction], Any], **options: Any) -> Any:
        """Run the body on a transaction that is listened to."""

        def listened(tx: Transaction) -> Any:
            for verb in ("create", "update", "set"):
                setattr(tx, verb, self._listen(getattr(tx, verb)))
            return work(tx)

        return self._documents.transact(listened, **options)

    def _listen(self, write: Callable[..., None]) -> Callable[..., None]:
        def note(path: str, data: Any) -> None:
            self.written.append(f"{path} {data!r}")
            write(path, data)

        return note

    def __getattr__(self, name: str) -> Any:
        return getattr(self._documents, name)


@contextmanager
def logging_restored() -> Iterator[None]:
    """Undo whatever the block does to the configuration of logging."""
    root, ours, hooks = (
        logging.getLogger(),
        logging.getLogger("addon"),
        (threading.excepthook, sys.excepthook),
    )
    before = (list(root.handlers), root.level, ours.level)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.handlers[:], _, _ = before
        root.setLevel(before[1])
        ours.setLevel(before[2])
        threading.excepthook, sys.excepthook = hooks


@contextmanager
def json_lines(project: str = "a-project") -> Iterator[StringIO]:
    """Log as in production until the block ends; what was written."""
    with logging_restored():
        stream = StringIO()
        configure("json", project, stream)
        yield stream

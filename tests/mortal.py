"""Workers that die, freeze or miss an answer at a fault point, as whole processes do.

A *life* begins when a link has claimed its shard (or when a test begins a click in one), and all of that
link's threads belong to it. Whatever a life does to the store, to Google or to the model goes through a
`Mortal`: a dead life does nothing any more, a frozen one waits until it is thawed.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from addon.google.access import UserAccess, WorkerAccess
from addon.google.errors import TryAgain
from addon.jobs.steps import Step
from addon.llm.base import Transient
from addon.logs import belonging, bind, bound
from addon.services import Services
from addon.store.documents import Documents, Snapshot, Unavailable

PATIENCE = 60.0


class Killed(Exception):
    """Thrown wherever a dead life would go on."""


class MovableClock:
    """A store whose clock a test can move forward; everything else is the store's."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self.ahead = timedelta()

    def now(self) -> datetime:
        return self._documents.now() + self.ahead

    def get(self, path: str) -> Snapshot | None:
        return self.get_many([path]).get(path)

    def get_many(self, paths: Any) -> dict[str, Snapshot]:
        return {path: self._moved(item) for path, item in self._documents.get_many(paths).items()}

    def query(self, *args: Any, **options: Any) -> Iterator[Snapshot]:
        return map(self._moved, self._documents.query(*args, **options))

    def transact(self, work: Callable[[Any], Any], **options: Any) -> Any:
        return self._documents.transact(lambda tx: work(_Transaction(tx, self.ahead)), **options)

    def _moved(self, snapshot: Snapshot) -> Snapshot:
        return replace(snapshot, read_time=snapshot.read_time + self.ahead)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._documents, name)


class _Transaction:
    def __init__(self, tx: Any, ahead: timedelta) -> None:
        self._tx = tx
        self._ahead = ahead

    @property
    def now(self) -> datetime:
        return self._tx.now + self._ahead  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)


class _Unmoved:
    """The queue, to which times are told as they really are."""

    def __init__(self, tasks: Any, clock: MovableClock) -> None:
        self._tasks = tasks
        self._clock = clock

    def enqueue(self, *args: Any, not_before: datetime | None = None) -> bool:
        at = None if not_before is None else not_before - self._clock.ahead
        return self._tasks.enqueue(*args, not_before=at)  # type: ignore[no-any-return]


LOSABLE = {
    "documents": frozenset({"transact"}),
    "drive": frozenset({"update", "create_file"}),
    "sheets": frozenset({"write"}),
    "tasks": frozenset({"enqueue"}),
    "model": frozenset({"summarise"}),
}
"""Per kind, the calls whose answer may get lost."""


@dataclass
class _Life:
    dead: bool = False
    thawed: threading.Event | None = None
    losing: str = ""
    freezing: tuple[str, str] | None = None


class Mortal:
    """Something a life works with; ``kind`` is a key of `LOSABLE`."""

    def __init__(self, inner: Any, kind: str, lives: "Lives") -> None:
        self._inner, self._kind, self._lives = inner, kind, lives

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return found

        def call(*args: Any, **options: Any) -> Any:
            self._lives.check((self._kind, name))
            answer = found(*args, **options)
            self._lives.check()
            life = self._lives.mine()
            if life is not None and life.losing == self._kind and name in LOSABLE[self._kind]:
                life.losing = ""
                return self._lives.lose(self._kind)
            return answer

        return call


class Lives:
    """All lives of one test, and the one fault that happens to one of them.

    Parameters
    ----------
    clock
        Moved past every lease when a life dies, freezes or loses an answer.
    jump
        By how much.
    """

    def __init__(self, clock: MovableClock, jump: timedelta) -> None:
        self.clock = clock
        self.jump = jump
        self.struck = threading.Event()
        self.ended = threading.Semaphore(0)
        self._lives: dict[str, _Life] = {}
        self._names = map("life{}".format, count(1))
        self._lock = threading.Lock()

    def wrap(self, services: Services) -> Services:
        """Services of which every call belongs to a life."""
        lives, inner = self, services.workers

        class Workers:
            def acting_as(self, email: str = "") -> WorkerAccess:
                access = inner.acting_as(email)
                sheets, drive = Mortal(access.sheets, "sheets", lives), Mortal(access.drive, "drive", lives)
                return WorkerAccess(sheets, drive)  # type: ignore[arg-type]

        return replace(
            services,
            documents=Mortal(self.clock, "documents", self),
            tasks=Mortal(_Unmoved(services.tasks, self.clock), "tasks", self),
            model=Mortal(services.model, "model", self),
            workers=Workers(),  # type: ignore[arg-type]
        )

    def wrap_user(self, user: UserAccess) -> UserAccess:
        """A click's clients, of which every call belongs to a life."""
        sheets, drive = Mortal(user.sheets, "sheets", self), Mortal(user.drive, "drive", self)
        return replace(user, sheets=sheets, drive=drive)  # type: ignore[arg-type]

    def begin(self) -> None:
        """This thread, and those that carry its lines on, are a life of their own from here on."""
        with self._lock:
            name = next(self._names)
            self._lives[name] = _Life()
        bind(life=name)

    @contextmanager
    def one(self) -> Iterator[None]:
        """A life that ends with the block."""
        with bound(of="click"):
            self.begin()
            yield

    def mine(self) -> _Life | None:
        """The life this thread belongs to."""
        return self._lives.get(str(belonging().get("life", "")))

    def check(self, call: tuple[str, str] | None = None) -> None:
        """Let a life that is dead or frozen, or is to freeze at this call, go no further."""
        life = self.mine()
        if life is None:
            return
        if call is not None and life.freezing == call:
            life.freezing = None
            self.freeze()
        thawed = life.thawed
        if thawed is not None and not thawed.wait(PATIENCE):
            raise AssertionError("nobody thawed it")
        if life.dead:
            raise Killed

    def die(self) -> None:
        """Kill this life, here."""
        life = self._struck()
        life.dead = True
        self.clock.ahead += self.jump
        self.struck.set()
        raise Killed

    def freeze(self) -> None:
        """Stop this life, all its threads, until `thaw`."""
        life = self._struck()
        life.thawed = threading.Event()
        self.clock.ahead += self.jump
        self.struck.set()
        self.check()

    def freeze_before(self, kind: str, name: str) -> None:
        """Stop this life when it is about to make a call."""
        self._struck().freezing = (kind, name)

    def thaw(self) -> None:
        """Let frozen lives go on."""
        for life in self._lives.values():
            if life.thawed is not None:
                life.thawed.set()

    def lose_next(self, kind: str) -> None:
        """Carry out this life's next call of a kind, and let its answer get lost."""
        self._struck().losing = kind
        self.struck.set()

    def lose(self, kind: str) -> Any:
        """What comes instead of an answer."""
        self.clock.ahead += self.jump  # whoever ends for it has not released anything
        if kind == "documents":
            raise Unavailable("the answer was lost")
        if kind == "model":
            return Transient("timeout")
        service = {"drive": "Drive", "sheets": "Sheets", "tasks": "Tasks"}[kind]
        raise TryAgain(
            "the answer was lost", service=service, reason="connection_lost", wait=0.05, outcome_unknown=True
        )

    def _struck(self) -> _Life:
        life = self.mine()
        assert life is not None, "nobody is alive here"
        return life


class AtStep:
    """Does something the ``nth`` time a step is reached, once; every claim is a birth."""

    def __init__(self, lives: Lives, step: Step, nth: int, act: Callable[[], None]) -> None:
        self._lives, self._step, self._left, self._act = lives, step, nth, act
        self._lock = threading.Lock()

    def __call__(self, step: Step) -> None:
        if step == "after claim":
            self._lives.begin()
        self._lives.check()
        with self._lock:
            self._left -= step == self._step
            due = step == self._step and self._left == 0
        if due:
            self._act()

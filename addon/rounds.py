"""Rounds: tasks that work off what has gathered, and that come whenever something has.

A spreadsheet's inbox and a channel's outbox each have one round at a time. `Rounds.ring` makes sure that one
comes, however many ring at once; a round that ends looks once more after it has said so, so that nothing that
came in between waits for the next ring. Lost tasks are found by `Rounds.heal`, which the sweep calls.
"""

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from addon.google.errors import GoogleError
from addon.google.tasks import Tasks
from addon.logs import event, word
from addon.store.documents import Documents, Snapshot, Transaction
from addon.store.records import Record

log = logging.getLogger(__name__)

Kind = Literal["drain", "deliver"]

OVERDUE = timedelta(seconds=30)
"""How late a round may be before it is enqueued again: more than a queue's usual delay."""


@dataclass(frozen=True, slots=True)
class Round(Record):
    """A round as it stands.

    ``subject`` is the spreadsheet or the channel. ``step`` counts rounds, ``nudges`` how often the present
    one was enqueued again. ``due_at`` is when it is to begin, or, once it has begun, when its next sign of
    life is due; ``None`` where nothing waits.
    """

    kind: Kind
    subject: str
    step: int = 0
    nudges: int = 0
    due_at: datetime | None = None


class OutOfTurn(Exception):
    """The task names another step than the present one; ``answer`` is the HTTP status for the queue."""

    def __init__(self, code: Literal["behind", "ahead"], answer: int) -> None:
        super().__init__(code)
        self.code = code
        self.answer = answer


def round_path(kind: Kind, subject: str) -> str:
    """Path of a round."""
    return f"rounds/{kind}:{subject}"


class Rounds:
    """Rings for rounds, begins and ends them."""

    def __init__(self, documents: Documents, tasks: Tasks) -> None:
        self._documents = documents
        self._tasks = tasks

    def ring(self, kind: Kind, subject: str, delay: float = 0.0) -> None:
        """Make sure that a round comes, in ``delay`` seconds where none is due already.

        Call it after what the round is for is durable. A task that cannot be enqueued now is enqueued by the
        sweep.

        Raises
        ------
        StoreError
            The store did not answer.
        """
        snapshot = self._documents.get(round_path(kind, subject))
        if snapshot is not None and Round.from_data(snapshot.data).due_at is not None:
            return

        def work(tx: Transaction) -> Round | None:
            state = _read(tx, kind, subject)
            if state.due_at is not None:
                return None
            state = replace(state, due_at=tx.now + timedelta(seconds=delay))
            tx.set(round_path(kind, subject), state.to_data())
            return state

        state = self._documents.transact(work)
        if state is not None:
            self._enqueue(state)

    def begin(self, kind: Kind, subject: str, step: int, seconds: float) -> Round:
        """Begin the round that a task names; its next sign of life (`keep`) is due in ``seconds``.

        Beginning twice is possible: whoever works holds a lease besides.

        Raises
        ------
        OutOfTurn
            ``behind`` (200): it is over, and the present one is enqueued. ``ahead`` (409): not its turn yet.
        """

        def work(tx: Transaction) -> Round:
            state = _read(tx, kind, subject)
            if state.step != step or state.due_at is None:
                return state
            begun = replace(state, due_at=tx.now + timedelta(seconds=seconds))
            tx.set(round_path(kind, subject), begun.to_data())
            return begun

        state = self._documents.transact(work)
        if step > state.step:
            raise OutOfTurn("ahead", 409)
        if step < state.step or state.due_at is None:
            if state.due_at is not None:
                self._enqueue(state)
            raise OutOfTurn("behind", 200)
        return state

    def keep(self, begun: Round, seconds: float) -> None:
        """Give a sign of life; the next one is due in ``seconds``."""

        def work(tx: Transaction) -> None:
            state = _read(tx, begun.kind, begun.subject)
            if state.step == begun.step:
                state = replace(state, due_at=tx.now + timedelta(seconds=seconds))
                tx.set(round_path(state.kind, state.subject), state.to_data())

        self._documents.transact(work)

    def end(self, begun: Round, delay: float | None, more: Callable[[], bool]) -> None:
        """End a round: the next one comes in ``delay`` seconds, or, with ``None``, when somebody rings.

        ``more`` tells whether anything waits: asked again once the end is durable, for whoever saw the round
        still due has not rung.
        """

        def work(tx: Transaction) -> Round | None:
            state = _read(tx, begun.kind, begun.subject)
            if state.step != begun.step:
                return None
            due = None if delay is None else tx.now + timedelta(seconds=delay)
            state = replace(state, step=state.step + 1, nudges=0, due_at=due)
            tx.set(round_path(state.kind, state.subject), state.to_data())
            return state

        state = self._documents.transact(work)
        if state is None:
            return
        if state.due_at is not None:
            self._enqueue(state)
        elif more():
            self.ring(state.kind, state.subject)

    def heal(self) -> int:
        """Enqueue again what is overdue: its task was lost, or its worker died. Returns how many."""
        late = self._documents.now() - OVERDUE
        return sum(map(self._nudge, list(self._documents.query("rounds", where=[("due_at", "<=", late)]))))

    def _nudge(self, snapshot: Snapshot) -> bool:
        found = Round.from_data(snapshot.data)

        def work(tx: Transaction) -> Round | None:
            state = _read(tx, found.kind, found.subject)
            if state.due_at is None or state.due_at > tx.now - OVERDUE:
                return None
            state = replace(state, nudges=state.nudges + 1, due_at=tx.now)
            tx.set(round_path(state.kind, state.subject), state.to_data())
            return state

        state = self._documents.transact(work)
        return state is not None and self._enqueue(state)

    def _enqueue(self, state: Round) -> bool:
        subject = hashlib.sha256(state.subject.encode()).hexdigest()[:24]
        nudge = f"-n{state.nudges}" if state.nudges else ""
        name = f"{state.kind}-{subject}-{state.step}{nudge}"
        body: dict[str, str | int] = {"subject": state.subject, "step": state.step}
        try:
            self._tasks.enqueue(name, f"/tasks/{state.kind}", body, not_before=state.due_at)
        except GoogleError as error:
            fields = {"error": type(error).__name__, "reason": word(error.reason)}
            event(log, "round_not_enqueued", severity=logging.WARNING, kind=state.kind, **fields)
            return False
        return True


def _read(tx: Transaction, kind: Kind, subject: str) -> Round:
    snapshot = tx.get(round_path(kind, subject))
    return Round.from_data(snapshot.data) if snapshot else Round(kind, subject)

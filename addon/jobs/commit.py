"""Group commit: ready answers become durable together, first the part in Drive, then the index."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from addon.jobs import events
from addon.jobs.chain import Chain
from addon.jobs.decide import Policy
from addon.jobs.feed import Feed
from addon.jobs.items import Item
from addon.jobs.model import account
from addon.jobs.parts import PartRow, PartWriter
from addon.jobs.rate import Rate
from addon.jobs.records import Failure, Result, Shard, failure_path, results_path
from addon.jobs.tools import Tools
from addon.llm.base import Blocked, Empty, Rejected, Text, Truncated, Usage
from addon.logs import word
from addon.rows.keys import cap_summary, clean, text_hash
from addon.store.documents import AlreadyExists, Transaction

ADOPTED_AT_ONCE = 100
"""Part rows without a result that are committed in one transaction."""

Writes = list[tuple[str, str, dict[str, Any]]]
"""What goes into a transaction: verb (create, set, delete), path, data."""


@dataclass(frozen=True, slots=True)
class Committed:
    """What one transaction makes durable: model calls, keys they were for, summaries made, tokens, the
    sheet's rows these are for by kind, and calls that another job's worker had made as well."""

    calls: int
    keys: int
    made: int
    usage: Usage
    rows: Counter[str]
    twice: int = 0


class Committer:
    """Makes answers durable, in order, one batch at a time.

    Parameters
    ----------
    chain
        The link's hold on its shard.
    committed
        Called with an item and its text once that is durable, so that it can be displayed.
    progress
        Gives the shard's fields that tell how far the link has come, with some rows more.

    Attributes
    ----------
    commits
        Batches that became durable.
    rows
        The sheet's rows these were for, ``made`` and ``failed``.
    last
        The shard as the last commit left it.
    """

    def __init__(
        self,
        tools: Tools,
        chain: Chain,
        writer: PartWriter,
        feed: Feed,
        policy: Policy,
        committed: Callable[[Item, str], None],
        progress: Callable[[Counter[str]], dict[str, Any]],
    ) -> None:
        self._documents = tools.documents
        self._chain = chain
        self._writer = writer
        self._feed = feed
        self._policy = policy
        self._retention = timedelta(days=tools.settings.retention_days)
        self._committed = committed
        self._progress = progress
        self._reach = tools.reach
        self._results = results_path(policy.job.spreadsheet_id)
        self.commits = 0
        self.rows: Counter[str] = Counter()
        self.last: Shard | None = None
        self._uploading = 0.0
        self._rate = Rate()

    def adopt(self, rows: Sequence[PartRow], known_results: dict[str, Result]) -> None:
        """Commit part rows that have no result: a worker died between upload and transaction.

        They are not called again.
        """
        adopted: Writes = []
        last = {row.key: (position, row) for position, row in enumerate(rows) if row.key}
        for key, (position, row) in last.items():
            known = known_results.get(key)
            if not self._policy.valid(known):
                usage = Usage(row.input_tokens, row.output_tokens)
                data = self._result(position, row.summary, row.model, usage)
                adopted.append(
                    ("create" if known is None else "set", f"{self._results}/{key}", data.to_data())
                )
        for first in range(0, len(adopted), ADOPTED_AT_ONCE):
            some = adopted[first : first + ADOPTED_AT_ONCE]
            count = len(some)
            usage = sum((Usage(d["input_tokens"], d["output_tokens"]) for _, _, d in some), Usage())
            began = time.monotonic()
            self._write(some, Committed(count, count, count, usage, Counter()))
            events.commit(count, 0, count, self._writer.file_id, 0.0, time.monotonic() - began)

    def commit(self, items: list[Item]) -> None:
        """Make a batch durable.

        What is committed leaves ``items``; after an error the rest can be given in again.

        Raises
        ------
        Refused
            ``fenced``: somebody else holds the shard; nothing of the batch was committed by this worker.
        TryAgain, FileMissing, JobBlocked
            Drive did not take the part: what is still in ``items`` was not committed.
        """
        while items:
            while self._writer.turn(self._chain.deadline) is not None:
                pass  # the next part may be full as well, of an earlier job
            texts = [item for item in items if isinstance(item.answer, Text)][: self._writer.room()]
            others = [item for item in items if not isinstance(item.answer, Text)]
            self._commit_some(texts, others)
            taken = {id(item) for item in (*texts, *others)}
            items[:] = [item for item in items if id(item) not in taken]

    def _commit_some(self, texts: list[Item], others: list[Item]) -> None:
        done = Committed(
            calls=sum(item.calls for item in (*texts, *others)),
            keys=sum(1 for item in (*texts, *others) if item.calls),
            made=len(texts),
            usage=sum((item.spent for item in (*texts, *others)), Usage()),
            rows=Counter(made=_rows(texts), failed=_rows(others)),
        )
        summaries = {item.key: _summary(item) for item in texts}
        self._uploading = 0.0
        writes = self._upload(texts, summaries) if texts else []
        failures = {item.key: self._failure(item) for item in others}
        for key, failure in failures.items():
            writes.append(("set", failure_path(self._policy.job_id, key), failure.to_data()))
        self._rate.add(len(texts) + len(others))
        began = time.monotonic()
        known = self._write(writes, done)
        self._tell(done, failures, time.monotonic() - began)
        self.commits += 1
        self.rows += done.rows
        self._reach("after commit")
        self._feed.committed([(item, "made") for item in texts] + [(item, "failed") for item in others])
        for item in texts:
            if item.key not in known:
                self._committed(item, summaries[item.key])

    def _tell(self, done: Committed, failures: dict[str, Failure], writing: float) -> None:
        file = self._writer.file_id if done.made else ""
        events.commit(done.rows["made"], done.rows["failed"], done.calls, file, self._uploading, writing)
        events.rows_failed((key, one.error_class, one.detail) for key, one in failures.items())

    def _upload(self, texts: list[Item], summaries: dict[str, str]) -> Writes:
        """Write the part; what is to be written into the index then."""
        self._reach("before part upload")
        self._chain.write(lambda shard, _: shard)  # renew right before the upload: Drive has no fences
        rows = [self._part_row(item, summaries[item.key]) for item in texts]
        began = time.monotonic()
        first = self._writer.upload(rows, self._chain.upload)
        self._uploading = time.monotonic() - began
        self._reach("after part upload")
        writes: Writes = []
        for position, item in enumerate(texts, first):
            verb = "set" if item.replaces else "create"
            result = self._result(position, summaries[item.key], self._policy.job.model, item.spent)
            writes.append((verb, f"{self._results}/{item.key}", result.to_data()))
            if item.failed_before:
                writes.append(("delete", failure_path(self._policy.job_id, item.key), {}))
        return writes

    def _write(self, writes: Writes, done: Committed) -> set[str]:
        """Commit; the keys that had a result already, which stays as it is."""
        self._reach("before commit")
        progress = self._progress(done.rows)

        def change(shard: Shard, now: datetime) -> Shard:
            risks, repeated = account(shard.risks, done.keys)
            return replace(
                shard,
                **progress,
                attempts=0,
                silent_links=0,
                part=self._writer.number,
                called=shard.called + done.calls,
                made=shard.made + done.made,
                repeated=shard.repeated + repeated + done.twice,
                risks=risks,
                input_tokens=shard.input_tokens + done.usage.input_tokens,
                output_tokens=shard.output_tokens + done.usage.output_tokens,
                rate=self._rate.per_second,
                updated_at=now,
            )

        try:
            self.last = self._chain.write(change, lambda tx: _apply(tx, writes))
        except AlreadyExists:
            # A worker of an earlier, cancelled job has committed some of these keys meanwhile.
            paths = [path for verb, path, _ in writes if verb == "create"]
            found = self._documents.get_many(paths)
            known = {
                path: item.id
                for path, item in found.items()
                if self._policy.valid(Result.from_data(item.data))
            }
            done = replace(done, made=done.made - len(known), twice=len(known))
            rest = [
                ("set" if path in found else verb, path, data)
                for verb, path, data in writes
                if path not in known
            ]
            self.last = self._chain.write(change, lambda tx: _apply(tx, rest))
            return set(known.values())
        return set()

    def _part_row(self, item: Item, summary: str) -> PartRow:
        usage = item.spent
        stamp = datetime.now(UTC).isoformat(timespec="seconds")
        row = item.rows[0][1] + 1
        name = self._policy.job.model
        return PartRow(item.key, row, summary, name, usage.input_tokens, usage.output_tokens, stamp)

    def _result(self, position: int, summary: str, model: str, usage: Usage) -> Result:
        return Result(
            part=self._writer.file_id,
            row=position,
            sha256=text_hash(summary),
            length=len(summary),
            job=self._policy.job_id,
            model=model,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            at=datetime.now(UTC),
            until=self._policy.now + self._retention,
        )

    def _failure(self, item: Item) -> Failure:
        error_class, detail = _reason(item.answer)
        epoch = self._policy.job.epoch
        return Failure(error_class, item.rows[0][1] + 1, len(item.rows), epoch, word(detail))


def _apply(tx: Transaction, writes: Writes) -> None:
    for verb, path, data in writes:
        if verb == "create":
            tx.create(path, data)
        elif verb == "set":
            tx.set(path, data)
        else:
            tx.delete(path)


def _rows(items: Sequence[Item]) -> int:
    return sum(len(item.rows) for item in items)


def _summary(item: Item) -> str:
    if not isinstance(item.answer, Text):
        raise TypeError("only a text is a summary")
    return cap_summary(clean(item.answer.text).strip())


def _reason(answer: object) -> tuple[str, str]:
    match answer:
        case Blocked(reason=reason):
            return "blocked", reason
        case Rejected(reason=reason):
            return "rejected", reason
        case Truncated():
            return "truncated", ""
        case Empty():
            return "empty", ""
        case str():
            return answer, ""
        case _:
            raise TypeError(f"{type(answer).__name__} is no outcome to commit")

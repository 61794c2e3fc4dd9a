"""One link of a chain: claim, work, end. The answer is for the queue."""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace

from addon.google.errors import FileMissing, GoogleError
from addon.google.tasks import Tasks
from addon.jobs import events
from addon.jobs.chain import Chain, Gone, LinkMessage, read_shards
from addon.jobs.decide import Policy
from addon.jobs.endings import Ending, ending_of, patient
from addon.jobs.events import LinkEnd
from addon.jobs.files import decode_brief
from addon.jobs.model import Refused
from addon.jobs.records import Job, Shard
from addon.jobs.tools import Tools
from addon.jobs.work import LinkWork
from addon.logs import bound

SILENT_LINKS = 8
"""Links in a row that commit nothing because the provider or Google is silent, until the job pauses."""

FIRST_DELAY = 15.0
LONGEST_DELAY = 600.0
"""Seconds before the link after a silent one; doubled each time up to the longest."""


@dataclass(frozen=True, slots=True)
class LinkAnswer:
    """HTTP status for the queue (2xx ends the task, 409 brings it back), and a word for its operator."""

    status: int
    outcome: str


def run_link(tools: Tools, tasks: Tasks, message: LinkMessage) -> LinkAnswer:
    """Do one link's work and hand over.

    Raises
    ------
    StoreError
        The store does not answer: the lease runs out by itself and the task comes back.
    """
    with bound(job=message.job, shard=message.shard, epoch=message.epoch, step=message.step):
        return _run(tools, tasks, message)


def _run(tools: Tools, tasks: Tasks, message: LinkMessage) -> LinkAnswer:
    ttl = tools.settings.lease_ttl
    chain = Chain(tools.documents, tasks, message.job, message.shard, ttl, tools.reach)
    at_risk = tools.settings.concurrency + tools.settings.commit_rows
    try:
        job, shard, unclean = chain.claim(message.epoch, message.step, uuid.uuid4().hex, at_risk)
    except Refused as refusal:
        events.link_refused(refusal.code, refusal.answer)
        return LinkAnswer(refusal.answer, refusal.code)
    except Gone:
        events.link_refused("no_such_job", 200)
        return LinkAnswer(200, "no such job")
    events.link_claimed(shard.attempts, unclean, shard.fence)
    end, began = LinkEnd(shard.attempts), time.monotonic()
    try:
        tools.reach("after claim")
        return _work(tools, chain, job, shard, end)
    except Refused as refusal:
        end.outcome = refusal.code
        return LinkAnswer(refusal.answer, refusal.code)
    except Exception as error:
        end.reason = type(error).__name__
        raise
    finally:
        end.log(time.monotonic() - began)


def _work(tools: Tools, chain: Chain, job: Job, shard: Shard, end: LinkEnd) -> LinkAnswer:
    now = tools.documents.now()
    age = (now - (job.updated_at or job.created_at)).total_seconds()
    worker = tools.workers.acting_as(job.acts_as)
    try:
        brief = decode_brief(worker.drive.download(job.run_file, deadline=chain.deadline))
    except (FileMissing, ValueError):
        return _end(tools, chain, job, None, patient(Ending("paused", "run_file_gone"), age), shard, end)
    except GoogleError as error:
        return _end(tools, chain, job, None, patient(ending_of(error), age), shard, end)
    shards = read_shards(tools.documents, chain.job_id, job).values()
    chains = sum(not one.closed for one in shards)
    policy = Policy(chain.job_id, job, now, crashed=any(one.unshown for one in shards))
    work = LinkWork(tools, worker, chain, policy, shard, brief, chains)
    try:
        ending = patient(work.run(), age)
    finally:
        work.tell(end)
    tools.reach("before release")
    return _end(tools, chain, job, work, ending, shard, end)


def _end(
    tools: Tools,
    chain: Chain,
    job: Job,
    work: LinkWork | None,
    ending: Ending,
    shard: Shard,
    end: LinkEnd,
) -> LinkAnswer:
    change = work.leave(ending) if work else _fruitless(ending)
    silent_links = 0 if end.commits else shard.silent_links
    if ending.kind == "finished" and work is not None:
        chain.finish_job(change, work.tally(), work.stale_failures())
    elif ending.kind in {"paused", "over"}:
        chain.let_go(change, ending.reason)
    elif ending.silent and silent_links + 1 >= SILENT_LINKS:
        chain.let_go(change, ending.silent)
    elif ending.kind == "handed over":
        growing = min(FIRST_DELAY * 2**silent_links, LONGEST_DELAY) if ending.silent else 0.0
        end.delay = max(ending.delay, growing)
        chain.hand_over(change, end.delay)
    tools.reach("after release")
    if ending.kind in {"finished", "over"}:
        tools.access.withdraw(job.spreadsheet_id)
    end.outcome, end.reason = ending.kind, ending.reason or ending.silent or ""
    return LinkAnswer(200, f"{ending.kind}: {ending.reason}" if ending.reason else ending.kind)


def _fruitless(ending: Ending) -> Callable[[Shard], Shard]:
    silent = 1 if ending.silent else 0
    return lambda shard: replace(shard, silent_links=shard.silent_links + silent)

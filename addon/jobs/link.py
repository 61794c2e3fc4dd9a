"""One link of a chain: claim, work, end. The answer is for the queue."""

import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace

from addon.google.errors import FileMissing, GoogleError
from addon.google.tasks import Tasks
from addon.jobs.chain import Chain, Gone, read_shards
from addon.jobs.decide import Policy
from addon.jobs.endings import Ending, ending_of, patient
from addon.jobs.files import decode_brief
from addon.jobs.model import Refused
from addon.jobs.records import Job, Shard
from addon.jobs.tools import Tools
from addon.jobs.work import LinkWork

log = logging.getLogger(__name__)

SILENT_LINKS = 8
"""Links in a row that commit nothing because the provider or Google is silent, until the job pauses."""

FIRST_DELAY = 15.0
LONGEST_DELAY = 600.0
"""Seconds before the link after a silent one; doubled each time up to the longest."""


@dataclass(frozen=True, slots=True)
class LinkMessage:
    """What a link's task says: ids and counters, never content."""

    job: str
    shard: int
    epoch: int
    step: int


@dataclass(frozen=True, slots=True)
class LinkAnswer:
    """HTTP status for the queue (2xx ends the task, 409 brings it back), and a word for the log."""

    status: int
    outcome: str


def run_link(tools: Tools, tasks: Tasks, message: LinkMessage) -> LinkAnswer:
    """Do one link's work and hand over.

    Raises
    ------
    StoreError
        The store does not answer: the lease runs out by itself and the task comes back.
    """
    chain = Chain(tools.documents, tasks, message.job, message.shard, tools.settings.lease_ttl)
    at_risk = tools.settings.concurrency + tools.settings.commit_rows
    try:
        job, shard, unclean = chain.claim(message.epoch, message.step, uuid.uuid4().hex, at_risk)
    except Refused as refusal:
        return LinkAnswer(refusal.answer, refusal.code)
    except Gone:
        return LinkAnswer(200, "no such job")
    if unclean:
        log.warning(
            "job %s shard %d: the worker before ended without handing over", chain.job_id, chain.number
        )
    tools.reach("after claim")
    try:
        return _work(tools, chain, job, shard)
    except Refused as refusal:
        return LinkAnswer(refusal.answer, refusal.code)


def _work(tools: Tools, chain: Chain, job: Job, shard: Shard) -> LinkAnswer:
    now = tools.documents.now()
    age = (now - (job.updated_at or job.created_at)).total_seconds()
    worker = tools.workers.acting_as(job.acts_as)
    try:
        brief = decode_brief(worker.drive.download(job.run_file, deadline=chain.deadline))
    except (FileMissing, ValueError):
        return _end(tools, chain, job, None, patient(Ending("paused", "run_file_gone"), age), shard)
    except GoogleError as error:
        return _end(tools, chain, job, None, patient(ending_of(error), age), shard)
    shards = read_shards(tools.documents, chain.job_id, job).values()
    policy = Policy(chain.job_id, job, now, crashed=any(one.unshown for one in shards))
    work = LinkWork(tools, worker, chain, policy, shard, brief)
    ending = patient(work.run(), age)
    tools.reach("before release")
    return _end(tools, chain, job, work, ending, shard)


def _end(
    tools: Tools, chain: Chain, job: Job, work: LinkWork | None, ending: Ending, shard: Shard
) -> LinkAnswer:
    change = work.leave(ending) if work else _fruitless(ending)
    silent_links = 0 if work and work.committed else shard.silent_links
    if ending.kind == "finished" and work is not None:
        chain.finish_job(change, work.tally(), work.stale_failures())
    elif ending.kind in {"paused", "over"}:
        chain.let_go(change, ending.reason)
    elif ending.silent and silent_links + 1 >= SILENT_LINKS:
        chain.let_go(change, ending.silent)
    elif ending.kind == "handed over":
        growing = min(FIRST_DELAY * 2**silent_links, LONGEST_DELAY) if ending.silent else 0.0
        chain.hand_over(change, max(ending.delay, growing))
    if ending.kind in {"finished", "over"}:
        tools.access.withdraw(job.spreadsheet_id)
    return LinkAnswer(200, f"{ending.kind}: {ending.reason}" if ending.reason else ending.kind)


def _fruitless(ending: Ending) -> Callable[[Shard], Shard]:
    silent = 1 if ending.silent else 0
    return lambda shard: replace(shard, silent_links=shard.silent_links + silent)

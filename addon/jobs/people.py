"""What people do to a job and its files while a link works on it: pause, cancel, put into the trash."""

import logging
import time

from addon.google.drive import Drive
from addon.google.errors import FileMissing, GoogleError, JobBlocked
from addon.jobs.chain import Chain
from addon.jobs.endings import Ending
from addon.jobs.records import Job

log = logging.getLogger(__name__)

STATUS_SECONDS = 1.0
"""How often the job is read to see whether somebody paused or cancelled it."""

TRASH_SECONDS = 30.0
"""How often Drive is asked whether the spreadsheet is in the trash: Sheets goes on serving it there."""

TRASH_DEADLINE = 5.0


class People:
    """Looks, now and then, whether somebody wants the job to stop."""

    def __init__(self, chain: Chain, drive: Drive, job: Job) -> None:
        self._chain = chain
        self._drive = drive
        self._job = job
        self._asked = time.monotonic()
        self._looked = float("-inf")

    def stop(self) -> Ending | None:
        """Why the link must end, if somebody has done something that ends it."""
        now = time.monotonic()
        if now - self._asked >= STATUS_SECONDS:
            self._asked = now
            job = self._chain.status()
            if job.status != "running" or job.epoch != self._job.epoch:
                return Ending("over")
        if now - self._looked >= TRASH_SECONDS:
            self._looked = now
            return self._trashed()
        return None

    def _trashed(self) -> Ending | None:
        try:
            info = self._drive.info(self._job.spreadsheet_id, deadline=TRASH_DEADLINE)
            info.check_not_trashed("spreadsheet_trashed")
        except JobBlocked as blocked:
            if blocked.code == "spreadsheet_trashed":
                return Ending("paused", blocked.code)
            self._unknown(blocked)
        except FileMissing:
            return Ending("paused", "access_removed")
        except GoogleError as error:
            self._unknown(error)
        return None

    def _unknown(self, error: GoogleError) -> None:
        log.warning(
            "job %s: cannot see whether the spreadsheet is in the trash: %s", self._chain.job_id, error
        )

"""What links work with, put together by the composition root."""

from collections.abc import Callable
from dataclasses import dataclass

from addon.google.access import Workers
from addon.jobs.access import Access
from addon.jobs.steps import Reach
from addon.llm.base import LanguageModel
from addon.llm.pace import UNLIMITED, Pace
from addon.settings import Settings
from addon.store.documents import Documents


@dataclass(frozen=True)
class Tools:
    """What a link works with. ``stopping`` tells that the process is about to end; ``reach`` is the fault
    point seam, called with the name of each step before it is taken; ``pace`` is one for all links of the
    process."""

    documents: Documents
    workers: Workers
    model: LanguageModel
    settings: Settings
    access: Access
    stopping: Callable[[], bool]
    reach: Reach
    pace: Pace = UNLIMITED

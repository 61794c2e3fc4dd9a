"""What links work with, put together by the composition root."""

from collections.abc import Callable
from dataclasses import dataclass

from addon.google.drive import Drive
from addon.google.sheets import Sheets
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
    sheets: Sheets
    drive: Drive
    model: LanguageModel
    settings: Settings
    stopping: Callable[[], bool]
    reach: Callable[[str], None]
    pace: Pace = UNLIMITED

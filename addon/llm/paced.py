"""The offline summariser at the pace of a real model, so that a demo can be watched."""

import time

from addon.llm.base import Outcome, Prompt
from addon.llm.builtin import Builtin

SECONDS = 0.6
"""Time per call: a usual figure for a small hosted model and a short answer."""


class Paced(Builtin):
    """`Builtin`, but each answer takes `SECONDS`."""

    def summarise(self, prompt: Prompt, timeout: float) -> Outcome:
        """Answer after a pause."""
        time.sleep(min(SECONDS, timeout))
        return super().summarise(prompt, timeout)

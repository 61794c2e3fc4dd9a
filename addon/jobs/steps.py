"""The fault point seam: names of the steps at which a test may let a worker die, stall or be doubled.

Nothing but a test passes a `Reach`; what the composition root passes does nothing.
"""

from collections.abc import Callable
from typing import Literal

Step = Literal[
    # a click
    "after create",
    "after prepare",
    "before first enqueue",
    # a link, in the order it comes by
    "after claim",
    "before call",
    "after call",
    "before part upload",
    "after part upload",
    "before commit",
    "after commit",
    "before display",
    "mid-display",
    "after display",
    "on renew",
    "before release",
    "before enqueue",
    "after enqueue",
    "after release",
]
"""``mid-display`` is between the look at the cells and the write; ``before enqueue`` and ``after enqueue``
are of the next link, once this one is released."""

Reach = Callable[[Step], None]
"""Called with the name of a step when it is reached."""


def nothing(_: Step) -> None:
    """Let the step be taken."""

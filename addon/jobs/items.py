"""What passes over the desk: keys to be called with the rows that wait for them, and pages to count by."""

from dataclasses import dataclass, field

from addon.llm.base import Blocked, Empty, Rejected, Text, Truncated, Usage

Answer = Text | Blocked | Truncated | Empty | Rejected


@dataclass(slots=True)
class Page:
    """A page of rows being worked; ``tally`` counts its settled rows by what became of them."""

    end: int
    tally: dict[str, int] = field(default_factory=dict)
    open: int = 0
    sealed: bool = False

    def settle(self, kind: str, rows: int = 1) -> None:
        """Count rows that need nothing more."""
        self.tally[kind] = self.tally.get(kind, 0) + rows


@dataclass(slots=True)
class Item:
    """One key to be called: the text of its row, and every row that waits for its answer.

    ``replaces`` says that a result document of this key exists and is void; ``failed_before`` that a
    failure document exists. ``tries`` counts calls, and ``begun`` is when the last was taken, in seconds of
    the desk's clock; ``calls`` counts those the provider answered, ``faults`` those it did not although it
    had room; ``spent`` are the tokens of all its answers.
    """

    key: str
    fields: tuple[tuple[str, str], ...]
    rows: list[tuple[Page, int]]
    replaces: bool = False
    failed_before: bool = False
    tries: int = 0
    begun: float = 0.0
    calls: int = 0
    faults: int = 0
    spent: Usage = field(default_factory=Usage)
    answer: Answer | str | None = None

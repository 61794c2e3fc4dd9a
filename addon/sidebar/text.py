"""Words for people: sentences, quantities, durations and times, in the person's language and time zone."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timezone
from decimal import Decimal

from addon.sidebar import text_en, text_ja

LANGUAGES: Mapping[str, Mapping[str, str]] = {"en": text_en.TEXTS, "ja": text_ja.TEXTS}
TITLE_LENGTH = 60
"""Characters of a spreadsheet's, tab's or column's title that a card shows."""


def shorten(title: str, length: int = TITLE_LENGTH) -> str:
    """Return a title on one line, cut with ``…`` to at most ``length`` characters."""
    line = " ".join(title.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


class Words:
    """The product's words for one person.

    Parameters
    ----------
    locale
        Language tag of the event: ``ja`` and ``ja-…`` give Japanese, everything else English.
    zone
        The person's time zone; without one, times are given in UTC and say so.
    """

    def __init__(self, locale: str = "", zone: timezone | None = None) -> None:
        self.language = "ja" if locale.lower().replace("_", "-").split("-")[0] == "ja" else "en"
        self._texts = LANGUAGES[self.language]
        self._zone = zone

    def __call__(self, key: str, **values: str) -> str:
        """Return the text of ``key`` with its placeholders filled. It is plain text, never HTML."""
        return self._texts[key].format(**values)

    def coded(self, family: str, code: str, **values: str) -> str:
        """Return the sentence for a code, such as ``reason`` and ``protected``.

        A code unknown to this version (a newer worker may have written it) gives the general sentence.
        """
        key = f"{family}.{code}"
        return self(key if key in self._texts else f"{family}.other", **values)

    def number(self, value: int) -> str:
        """Return a whole number with its thousands set apart, as both languages write it."""
        return f"{value:,}"

    def count(self, unit: str, value: int) -> str:
        """Return a quantity with its unit: ``row``, ``failed_row``, ``call``, ``column`` or ``tab``."""
        return self(f"{unit}.{'one' if value == 1 else 'many'}", n=self.number(value))

    def titles(self, names: Iterable[str]) -> str:
        """Return titles in quotation marks, in a list."""
        return self("list.comma").join(self("list.quote", title=shorten(name)) for name in names)

    def duration(self, seconds: float) -> str:
        """Return a span of time, rounded up to minutes: a promise should rather be kept early."""
        minutes = -int(-seconds // 60)
        if minutes <= 1:
            return self("duration.soon")
        if minutes < 60:
            return self("duration.minutes", minutes=str(minutes))
        return self("duration.hours", hours=self.number(minutes // 60), minutes=str(minutes % 60))

    def dollars(self, amount: Decimal) -> str:
        """Return a sum of US dollars, with two digits that say something: prices of a row are tiny."""
        if amount >= 1:
            return f"${amount:,.2f}"
        digits = max(2, 1 - amount.adjusted()) if amount else 2
        return f"${amount:.{digits}f}"

    def rate(self, per_second: float) -> str:
        """Return a speed given in rows per second as rows per minute."""
        rows = round(per_second * 60)
        return self("rate.rows", rows=self.count("row", rows)) if rows >= 1 else self("rate.slow")

    def time(self, moment: datetime, now: datetime) -> str:
        """Return the time of day, with the date where that is not today."""
        local, today = moment.astimezone(self._zone or UTC), now.astimezone(self._zone or UTC)
        parts = {"hour": f"{local.hour:02}", "minute": f"{local.minute:02}"}
        if local.date() == today.date():
            text = self("time.today", **parts)
        else:
            month = self("time.months").split()[local.month - 1]
            text = self("time.day", month=month, day=str(local.day), **parts)
        return text if self._zone else self("time.utc", time=text)

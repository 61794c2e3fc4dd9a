"""An offline, extractive summariser: it quotes the sentences that say most, and invents nothing."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from addon.llm.base import Empty, Outcome, Prompt, Text, Usage
from addon.llm.builtin_clip import clip, is_blank, is_wide, tidy, tokens, width
from addon.llm.builtin_ranking import WORTH_ADDING, Candidate, candidates, choose, terms
from addon.llm.builtin_sentences import pieces

SENTENCES = 2
"""Sentences in a summary when the instructions name no number."""

COLUMNS = 200
"""Length limit when the instructions name none; a full-width (e.g. Japanese) character takes two."""

BULLET_COLUMNS = 120
"""Length limit of one bullet."""

SHORT_FIELD = 60
"""A field below this many columns is quoted or used as a heading rather than summarised."""

_WORDS_FOR = ("one", "two", "three", "four", "five", "six", "seven", "eight")
_NUMBERS = {word: number for number, word in enumerate(_WORDS_FOR, 1)}
_NUMBERS |= {word: number for number, word in enumerate("一二三四五六七八", 1)}
_COUNT = rf"(\d{{1,2}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_ADJECTIVES = r"(?:short|concise|brief|key|clear|simple|main|complete|plain)"

_NO_BULLETS = re.compile(
    r"\b(?:no|not|n't|without|avoid)\b[^.]{0,20}\bbullet|箇条書き(?:に|は|を|で)?(?:し|使わ|不要|避け)(?:な|ず|$|、|。)?"
)
_BULLETS = re.compile(r"\bbullet(?:s|ed)?\b|箇条書き|要点を?.{0,2}\d(?:つ|点)")
_BULLET_COUNT = re.compile(
    rf"\b{_COUNT}[ -](?:{_ADJECTIVES}[ ,]+)*(?:bullets?|points?|items?)\b|{_COUNT} ?(?:点|つ|個|項目|行)"
)
_SENTENCE_COUNT = re.compile(
    rf"\b(?:{_COUNT}|(an?|single))[ -](?:{_ADJECTIVES}[ ,]+)*(?:sentences?|lines?)\b"
    rf"|{_COUNT} ?(?:文|行)(?![字章])|(一言|ひとこと)"
)
_CHARACTERS = re.compile(r"\b(\d{2,4})[ -]?(?:characters?|chars?)\b|(\d{2,4}) ?(?:文字|字)")
_WORDS = re.compile(r"\b(\d{1,3})[ -]words?\b")


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the instructions ask for. ``wide``: columns a full-width character takes."""

    sentences: int = SENTENCES
    columns: int = COLUMNS
    wide: int = 2
    bullets: bool = False
    worth: float = WORTH_ADDING


class Builtin:
    """A language model that needs no key, network or money. Stateless, deterministic, thread safe.

    Of the instructions it follows only the shape: a number of bullets or sentences, "one line", a length in
    characters or words. It cannot translate, rephrase or answer.

    `Usage` is an estimate, for people to see orders of magnitude: one token per full-width character, one
    per four others.
    """

    @property
    def name(self) -> str:
        """Raise the number whenever the same row would get another summary."""
        return "builtin-1"

    @property
    def settings(self) -> Mapping[str, str | int | float | bool]:
        """Sentences and columns it aims at, unless the instructions say otherwise."""
        return {"sentences": SENTENCES, "columns": COLUMNS}

    def summarise(self, prompt: Prompt, timeout: float) -> Outcome:
        """Quote what says most about the row; `Empty` only where nobody would see any text."""
        del timeout  # pure computation: tens of milliseconds for the longest cell Sheets can hold
        fields = [(" ".join(tidy(title).split()), tidy(text)) for title, text in prompt.fields]
        fields = [(title, text) for title, text in fields if not is_blank(text)]
        read = tokens(prompt.instructions) + sum(tokens(title) + tokens(text) for title, text in fields)
        if not fields:
            return Empty(Usage(read, 0))
        summary = _summary(fields, _shape(prompt.instructions))
        return Text(summary, Usage(read, tokens(summary)))


def _summary(fields: Sequence[tuple[str, str]], shape: _Shape) -> str:
    longest = max(width(text) for _, text in fields)
    if longest < SHORT_FIELD:
        return _quoted(fields, shape)
    long = max(SHORT_FIELD, min(longest // 2, 2 * SHORT_FIELD))
    bodies = [text for _, text in fields if width(text) >= long]
    headings = [text for _, text in fields if width(text) < long]
    heading = frozenset(term for text in headings for term in terms(text))
    found = candidates([pieces(text) for text in bodies], heading)
    if not found:
        return clip(" ".join(" ".join([*headings, *bodies]).split()), shape.columns, shape.wide)
    if shape.bullets:
        chosen = choose(found, heading, shape.sentences, shape.worth, lambda _: True)
        return _bullets(chosen, shape)

    def fits(some: Sequence[Candidate]) -> bool:
        return width(_joined(some), shape.wide) <= shape.columns

    chosen = choose(found, heading, shape.sentences, shape.worth, fits)
    return clip(_joined(chosen), shape.columns, shape.wide)


def _quoted(fields: Sequence[tuple[str, str]], shape: _Shape) -> str:
    """A row of short cells, told whole; titles say what a value means once there are several."""
    texts = [(title, " ".join(text.split())) for title, text in fields]
    if len(texts) == 1:
        return clip(texts[0][1], shape.columns, shape.wide)
    wide = any(is_wide(text) for _, text in texts)
    colon, semicolon = ("：", "、") if wide else (": ", "; ")
    told = semicolon.join(f"{title}{colon}{text}" if title else text for title, text in texts)
    return clip(told, shape.columns, shape.wide)


def _bullets(chosen: Sequence[Candidate], shape: _Shape) -> str:
    dot = "・" if any(is_wide(one.piece.text) for one in chosen) else "• "
    return "\n".join(dot + clip(one.piece.text, shape.columns, shape.wide) for one in chosen)


def _joined(chosen: Sequence[Candidate]) -> str:
    text = ""
    for before, one in zip([None, *chosen], chosen, strict=False):
        if before is not None:
            text += _glue(before, one)
        text += one.piece.text
    return text


def _glue(before: Candidate, after: Candidate) -> str:
    last = before.piece.text[-1]
    if last in "。！？｡」』":
        return ""
    if last in ".!?…)\"'”’:":
        return " "
    if after.order != before.order + 1:
        return " … "
    if after.piece.follows:
        return "" if is_wide(last) else " "
    return "、" if is_wide(last) else "; "


def _shape(instructions: str) -> _Shape:
    text = unicodedata.normalize("NFKC", instructions).lower()
    shape = _Shape()
    if _BULLETS.search(text) and not _NO_BULLETS.search(text):
        count = _number(_BULLET_COUNT, text, 3)
        shape = _Shape(sentences=min(count, 10), columns=BULLET_COLUMNS, bullets=True, worth=0.0)
    elif count := _number(_SENTENCE_COUNT, text):
        count = min(count, 10)
        shape = _Shape(sentences=count, columns=max(COLUMNS, COLUMNS // 2 * count), worth=0.0)
    if length := _number(_CHARACTERS, text):
        shape = replace(shape, columns=min(max(length, 20), 2_000), wide=1)
    elif length := _number(_WORDS, text):
        shape = replace(shape, columns=min(max(length * 6, 20), 2_000))
    return shape


def _number(pattern: re.Pattern[str], text: str, otherwise: int = 0) -> int:
    found = pattern.search(text)
    if found is None:
        return otherwise
    word = next(group for group in found.groups() if group)
    return int(word) if word.isdigit() else _NUMBERS.get(word, 1)

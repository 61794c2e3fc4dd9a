"""Cutting a cell's text into the pieces a summary may quote, without the envelope of a letter."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from addon.llm import builtin_words as words
from addon.llm.builtin_clip import is_wide, sentences, width

BLOCK = 500
"""Most characters handed to the sentence splitter at once; see `builtin_clip.sentences`."""

RUN_ON_WORDS = 24
"""From this many words with hardly any punctuation, a "sentence" is run-on text and is cut into chunks."""

CHUNK_WORDS = 16
"""Most words in a chunk of run-on text."""

CLAUSE_COLUMNS = 100
"""Japanese text longer than this is also cut at spaces, and longer than twice this at its commas."""

_WRAPPED = 50
"""Columns from which a line counts as wrapped: the next line goes on with the same sentence."""

_WORD = re.compile(r"\w+")
_ENDS = re.compile(r"[.!?。！？．｡…:：][\"'”’」』）)\]]*$")
_BULLET = re.compile(r"\s*(?:[-*•・●○■□◆◇▪‣➢>]|\(?\d{1,2}[.)）](?=\s)|[①-⑳])\s*")
_QUOTED_THEN = re.compile(r"(?:と|って)")
_JAPANESE_SPACE = re.compile(r"(?<=[ぁ-ヿ㐀-鿿！-～]) (?=[ぁ-ヿ㐀-鿿「（])")
_CLAUSE = re.compile(r"[^、，,;；\s　]+[、，,;；\s　]*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence, list item or chunk; ``follows`` says that it directly continues the piece before it."""

    text: str
    follows: bool = False


def pieces(text: str) -> list[Piece]:
    """Cut tidied text (see `builtin_clip.tidy`) into pieces, greetings and signatures left out.

    Returns
    -------
    list of Piece
        In the order of the text; empty when there is nothing but courtesy.
    """
    found: list[Piece] = []
    for paragraph in _paragraphs(_matter(text.split("\n"))):
        for block in _blocks(paragraph):
            for sentence in _whole_quotes(sentences(block)):
                found.extend(_cut_long(sentence))
    return found


def _matter(lines: list[str]) -> list[str]:
    """The lines without mail headers, quoted mail and a signature at the end."""
    stripped = [line.strip() for line in lines]
    for index, line in enumerate(stripped):
        closes = words.CLOSING_LINE.fullmatch(line) or (index and line and words.RULE_LINE.fullmatch(line))
        if closes and all(map(_is_signature, stripped[index + 1 :])):
            stripped = stripped[:index]
            break
    if len(stripped) == 1:
        return stripped
    return [
        "" if words.NOISE_LINE.fullmatch(line) or words.RULE_LINE.fullmatch(line) else line
        for line in stripped
    ]


def _is_signature(line: str) -> bool:
    return width(line) < _WRAPPED and not _ENDS.search(line)


def _paragraphs(lines: list[str]) -> Iterator[str]:
    """Lines, with those that were only wrapped put together again."""
    current = ""
    for line in lines:
        item = _BULLET.match(line)
        wrapped = width(current) >= _WRAPPED and not _ENDS.search(current)
        if current and line and not item and wrapped:
            current += ("" if is_wide(current[-1]) else " ") + line
            continue
        if current:
            yield current
        current = line[item.end() :] if item else line
    if current:
        yield current


def _blocks(paragraph: str) -> Iterator[str]:
    start = 0
    while len(paragraph) - start > BLOCK:
        part = paragraph[start : start + BLOCK]
        end = max(part.rfind(mark) + len(mark) for mark in ("。", "！", "？", ". ", "! ", "? "))
        if end < BLOCK // 2:
            end = max(part.rfind(" ") + 1, BLOCK // 2)
        yield part[:end]
        start += end
    yield paragraph[start:]


def _whole_quotes(parts: list[str]) -> list[str]:
    """Put 「…。」 and the と that reports it back into one sentence."""
    whole: list[str] = []
    for part in parts:
        if whole and _QUOTED_THEN.match(part) and whole[-1].rstrip().endswith(("」", "』")):
            whole[-1] += part
        else:
            whole.append(part)
    return whole


def _cut_long(sentence: str) -> Iterator[Piece]:
    text = _without_opening(sentence.strip())
    spaced = text.split()
    if _is_run_on(text, spaced):
        yield from _chunks(spaced)
    elif is_wide(text) and width(text) > CLAUSE_COLUMNS:
        for part in _JAPANESE_SPACE.split(text):
            yield from _clauses(part) if width(part) > 2 * CLAUSE_COLUMNS else [Piece(part)]
    elif text:
        yield Piece(text)


def _without_opening(text: str) -> str:
    for opening in (words.GREETING, words.OPENER_JA):
        found = opening.match(text)
        if found:
            rest = text[found.end() :]
            text = rest[:1].upper() + rest[1:] if text[0].isupper() else rest
    return text


def _clauses(text: str) -> Iterator[Piece]:
    """Japanese text without full stops, in runs of clauses that fill `CLAUSE_COLUMNS`."""
    current, follows = "", False
    for clause in _CLAUSE.findall(text):
        if current and width(current) + width(clause) > CLAUSE_COLUMNS:
            yield Piece(current.strip(), follows)
            current, follows = "", True
        current += clause
    if current.strip():
        yield Piece(current.strip(), follows)


def _is_run_on(text: str, spaced: list[str]) -> bool:
    marks = sum(map(text.count, ",;:.()—"))
    if text.islower() and not marks:
        return len(spaced) > RUN_ON_WORDS // 3
    return len(spaced) > RUN_ON_WORDS and marks * RUN_ON_WORDS < len(spaced)


def _chunks(spaced: list[str]) -> Iterator[Piece]:
    for segment in _segments(spaced):
        start, follows = 0, False
        while start < len(segment):
            end = start + _chunk_size(segment[start : start + CHUNK_WORDS + 3])
            chunk = _trimmed(segment[start:end])
            if chunk:
                yield Piece(" ".join(chunk), follows)
                follows = True
            start = end


def _chunk_size(segment: list[str]) -> int:
    """Words up to a request, or else the last connector, that leaves a chunk of sensible length."""
    for size in range(4, min(len(segment) - 2, CHUNK_WORDS)):
        if segment[size].lower() in words.REQUEST_WORDS and segment[size - 1].lower() not in words.LOOSE_END:
            return size
    if len(segment) <= CHUNK_WORDS + 2:
        return len(segment)
    for size in range(CHUNK_WORDS, CHUNK_WORDS // 2 - 1, -1):
        if segment[size].lower() in words.CONNECTORS:
            return size
    return CHUNK_WORDS - 2


def _trimmed(chunk: list[str]) -> list[str]:
    start, end = 0, len(chunk)
    while start < end and chunk[start].lower() in words.LOOSE_START:
        start += 1
    while end > start and chunk[end - 1].lower() in words.LOOSE_END:
        end -= 1
    return chunk[start:end]


def _segments(spaced: list[str]) -> Iterator[list[str]]:
    """Run-on words between the greetings, headers and closings that mail threads leave in them."""
    kinds = [_kind(word) for word in spaced]
    segment: list[str] = []
    opened_by = "greeting"
    for index, word in enumerate(spaced):
        if _is_border(spaced, kinds, index):
            if segment and not (opened_by == "closing" and _is_signature_words(segment)):
                yield segment
            segment, opened_by = [], kinds[index] or opened_by
        elif segment or not (opened_by == "greeting" and word.lower() in words.ADDRESSEE_WORDS):
            segment.append(word)
    if segment and not (opened_by == "closing" and _is_signature_words(segment)):
        yield segment


def _is_signature_words(segment: list[str]) -> bool:
    return 3 * sum(word.lower() in words.SIGNATURE_WORDS for word in segment) >= len(segment)


def _kind(word: str) -> str:
    found = _WORD.search(word.lower())
    bare = found.group() if found else ""
    for kind, members in _KINDS:
        if bare in members:
            return kind
    return ""


_KINDS = (
    ("greeting", words.GREETING_WORDS),
    ("closing", words.CLOSING_WORDS),
    ("header", words.HEADER_WORDS),
    ("date", words.DATE_WORDS),
)


def _is_border(spaced: list[str], kinds: list[str], index: int) -> bool:
    kind = kinds[index]
    after = kinds[index + 1] if index + 1 < len(kinds) else ""
    if kind == "date":
        before = kinds[index - 1] if index else "greeting"
        sent = index > 0 and spaced[index - 1].lower() == "sent"
        return sent or before in _ENVELOPE or after in _ENVELOPE
    if spaced[index].lower() == "sent":
        return after == "date"
    if spaced[index].lower() in {"best", "kind", "many"}:
        return after == "closing"
    return kind in {"greeting", "closing", "header"}


_ENVELOPE = frozenset({"greeting", "closing", "header", "date"})

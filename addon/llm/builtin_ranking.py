"""Choosing the pieces of a text that say most about it."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from addon.llm.builtin_clip import is_wide
from addon.llm.builtin_sentences import Piece
from addon.llm.builtin_words import CUE, FORMULA_EN, FORMULA_JA, NOTICE, STOP_WORDS

_WORD = re.compile(r"[^\W_]+")
_JAPANESE = re.compile(r"[々〆㐀-鿿豈-﫿]+|[ァ-ヺー]{2,}|[^\W_ぁ-ヿ々〆㐀-鿿豈-﫿]+")

WORTH_ADDING = 0.4
"""Where the person named no number, a further piece must score at least this part of the best one's score."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A piece with what ranking needs: its place in the row, its terms, a factor for how it reads."""

    piece: Piece
    order: int
    terms: frozenset[str]
    factor: float


def terms(text: str) -> list[str]:
    """The words of a text that carry meaning, in order, with repetitions.

    English words are lower-cased and lose a plural s. Of Japanese, runs of kanji (in pairs, as most compounds
    are made of pairs) and of katakana count; hiragana is grammar more often than not.
    """
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        for part in [word] if word.isascii() else _JAPANESE.findall(word):
            if "々" <= part[0] <= "〆" or "㐀" <= part[0] <= "鿿":
                found.extend(part[start : start + 2] for start in range(0, len(part), 2))
            elif len(part) > 3 and part[-1] == "s" and part[-2] != "s":
                found.append(part if part in STOP_WORDS else part[:-1])
            else:
                found.append(part)
    return [term for term in found if term not in STOP_WORDS and (len(term) > 1 or not term.isascii())]


def candidates(texts: Sequence[Sequence[Piece]], heading: frozenset[str]) -> list[Candidate]:
    """Prepare the pieces of each long field for `choose`; courtesy is left out.

    Parameters
    ----------
    texts
        The pieces of each long field; every field starts anew for the position prior.
    heading
        Terms of the short fields, such as a title.
    """
    found: list[Candidate] = []
    seen: set[str] = set()
    for field in texts:
        for position, piece in enumerate(field):
            if piece.text in seen or _is_courtesy(piece.text):
                continue
            seen.add(piece.text)
            own = frozenset(terms(piece.text))
            factor = 1.0 + 0.7 / (1 + position / 2)
            if CUE.search(piece.text):
                factor *= 1.3
            elif len(own) < 3:
                factor *= 0.4
            factor *= 0.3 if heading and own <= heading else 1.0
            factor *= 0.1 if NOTICE.search(piece.text) else 1.0
            found.append(Candidate(piece, len(found), own, factor))
    return found


def _is_courtesy(text: str) -> bool:
    rest, formulas = (FORMULA_JA if is_wide(text) else FORMULA_EN).subn(" ", text)
    return not _WORD.search(rest) or (formulas > 0 and len(set(terms(rest))) <= 1)


def choose(
    found: Sequence[Candidate],
    heading: frozenset[str],
    most: int,
    worth: float,
    fits: Callable[[Sequence[Candidate]], bool],
) -> list[Candidate]:
    """Take the best pieces, in the order of the text.

    Parameters
    ----------
    found, heading
        From `candidates`.
    most
        Most pieces to take.
    worth
        Part of the best piece's score that a further one must reach.
    fits
        Whether these pieces together are short enough. The first is taken in any case.
    """
    weights = _weights(found, heading)
    chosen: list[Candidate] = []
    covered: set[str] = set()
    enough = 0.0
    while len(chosen) < most:
        scores = {one.order: _score(one, weights, covered) for one in found if one not in chosen}
        ranked = sorted(scores, key=lambda order: (-scores[order], order))
        together = (
            _in_order([*chosen, found[order]]) for order in ranked if not chosen or scores[order] >= enough
        )
        extended = next((some for some in together if not chosen or fits(some)), None)
        if extended is None:
            break
        enough = enough or scores[ranked[0]] * worth
        chosen = extended
        covered = {term for one in chosen for term in one.terms}
    return chosen


def _in_order(some: Sequence[Candidate]) -> list[Candidate]:
    return sorted(some, key=lambda one: one.order)


def _weights(found: Sequence[Candidate], heading: frozenset[str]) -> dict[str, float]:
    """How much each term says: how many pieces share it (logarithmic), and whether the heading has it."""
    counts = Counter(term for candidate in found for term in candidate.terms)
    return {term: 1 + math.log(count) + (1.0 if term in heading else 0.0) for term, count in counts.items()}


def _score(candidate: Candidate, weights: dict[str, float], covered: set[str]) -> float:
    # fsum, because the order of a set, and with it the rounding of sum, differs between processes.
    total = math.fsum(weights[term] * (0.4 if term in covered else 1.0) for term in candidate.terms)
    # The exponent keeps a long sentence from winning by length alone, and one word from winning by density.
    return candidate.factor * total / math.pow(len(candidate.terms) + 4, 0.7)

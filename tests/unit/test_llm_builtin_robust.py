"""The offline summariser: shortening keeps characters whole, and neither odd text nor threads break it."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from addon.llm import builtin_clip
from addon.llm.base import Empty, Prompt, Text
from addon.llm.builtin import COLUMNS, Builtin
from addon.llm.builtin_clip import clip, is_blank, width


def test_english_is_shortened_at_a_word():
    assert clip("The projector shows a purple picture", 20) == "The projector shows…"
    assert clip("The projector, however", 15) == "The projector…"


def test_japanese_is_shortened_at_a_phrase():
    text = "パスワードを再設定してもログイン画面に戻ってしまいます"
    assert clip(text, 30) == "パスワードを再設定しても…"


def test_explicit_character_count_takes_wide_characters_as_one():
    assert width(clip("漢字" * 40, 21), 2) <= 21
    assert len(clip("漢字" * 40, 21, wide=1)) == 21


GRAPHEMES = [
    "a",
    "é",
    "e\u0301",
    "👩‍👩‍👧",
    "👍🏽",
    "🇯🇵",
    "🇩🇪",
    "が",
    "か\u3099",
    "한",
    "\u1112\u1161\u11ab",
    "क्ष",
    "❤️",
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(GRAPHEMES), min_size=1, max_size=60), st.integers(16, 60))
def test_cut_never_falls_inside_a_visible_character(parts: list[str], columns: int):
    kept = clip("".join(parts), columns).removesuffix("…")
    whole = {"".join(parts[:count]) for count in range(len(parts) + 1)}
    assert kept in whole


@settings(deadline=None)
@given(st.text(max_size=300), st.integers(2, 80), st.sampled_from([1, 2]))
def test_clipped_text_keeps_the_limit_and_is_a_prefix(text: str, columns: int, wide: int):
    clipped = clip(text, columns, wide)
    assert width(clipped, wide) <= columns
    assert clipped == text or text.startswith(clipped.removesuffix("…"))


SPECIAL = [
    "\r",
    "\u3000",
    "\t",
    "\x00",
    "\x1b",
    "\ud800",
    "\udfff",
    "\u202e",
    "\u200d",
    "\n",
    " ",
    "x",
    "---",
    "=",
]
ENGLISH = [
    "hi ",
    "Dear A,",
    "thanks",
    "regards,\n",
    "sent monday ",
    "re ",
    "please ",
    ". ",
    "? ",
    "!!!",
    "> ",
    "• ",
]
OTHERS = [
    "。",
    "」",
    "、",
    "様\n",
    "エラー",
    "よろしくお願いします。",
    "שלום ",
    "مرحبا؟ ",
    "ไทย",
    "👩‍👩‍👧",
    "🇯🇵",
]
FRAGMENTS = st.sampled_from([*SPECIAL, *ENGLISH, *OTHERS])
ANYTHING = st.one_of(
    st.lists(FRAGMENTS, max_size=60).map("".join),
    st.text(st.characters(exclude_categories=[]), max_size=400),
    st.text("abc .,\n漢字かな。", max_size=600),
)
INSTRUCTIONS = st.sampled_from(
    ["", "3 bullets", "一行で", "within 40 characters", "箇条書き", "10 words", "99 lines"]
)


@settings(max_examples=400, deadline=None)
@given(INSTRUCTIONS, st.lists(st.tuples(st.text(max_size=8), ANYTHING), max_size=3))
@example("", [("", "\ud83d")])
@example("", [("", "0"), ("0\r0", "0")])
@example("", [("t", "!" * 300)])
@example("3 bullets", [("t", "\u0301" * 300)])
def test_any_text_gives_a_clean_short_summary_or_empty(instructions: str, fields: list[tuple[str, str]]):
    prompt = Prompt(instructions, tuple(fields))
    outcome = Builtin().summarise(prompt, timeout=1.0)
    assert outcome == Builtin().summarise(prompt, timeout=1.0)
    if isinstance(outcome, Empty):
        assert all(is_blank(text) for _, text in fields)
        return
    assert isinstance(outcome, Text)
    assert any(not is_blank(text) for _, text in fields)
    assert not is_blank(outcome.text)
    outcome.text.encode("utf-8")
    assert not any(character < " " and character != "\n" for character in outcome.text)
    if not any(sign in instructions for sign in ("bullets", "箇条書き", "lines")):
        assert width(outcome.text) <= COLUMNS
        assert "\n" not in outcome.text


def test_many_threads_get_the_answers_one_thread_gets():
    letters = [
        f"Hello, order {number} came without charger. Please send it. {number}を返品したいです。"
        for number in range(120)
    ]
    prompts = [Prompt("", (("t", letter * 3),)) for letter in letters]
    model = Builtin()
    alone = [model.summarise(prompt, 1.0) for prompt in prompts]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda prompt: model.summarise(prompt, 1.0), prompts)) == alone


def test_library_is_loaded_once_though_many_threads_ask_first():
    everybody = threading.Barrier(8)
    second_inside = threading.Event()
    loads: list[int] = []

    def load() -> str:
        loads.append(1)
        if len(loads) > 1:
            second_inside.set()
        second_inside.wait(0.2)  # room for a second thread to come in, were there no lock
        return "library"

    lazily = builtin_clip._Lazily(load)

    def ask(_: int) -> str:
        everybody.wait(10)
        return lazily()

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, range(8))) == ["library"] * 8
    assert loads == [1]


def test_another_process_gives_the_same_summary():
    code = (
        "from addon.llm.base import Prompt; from addon.llm.builtin import Builtin\n"
        "text = ' '.join(f'Lamp {n} of hall {n % 7} flickers and door {n % 5} jams.' for n in range(60))\n"
        "print(Builtin().summarise(Prompt('8 sentences', (('t', text),)), 1.0))"
    )
    root = Path(__file__).parents[2]
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(answers) == 1


def test_importing_the_adapter_does_not_load_its_libraries():
    root = Path(__file__).parents[2]
    code = "import sys, addon.llm.builtin; sys.exit('budoux' in sys.modules or 'sentencex' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0

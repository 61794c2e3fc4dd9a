"""The offline summariser: what it quotes, how it shortens, and that no text can break it."""

import pytest

from addon.llm.base import Empty, LanguageModel, Prompt, Text, Usage
from addon.llm.builtin import Builtin
from addon.llm.builtin_clip import tokens
from addon.llm.builtin_sentences import pieces

REFUND = """Hi Support Team,

I hope this message finds you well.
On 3 March I was charged twice for my annual subscription (invoice 88123). Please refund the second charge.

Best regards,
Carla Example
Operations Manager"""

LOGIN = """お世話になっております。
株式会社さくら商事の田中です。

昨日からマイページにログインできません。パスワードを再設定しても「認証に失敗しました。」と表示されます。
お手数をおかけしますが、ご確認のほどよろしくお願いいたします。

------------------
株式会社さくら商事
TEL: 03-0000-0000"""

RUN_ON = (
    "sent tuesday march charger hi everyone i left the charger of my laptop at the client site during the "
    "last visit please send a replacement to the office thanks best regards engineer ext re charger hello"
)


def summary(*fields: tuple[str, str], instructions: str = "") -> str:
    outcome = Builtin().summarise(Prompt(instructions, fields), timeout=1.0)
    assert isinstance(outcome, Text)
    return outcome.text


def test_is_a_language_model_with_a_stable_name_and_settings():
    model: LanguageModel = Builtin()
    assert model.name == "builtin-1"
    assert model.settings == {"sentences": 2, "columns": 200}


def test_english_letter_gives_its_matter_without_greeting_or_signature():
    assert summary(("body", REFUND)) == (
        "On 3 March I was charged twice for my annual subscription (invoice 88123). "
        "Please refund the second charge."
    )


def test_japanese_letter_gives_its_matter_without_set_phrases_or_signature():
    assert summary(("本文", LOGIN)) == (
        "昨日からマイページにログインできません。"
        "パスワードを再設定しても「認証に失敗しました。」と表示されます。"
    )


def test_mixed_text_keeps_both_languages_whole():
    text = "Google Sheetsとの連携で403エラーが表示されます。We tried Chrome and Edge and get the same error."
    assert summary(("text", text)) == text


def test_run_on_ticket_gives_a_phrase_without_mail_residue():
    text = summary(("title", "charger"), ("body", RUN_ON))
    assert "left the charger of my laptop at the client site" in text
    assert "please send a replacement to the office" in text
    for residue in ("tuesday", "everyone", "thanks", "regards", "engineer"):
        assert residue not in text.split()


def test_japanese_without_full_stops_is_cut_at_its_spaces():
    text = (
        "スタッフの対応がとても丁寧で料理も温かいうちに出てきて満足でした "
        "ただ駐車場が狭くて入りにくいのと週末は二十分ほど待たされたのが残念です "
        "子ども用の椅子がもう少しあると家族連れには助かります"
    )
    assert summary(("感想", text), instructions="一行で").count("です") <= 1
    assert [piece.text for piece in pieces(text)] == text.split(" ")


def test_legal_notice_loses_against_the_matter():
    notice = (
        "Copying this printer message or printing its contents for anybody but the intended recipient is "
        "prohibited, and the printer company accepts no liability for errors."
    )
    text = f"The printer on the third floor jams. {notice}"
    assert summary(("t", text), instructions="one sentence") == "The printer on the third floor jams."


def test_title_decides_which_sentence_is_central():
    body = (
        "The kitchen on the second floor was painted green over the weekend. "
        "The projector in the large room shows a purple picture since Monday."
    )
    assert "projector" in summary(("title", "Projector"), ("body", body), instructions="one sentence")
    assert "kitchen" in summary(("title", "Kitchen"), ("body", body), instructions="one sentence")


def test_sentences_stay_in_the_order_of_the_text():
    body = (
        "First the battery died. Then the battery charger failed with an error. Nothing else happened at all."
    )
    text = summary(("body", body))
    assert [body.index(part) for part in text.split(". ")] == sorted(
        body.index(part) for part in text.split(". ")
    )


def test_row_of_short_cells_is_told_whole_with_its_titles():
    assert summary(("Name", "Ito"), ("Stars", "5"), ("", "great")) == "Name: Ito; Stars: 5; great"
    assert summary(("氏名", "伊藤"), ("評価", "5")) == "氏名：伊藤、評価：5"
    assert summary(("Comment", "  all\nfine ")) == "all fine"


def test_courtesy_alone_still_gives_a_summary():
    text = "Hello,\nthank you so much for your help and have a nice day!\nBest regards,\nAnna"
    assert summary(("t", text)).startswith("Hello, thank you so much")


def test_quoted_mail_and_headers_are_left_out():
    text = (
        "The export still stops at row 500 and shows no message.\n\n"
        "On Tuesday, Support wrote:\n> Please try the export once more.\n"
        "From: support@example.com\nSubject: export"
    )
    assert summary(("t", text)) == "The export still stops at row 500 and shows no message."


@pytest.mark.parametrize(
    ("instructions", "bullets"),
    [
        ("3 bullets", 3),
        ("Summarise in two short bullet points.", 2),
        ("a bulleted list", 3),
        ("as a bullet-point list", 3),
        ("箇条書き3点", 3),
        ("２つの箇条書きで", 2),
        ("三項目の箇条書き", 3),
        ("Write one paragraph, no bullet points", 0),
        ("箇条書きにしないでください", 0),
        ("", 0),
    ],
)
def test_bullets_are_given_when_asked_for(instructions: str, bullets: int):
    body = (
        "The invoice shows a wrong address. The amount differs from the quote. "
        "Delivery is late by a week. The box was damaged on one side."
    )
    lines = summary(("t", body), instructions=instructions).split("\n")
    assert sum(line.startswith("• ") for line in lines) == bullets
    assert bullets in (0, len(lines))


@pytest.mark.parametrize(
    ("instructions", "sentences"),
    [
        ("one line", 1),
        ("In a single sentence", 1),
        ("a short sentence", 1),
        ("一行で", 1),
        ("1文で要約", 1),
        ("一言で", 1),
        ("3 sentences", 3),
    ],
)
def test_number_of_sentences_is_followed(instructions: str, sentences: int):
    body = "The invoice is wrong. The amount differs. Delivery is late. The box was damaged."
    assert summary(("t", body), instructions=instructions).count(".") == sentences


@pytest.mark.parametrize(
    ("instructions", "most"), [("within 60 characters", 60), ("40文字以内", 40), ("５０字で", 50)]
)
def test_length_in_characters_is_kept(instructions: str, most: int):
    for text in (REFUND, LOGIN, RUN_ON):
        assert len(summary(("t", text), instructions=instructions)) <= most


@pytest.mark.parametrize("text", ["", " ", "\n\t\r", "\u3000", "\u200b\ufeff", "\x00\x07", "\u200d\u2060"])
def test_blank_row_is_empty(text: str):
    assert isinstance(Builtin().summarise(Prompt("Summarise", (("t", text),)), 1.0), Empty)


def test_row_without_fields_is_empty():
    assert isinstance(Builtin().summarise(Prompt("Summarise", ()), 1.0), Empty)


def test_longest_cell_is_read_to_its_end():
    needle = "The delivery of order 771 never arrived and the courier refused a refund."
    text = "Nice weather. " * 3_500 + needle
    assert needle in summary(("order 771", "order 771"), ("t", text[-50_000:]))


def test_usage_counts_four_latin_characters_or_one_full_width_as_a_token():
    assert [tokens(text) for text in ("", "word", "words", "漢字", "漢字 word")] == [0, 1, 2, 2, 4]
    outcome = Builtin().summarise(Prompt("four", (("body", "all fine"),)), 1.0)
    assert outcome == Text("all fine", Usage(input_tokens=1 + 1 + 2, output_tokens=2))

"""The demo page in a real browser: the sheet is live, and cards are drawn and answered as Google does."""

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import chromium_page
from fake_addon import FakeAddOn, card, clicked, gallery, shown, text
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect

from addon.simulator.server import Simulator
from addon.simulator.workbook import Workbook

pytestmark = pytest.mark.browser

ASK_FOR_FILE = {
    "renderActions": {"hostAppAction": {"editorAction": {"requestFileScopeForActiveDocument": {}}}}
}
ROWS = [["id", "text"], ["1", "pear"], ["2", "apple"], ["3", "fig"]]
LONG = "This text is much longer than three lines of a cell can hold. " * 12


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium_page() as page:
        browser = page.context.browser
        assert browser is not None
        yield browser


class Demo:
    """The page, and both ends of what it shows."""

    def __init__(self, page: Page, google: Simulator, addon: FakeAddOn) -> None:
        self.page, self.google, self.addon = page, google, addon
        self.spreadsheet = google.workbooks.create("Inquiries", ROWS, "Mail")
        self.requests: list[str] = []
        self.errors: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._said)

    def _said(self, message: ConsoleMessage) -> None:
        # A refusal of the page's server, or a picture that is not there, is no error of the page.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self.errors.append(message.text)

    @property
    def workbook(self) -> Workbook:
        return self.google.workbooks.get(self.spreadsheet)

    def open(self, home: Any = None, language: str = "en") -> None:
        if home is not None:
            self.addon.answers["home"] = home
        self.page.goto(f"{self.google.url}/page/?spreadsheet={self.spreadsheet}&lang={language}")
        expect(self.cell(0, 0)).to_have_text("id")
        expect(self.panel).to_have_attribute("aria-busy", "false")

    def cell(self, row: int, column: int) -> Locator:
        return self.page.locator(f"#cell-{row}-{column}")

    @property
    def panel(self) -> Locator:
        return self.page.locator("#panel")

    @property
    def notice(self) -> Locator:
        return self.panel.get_by_role("alert")

    def click(self, name: str) -> None:
        self.panel.get_by_role("button", name=name, exact=True).click()

    def shows(self, *column: str) -> None:
        for row, content in enumerate(column, start=1):
            expect(self.cell(row, 1)).to_have_text(content)


@pytest.fixture
def demo(browser: Browser, tmp_path: Path) -> Iterator[Demo]:
    with FakeAddOn() as addon, Simulator(tmp_path, service=addon.url) as google:
        addon.answers["home"] = shown(card(text("Hello")))
        context = browser.new_context(viewport={"width": 1280, "height": 800}, timezone_id="Asia/Tokyo")
        demo = Demo(context.new_page(), google, addon)
        yield demo
        context.close()
        assert demo.errors == []
        assert [url for url in demo.requests if not url.startswith((google.url, addon.url))] == []


# The sheet


def test_what_is_written_to_the_sheet_appears_by_itself_and_is_marked(demo: Demo) -> None:
    demo.open()
    demo.shows("pear", "apple", "fig")
    demo.workbook.set_cell(0, 2, 2, "A summary")
    expect(demo.cell(2, 2)).to_have_text("A summary")
    expect(demo.cell(2, 2)).to_have_class(re.compile("fresh"))
    expect(demo.cell(1, 1)).not_to_have_class(re.compile("fresh"))


def test_a_cell_is_edited_with_the_keyboard(demo: Demo) -> None:
    demo.open()
    demo.cell(1, 1).click()
    keys = demo.page.keyboard
    keys.press("Enter")
    keys.type(" tree")
    keys.press("Enter")
    expect(demo.cell(1, 1)).to_have_text("pear tree")
    expect(demo.cell(2, 1)).to_have_class(re.compile("active"))
    keys.type("plum")
    keys.press("Tab")
    demo.shows("pear tree", "plum", "fig")
    expect(demo.cell(2, 2)).to_have_class(re.compile("active"))
    keys.press("ArrowLeft")
    keys.press("F2")
    keys.type(" never kept")
    keys.press("Escape")
    keys.press("ArrowDown")
    keys.press("Delete")
    expect(demo.cell(3, 1)).to_have_text("")
    assert demo.workbook.cells(0) == [["id", "text"], ["1", "pear tree"], ["2", "plum"], ["3", ""]]


def test_an_edit_lands_in_its_row_though_the_rows_are_sorted_while_somebody_types(demo: Demo) -> None:
    demo.open()
    demo.cell(1, 1).dblclick()
    demo.page.keyboard.type(" tree")
    demo.workbook.sort(0, 1)
    demo.shows("apple", "fig", "pear")
    demo.page.keyboard.press("Enter")
    demo.shows("apple", "fig", "pear tree")


def test_somebody_who_edits_a_row_deleted_meanwhile_is_told(demo: Demo) -> None:
    demo.open()
    demo.cell(1, 1).dblclick()
    demo.page.keyboard.type(" tree")
    demo.workbook.delete_rows(0, 1)
    demo.shows("apple", "fig", "")
    demo.page.keyboard.press("Enter")
    expect(demo.panel.get_by_role("status")).to_contain_text("changed or deleted")
    assert [row[1] for row in demo.workbook.cells(0)] == ["text", "apple", "fig"]


def test_rows_are_sorted_inserted_and_deleted_from_menus(demo: Demo) -> None:
    demo.open()
    demo.page.locator(".letter").nth(1).hover()
    demo.page.get_by_label("Menu of column B").click()
    demo.page.get_by_role("menuitem", name="Sort by column B, A to Z").click()
    demo.shows("apple", "fig", "pear")
    demo.cell(2, 1).click(button="right")
    demo.page.get_by_role("menuitem", name="Delete row 3").click()
    demo.shows("apple", "pear", "")
    demo.page.keyboard.press("ArrowUp")
    demo.page.keyboard.press("Shift+F10")
    demo.page.keyboard.press("ArrowDown")
    demo.page.keyboard.press("Enter")
    demo.shows("apple", "", "pear")


def test_a_long_text_is_cut_after_three_lines_and_shown_whole_on_its_cell(demo: Demo) -> None:
    demo.workbook.set_cell(0, 2, 1, LONG)
    demo.open()
    assert demo.cell(2, 1).evaluate("cell => cell.clientHeight") < 70
    demo.cell(2, 1).click()
    expect(demo.page.locator(".peek")).to_have_text(LONG)
    expect(demo.page.locator(".peek")).to_be_visible()
    expect(demo.cell(2, 1)).to_have_text(LONG)
    demo.page.keyboard.press("Escape")
    expect(demo.page.locator(".peek")).to_be_hidden()


def test_a_sheet_of_many_rows_keeps_only_those_in_sight_in_the_document(demo: Demo) -> None:
    rows = [("id", "text"), *((str(number), LONG) for number in range(1, 5001))]
    demo.workbook.insert_rows(0, 0, rows=rows)
    demo.open()
    demo.cell(1, 0).click()
    for row in (4900, 100, 2500, 4000, 800, 3200):
        demo.page.get_by_role("grid").evaluate("(grid, row) => grid.scrollTo(0, 60 * row)", row)
        expect(demo.page.locator(".row .number", has_text=re.compile(rf"^{row}$"))).to_have_count(1)
        assert demo.page.locator(".row").count() < 60
    demo.page.keyboard.press("Control+End")
    expect(demo.cell(5003, 0)).to_be_visible()
    expect(demo.cell(0, 0)).to_be_visible()


def test_other_sheets_of_the_spreadsheet_are_tabs(demo: Demo) -> None:
    other = demo.workbook.add_sheet("Second")
    demo.workbook.set_cell(other, 0, 0, "Over here")
    demo.open()
    demo.page.get_by_role("tab", name="Second").click()
    expect(demo.cell(0, 0)).to_have_text("Over here")
    demo.page.keyboard.press("ArrowLeft")
    expect(demo.cell(0, 0)).to_have_text("id")
    expect(demo.page.get_by_role("tab", name="Mail")).to_have_attribute("aria-selected", "true")


def test_the_keyboard_is_never_caught_in_the_grid(demo: Demo) -> None:
    demo.open(shown(card({"buttonList": {"buttons": [demo.addon.button("Go", "go")]}})))
    demo.cell(1, 1).click()
    demo.page.keyboard.press("F6")
    expect(demo.panel.get_by_role("button", name="Go")).to_be_focused()
    demo.page.keyboard.press("F6")
    expect(demo.page.get_by_role("grid")).to_be_focused()
    demo.page.keyboard.press("End")
    demo.page.keyboard.press("Tab")
    expect(demo.page.get_by_role("grid")).not_to_be_focused()


# The panel


def test_the_first_run_is_three_clicks_away(demo: Demo) -> None:
    demo.addon.answers |= {
        "connect": ASK_FOR_FILE,
        "file-granted": shown(
            card(text("Choose"), fixedFooter={"primaryButton": demo.addon.button("Run summaries", "run")})
        ),
        "run": clicked({"updateCard": card(text("Working"))}, notification={"text": "Started"}),
    }
    demo.open(
        shown(card(text("Connect"), fixedFooter={"primaryButton": demo.addon.button("Allow", "connect")}))
    )
    demo.click("Allow")
    question = demo.page.get_by_role("dialog")
    expect(question).to_contain_text("Inquiries")
    question.get_by_role("button", name="Allow").click()
    demo.click("Run summaries")
    expect(demo.panel).to_contain_text("Working")
    expect(demo.panel.get_by_role("status")).to_have_text("Started")
    assert demo.addon.last("run")["sheets"]["id"] == demo.spreadsheet
    assert demo.addon.last("run")["commonEventObject"]["timeZone"] == {
        "id": "Asia/Tokyo",
        "offset": 32_400_000,
    }


def test_a_person_who_does_not_allow_the_file_stays_where_they_were(demo: Demo) -> None:
    demo.addon.answers["connect"] = ASK_FOR_FILE
    demo.open(
        shown(card(text("Connect"), fixedFooter={"primaryButton": demo.addon.button("Allow", "connect")}))
    )
    demo.click("Allow")
    demo.page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(demo.panel).to_contain_text("Connect")
    assert [name for name, _ in demo.addon.events] == ["home", "connect"]


def test_all_widgets_are_drawn_and_what_they_hold_is_sent(demo: Demo) -> None:
    demo.addon.answers["run"] = clicked({"pushCard": card(text("Sent"))})
    demo.open(shown(gallery(demo.addon)))
    panel = demo.panel
    expect(panel.get_by_role("heading", name="All widgets")).to_be_visible()
    expect(panel.get_by_text("Shown when unfolded")).to_be_hidden()
    demo.click("Show more")
    expect(panel.get_by_text("Shown when unfolded")).to_be_visible()
    panel.get_by_label("Title").fill("Kurzfassung")
    panel.get_by_role("radio", name="Item 2").check()
    panel.get_by_role("group", name="Switches").get_by_role("switch", name="Item 0").check()
    panel.get_by_label("List").select_option("Item 2")
    panel.get_by_label("Search").fill("column 1")
    many = panel.get_by_role("group", name="Many")
    many.get_by_label("Column 1", exact=True).check()
    many.get_by_label("Column 12").check()
    expect(many.get_by_label("Column 13")).to_be_disabled()
    demo.click("Run")
    expect(panel).to_contain_text("Sent")
    common = demo.addon.last("run")["commonEventObject"]
    assert common["parameters"] == {"op": "start"}
    assert {name: sent["stringInputs"]["value"] for name, sent in common["formInputs"].items()} == {
        "tell": ["yes"],
        "title": ["Kurzfassung"],
        "wish": ["Two\nlines"],
        "boxes": ["v1"],
        "one": ["v2"],
        "switches": ["v0", "v1"],
        "list": ["v2"],
        "many": ["c1", "c12"],
    }
    expect(demo.notice).to_have_count(0)


def test_texts_show_the_documented_html_and_nothing_else(demo: Demo) -> None:
    nasty = (
        "<b>bold</b> <script>alert(1)</script> <img src=x onerror=alert(2)> "
        '<a href="javascript:alert(3)">no</a> '
        '<a href="https://example.com/?a=1&amp;b=2" onclick="alert(4)">yes</a> &lt;b&gt; '
        '<font color="#c5221f">red</font>'
        "<i>open <u>both</i> a < b"
    )
    demo.open(shown(card(text(nasty))))
    paragraph = demo.panel.locator(".paragraph")
    expect(paragraph).to_have_text("bold alert(1)  no yes <b> redopen both a < b")
    assert paragraph.locator("*").evaluate_all("all => all.map(node => node.localName)") == [
        *("b", "span", "a", "span", "i", "u"),
    ]
    link = paragraph.locator("a")
    expect(link).to_have_attribute("href", "https://example.com/?a=1&b=2")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    assert link.evaluate("node => node.getAttributeNames()") == ["href", "target", "rel"]


def test_cards_are_a_stack_with_a_way_back(demo: Demo) -> None:
    addon = demo.addon
    buttons = {
        "buttonList": {"buttons": [addon.button(name, name) for name in ("deeper", "up", "root", "named")]}
    }
    levels = iter(range(2, 9))

    def deeper(event: Any) -> Any:
        level = next(levels)
        return clicked({"pushCard": {**card(text(f"Level {level}"), buttons), "name": f"level{level}"}})

    addon.answers |= {
        "deeper": deeper,
        "up": clicked({"pop": True}),
        "root": clicked({"popToRoot": True}),
        "named": clicked({"popToCard": "level5"}),
    }
    demo.open(shown(card(text("Level 1"), buttons)))
    expect(demo.panel.get_by_label("Back")).to_have_count(0)
    for name, level in [("deeper", 2), ("deeper", 3), ("up", 2), ("deeper", 4), ("root", 1), ("deeper", 5)]:
        demo.click(name)
        expect(demo.panel.get_by_text(f"Level {level}")).to_be_visible()
    for name, level in [("deeper", 6), ("deeper", 7), ("named", 5)]:
        demo.click(name)
        expect(demo.panel.get_by_text(f"Level {level}")).to_be_visible()
    demo.panel.get_by_label("Back").click()
    expect(demo.panel.get_by_text("Level 1")).to_be_visible()


def test_a_card_in_a_card_is_shown_without_asking_the_add_on(demo: Demo) -> None:
    button = {"text": "Details", "onClick": {"card": card(text("The details"))}}
    demo.open(shown(card({"buttonList": {"buttons": [button]}})))
    demo.click("Details")
    expect(demo.panel).to_contain_text("The details")
    expect(demo.panel.get_by_label("Back")).to_be_visible()
    assert [name for name, _ in demo.addon.events] == ["home"]


def form_card(addon: FakeAddOn, note: str, **action: Any) -> Any:
    change = {"function": addon.function("changed"), "persistValues": True}
    boxes = [{"text": name, "value": name} for name in ("one", "two")]
    return card(
        text(note),
        {"textInput": {"name": "title", "label": "Title", "value": note}},
        {
            "selectionInput": {
                "name": "boxes",
                "label": "Boxes",
                "type": "CHECK_BOX",
                "items": boxes,
                "onChangeAction": change,
            }
        },
        {"buttonList": {"buttons": [addon.button("Send", "send", **action)]}},
    )


def test_an_updated_card_keeps_what_was_filled_in_and_where_the_keyboard_was(demo: Demo) -> None:
    demo.addon.answers["changed"] = clicked({"updateCard": form_card(demo.addon, "second")})
    demo.open(shown(form_card(demo.addon, "first")))
    demo.panel.get_by_label("Title").fill("mine")
    demo.panel.get_by_label("two").press("Space")
    expect(demo.panel.get_by_text("second")).to_be_visible()
    expect(demo.panel.get_by_label("Title")).to_have_value("mine")
    expect(demo.panel.get_by_label("two")).to_be_checked()
    expect(demo.panel.get_by_label("two")).to_be_focused()


@pytest.mark.parametrize(("action", "kept"), [({}, "first"), ({"persistValues": True}, "mine")])
def test_a_click_clears_the_form_unless_its_action_persists_values(
    demo: Demo, action: dict[str, Any], kept: str
) -> None:
    demo.addon.answers["send"] = clicked(notification={"text": "Sent"})
    demo.open(shown(form_card(demo.addon, "first", **action)))
    demo.panel.get_by_label("Title").fill("mine")
    demo.click("Send")
    expect(demo.panel.get_by_role("status")).to_have_text("Sent")
    expect(demo.panel.get_by_label("Title")).to_have_value(kept)
    assert demo.addon.last("send")["commonEventObject"]["formInputs"]["title"] == {
        "stringInputs": {"value": ["mine"]}
    }


def test_a_required_input_is_asked_for_before_anything_is_sent(demo: Demo) -> None:
    demo.addon.answers["send"] = clicked({"pushCard": card(text("Sent"))})
    demo.open(shown(form_card(demo.addon, "first", requiredWidgets=["title", "boxes"])))
    demo.panel.get_by_label("Title").fill("")
    demo.click("Send")
    expect(demo.panel.get_by_text("Please fill this in.")).to_have_count(2)
    expect(demo.panel.get_by_label("Title")).to_be_focused()
    assert [name for name, _ in demo.addon.events] == ["home"]


def test_the_card_waits_while_the_add_on_works_and_a_second_click_sends_nothing(demo: Demo) -> None:
    arrived, go_on = threading.Event(), threading.Event()

    def slow(event: Any) -> Any:
        arrived.set()
        assert go_on.wait(30)
        return clicked({"updateCard": card(text("Sent"))})

    demo.addon.answers["send"] = slow
    demo.open(shown(form_card(demo.addon, "first")))
    demo.click("Send")
    try:
        expect(demo.panel).to_have_attribute("aria-busy", "true")
        expect(demo.panel.get_by_role("progressbar")).to_be_visible()
        assert arrived.wait(30)
        demo.panel.locator(".button", has_text="Send").dispatch_event("click")
    finally:
        go_on.set()
    expect(demo.panel).to_contain_text("Sent")
    assert [name for name, _ in demo.addon.events] == ["home", "send"]


def test_links_open_in_a_page_that_knows_nothing_of_this_one(demo: Demo) -> None:
    url = f"{demo.google.url}/file/d/{demo.spreadsheet}/view"
    demo.open(
        shown(card({"buttonList": {"buttons": [{"text": "Open", "onClick": {"openLink": {"url": url}}}]}}))
    )
    with demo.page.context.expect_page() as opened:
        demo.panel.get_by_role("link", name="Open").click()
    opened.value.wait_for_load_state()
    assert opened.value.url == url and opened.value.evaluate("window.opener") is None


def test_closing_and_opening_the_panel_asks_the_add_on_again(demo: Demo) -> None:
    demo.open()
    demo.panel.get_by_label("Close the panel").click()
    expect(demo.panel).to_be_hidden()
    demo.addon.answers["home"] = shown(card(text("Hello again")))
    demo.page.get_by_label("Open Sheet Summaries").click()
    expect(demo.panel).to_contain_text("Hello again")


def test_card_actions_are_in_the_panels_menu(demo: Demo) -> None:
    demo.addon.answers["settings"] = clicked({"pushCard": card(text("The settings"))})
    action = {"actionLabel": "Settings", "onClick": demo.addon.button("", "settings")["onClick"]}
    demo.open(shown(card(text("Hello"), cardActions=[action])))
    demo.panel.get_by_label("More").click()
    demo.page.get_by_role("menuitem", name="Settings").click()
    expect(demo.panel).to_contain_text("The settings")


def test_the_language_switch_changes_the_page_and_what_the_add_on_is_told(demo: Demo) -> None:
    demo.open()
    demo.page.get_by_label("Language").select_option("日本語")
    expect(demo.panel.get_by_label("パネルを閉じる")).to_be_visible()
    expect(demo.page.locator("html")).to_have_attribute("lang", "ja")
    expect(demo.panel).to_contain_text("Hello")
    locales = [event["commonEventObject"]["userLocale"] for _, event in demo.addon.events]
    assert locales[0].startswith("en") and locales[-1] == "ja"


PUSHED = {"pushCard": card(text("Pushed"))}
WRONG_ANSWERS = {
    "value of the wrong type": ("home", shown(card({"buttonList": {"buttons": 7}}))),
    "bad card in a card": (
        "home",
        shown(card({"buttonList": {"buttons": [{"text": "Go", "onClick": {"card": {"sections": 7}}}]}})),
    ),
    "relative function": (
        "home",
        shown(
            card({"buttonList": {"buttons": [{"text": "Go", "onClick": {"action": {"function": "/go"}}}]}})
        ),
    ),
    "function elsewhere": (
        "home",
        shown(
            card(
                {
                    "buttonList": {
                        "buttons": [
                            {"text": "Go", "onClick": {"action": {"function": "https://example.com/go"}}}
                        ]
                    }
                }
            )
        ),
    ),
    "a trigger answered like a click": ("home", clicked(PUSHED)),
    "wrapped twice": ("go", {"renderActions": {"renderActions": {"action": {"navigations": [PUSHED]}}}}),
    "mixed": ("go", {**clicked(PUSHED), "action": {"navigations": [PUSHED]}}),
    "popCard": ("go", clicked({"popCard": True})),
    "no such card": ("go", clicked({"popToCard": "nowhere"})),
    "empty": ("go", {}),
    "a list": ("go", [PUSHED]),
    "unknown widget": ("go", clicked({"pushCard": card({"progressBar": {"value": 4}})})),
    "unknown card field": ("go", clicked({"pushCard": card(text("x"), title="x")})),
    "footer without a button": ("go", clicked({"pushCard": card(text("x"), fixedFooter={})})),
    "script link": (
        "go",
        clicked(
            {
                "pushCard": card(
                    {
                        "buttonList": {
                            "buttons": [
                                {"text": "x", "onClick": {"openLink": {"url": "javascript:alert(1)"}}}
                            ]
                        }
                    }
                )
            }
        ),
    ),
}


@pytest.mark.parametrize(("name", "answer"), WRONG_ANSWERS.values(), ids=WRONG_ANSWERS)
def test_what_google_would_drop_without_a_word_is_said(demo: Demo, name: str, answer: Any) -> None:
    demo.addon.answers["home"] = shown(card({"buttonList": {"buttons": [demo.addon.button("Go", "go")]}}))
    demo.addon.answers[name] = answer
    demo.open()
    if demo.notice.count() == 0:
        demo.click("Go")
    expect(demo.notice).to_contain_text("something Google would ignore")


def test_asking_for_a_file_that_is_granted_is_said_to_show_nothing(demo: Demo) -> None:
    demo.addon.answers |= {
        "go": ASK_FOR_FILE,
        "file-granted": shown(card({"buttonList": {"buttons": [demo.addon.button("Again", "go")]}})),
    }
    demo.open(shown(card({"buttonList": {"buttons": [demo.addon.button("Go", "go")]}})))
    demo.click("Go")
    demo.page.get_by_role("dialog").get_by_role("button", name="Allow").click()
    demo.click("Again")
    expect(demo.notice).to_contain_text("the file is granted")
    expect(demo.page.get_by_role("dialog")).to_have_count(0)


def test_requested_scopes_are_asked_for_and_the_same_call_is_made_again(demo: Demo) -> None:
    wanted = {"requesting_google_scopes": {"scopes": ["https://www.googleapis.com/auth/drive.file"]}}
    answers = iter([wanted, clicked({"pushCard": card(text("Thanks"))})])
    demo.addon.answers["go"] = lambda event: next(answers)
    button = demo.addon.button("Go", "go", parameters=[{"key": "a", "value": "b"}])
    demo.open(shown(card({"buttonList": {"buttons": [button]}})))
    demo.click("Go")
    expect(demo.page.get_by_role("dialog")).to_contain_text("auth/drive.file")
    demo.page.get_by_role("dialog").get_by_role("button", name="Allow").click()
    expect(demo.panel).to_contain_text("Thanks")
    first, second = (
        event["commonEventObject"]["parameters"] for name, event in demo.addon.events if name == "go"
    )
    assert first == second == {"a": "b"}


def test_a_service_that_does_not_answer_can_be_asked_again(demo: Demo) -> None:
    demo.open(home=500)
    expect(demo.notice).to_contain_text("HTTP status 500")
    demo.addon.answers["home"] = shown(card(text("Up again")))
    demo.click("Try again")
    expect(demo.panel).to_contain_text("Up again")
    expect(demo.notice).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 1920])
def test_nothing_sticks_out_of_the_panel_and_the_page_never_scrolls(
    demo: Demo, width: int, scheme: Any
) -> None:
    demo.page.set_viewport_size({"width": width, "height": 800})
    demo.page.emulate_media(color_scheme=scheme)
    demo.open(shown(gallery(demo.addon)), language="ja")
    assert demo.panel.evaluate("panel => panel.clientWidth + 1") == 300
    assert demo.panel.locator(".card").evaluate("card => card.scrollWidth <= card.clientWidth")
    assert demo.page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert demo.page.evaluate("document.documentElement.scrollWidth <= innerWidth")

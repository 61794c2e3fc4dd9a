"""Google takes the deployment descriptor; it names routes that are there, all of them and no other."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

import pytest
from google.cloud import gsuiteaddons_v1
from google.protobuf import json_format
from test_sidebar_cards import BASE, LINKS, a_status, a_view, an_admin_card, named, parts, status_card
from werkzeug.routing import Map

from addon.app import create_app
from addon.jobs.records import Status
from addon.local import local_stack
from addon.manifest import ManifestError, read_template, render
from addon.settings import Settings
from addon.sidebar.cards import connect_card, error_card, help_card
from addon.sidebar.run_card import run_card
from addon.sidebar.status_card import Rights
from addon.sidebar.text import LANGUAGES, Words
from addon.sidebar.widgets import Json

LATER_KEY = "granularOauthPermissionSupport"
"""Documented, but not yet in the published proto (google-apps-script-type 0.8.1)."""
LANGUAGE = pytest.mark.parametrize("words", [Words(language) for language in LANGUAGES], ids=list(LANGUAGES))


def made(words: Words | None = None, name: str = "") -> Any:
    return render(read_template(), BASE, words or Words(), name)


def every_card(words: Words) -> Iterator[Json]:
    """Each kind of card, with every button it can have."""
    yield help_card(words)
    yield connect_card(words, LINKS)
    yield run_card(words, LINKS, a_view(words))
    yield run_card(words, LINKS, a_view(words, titles=[f"Column {index}" for index in range(60)]))
    yield error_card(words, LINKS, "x", "refresh", {})
    yield an_admin_card(words)
    for status in get_args(Status):
        for rights in (Rights(), Rights(commands=False), Rights(admin=True)):
            yield status_card(words, LINKS, "Book", a_status(status=status), rights=rights)


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory) -> Map:
    """The routes of the service."""
    with local_stack(Settings(state=tmp_path_factory.mktemp("state")), sweep=None) as (_, services):
        return create_app(services=services).url_map


def answers(routes: Map, url: str, method: str) -> bool:
    assert url.startswith(f"{BASE}/")
    return routes.bind("").test(urlsplit(url).path, method)


@LANGUAGE
def test_google_takes_the_descriptor(words: Words) -> None:
    manifest = made(words)

    assert manifest["addOns"]["httpOptions"].pop(LATER_KEY) == "OPT_IN"
    json_format.ParseDict(manifest, gsuiteaddons_v1.Deployment.pb(gsuiteaddons_v1.Deployment()))


def test_a_key_google_does_not_know_would_be_noticed() -> None:
    manifest = made()
    manifest["addOns"]["httpOptions"].pop(LATER_KEY)
    manifest["addOns"]["sheets"]["onFileScopeGranted"] = {}

    with pytest.raises(json_format.ParseError, match="onFileScopeGranted"):
        json_format.ParseDict(manifest, gsuiteaddons_v1.Deployment.pb(gsuiteaddons_v1.Deployment()))


def test_it_asks_for_no_more_than_the_one_file_the_address_and_the_language() -> None:
    manifest = made()

    assert sorted(scope.rsplit("/", 1)[1] for scope in manifest["oauthScopes"]) == [
        "drive.file",
        "script.locale",
        "userinfo.email",
    ]
    assert manifest["addOns"]["common"]["useLocaleFromApp"] is True
    assert manifest["addOns"]["httpOptions"]["authorizationHeader"] == "SYSTEM_ID_TOKEN"
    assert set(manifest["addOns"]) == {"common", "sheets", "httpOptions"}


def test_every_address_in_it_is_answered_by_the_service(routes: Map) -> None:
    manifest = made()

    for url in named(manifest, "runFunction"):
        assert answers(routes, url, "POST"), url
    assert answers(routes, manifest["addOns"]["common"]["logoUrl"], "GET")


def test_cards_and_descriptor_name_all_routes_of_the_sidebar_and_no_other(routes: Map) -> None:
    cards = [card for language in LANGUAGES for card in every_card(Words(language))]
    named_urls = {*named(made(), "runFunction")}.union(*(named(card, "function") for card in cards))

    assert all(answers(routes, url, "POST") for url in named_urls)
    served = {rule.rule for rule in routes.iter_rules() if rule.rule.startswith("/sidebar")}
    assert {urlsplit(url).path for url in named_urls} == served


@LANGUAGE
def test_a_card_only_opens_pages_that_the_descriptor_allows(words: Words) -> None:
    allowed = tuple(made()["addOns"]["common"]["openLinkUrlPrefixes"])
    opened = [value["url"] for card in every_card(words) for key, value in parts(card) if key == "openLink"]

    assert opened and all(url.startswith(allowed) for url in opened)


def test_the_menu_has_status_and_help_in_both_languages() -> None:
    menus = {
        language: [
            (item["label"], urlsplit(item["runFunction"]).path)
            for item in made(Words(language))["addOns"]["common"]["universalActions"]
        ]
        for language in LANGUAGES
    }

    assert menus == {
        "en": [("Status", "/sidebar/refresh"), ("Help", "/sidebar/help")],
        "ja": [("状況", "/sidebar/refresh"), ("ヘルプ", "/sidebar/help")],
    }


def test_the_name_is_the_products_or_the_operators_own() -> None:
    assert made()["addOns"]["common"]["name"] == "Sheet Summaries"
    assert made(Words("ja"))["addOns"]["common"]["name"] == "シート要約"
    assert made(name=' A "quoted" {name} ')["addOns"]["common"]["name"] == 'A "quoted" {name}'


def test_a_slash_at_the_end_makes_no_second_address() -> None:
    assert render(read_template(), f" {BASE}/ ", Words()) == made()


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "is not a URL"),
        ("summaries.example.com", "is not a URL"),
        ("https://", "is not a URL"),
        ("https://[::1", "is not a URL"),
        ("https://a.example.com:port", "is not a URL"),
        ("https://a.example.com/x y", "is not a URL"),
        ("http://a.example.com", "https://"),
        ("ftp://a.example.com", "https://"),
        ("https://a.example.com/?x=1", "no query"),
        ("https://a.example.com?", "no query"),
        ("https://a.example.com/#top", "no fragment"),
        ("https://user:secret@a.example.com", "no user name"),
        ("https://localhost:8080", "this machine"),
        ("https://127.0.0.1", "this machine"),
    ],
)
def test_an_address_google_cannot_call_is_refused_with_a_sentence(url: str, why: str) -> None:
    with pytest.raises(ManifestError, match=why) as refused:
        render(read_template(), url, Words())
    assert str(refused.value).endswith(".") and "secret" not in str(refused.value)


def test_a_missing_template_is_said_and_where_it_should_be(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"deployment\.json cannot be read .*checkout"):
        read_template(tmp_path / "deployment.json")


def the_command(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run it in a process of its own: it ends that at once if other threads are left in it."""
    command = [sys.executable, "-m", "addon", "manifest", *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=False)


def test_the_command_prints_it_ready_for_gcloud() -> None:
    run = the_command("--base-url", BASE, "--lang", "ja", "--name", "要約くん")

    assert (run.returncode, json.loads(run.stdout)) == (0, made(Words("ja"), "要約くん"))


def test_the_command_refuses_a_bad_address_in_one_line() -> None:
    run = the_command("--base-url", f"{BASE}?x=1")

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.count("\n") == 1 and "no query" in run.stderr

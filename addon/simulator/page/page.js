// Puts the page together: the sheet, kept up to date by asking every moment, and the add-on's panel beside it.

import { Offline, Refused, getNews, post } from "./api.js";
import { Book } from "./book.js";
import { el, iconButton } from "./dom.js";
import { Grid } from "./grid.js";
import { ABOVE, BELOW, DELETE, SORT_DOWN, SORT_UP } from "./icons.js";
import { letters } from "./layout.js";
import { openMenu } from "./menu.js";
import { Panel } from "./panel.js";
import { languageNow, say, setLanguage } from "./words.js";

const POLL_MS = 700;

const at = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);
const book = new Book();
let asked = query.get("spreadsheet") ?? "";
let shownTab = null;
let polling = null;

setLanguage((query.get("lang") ?? navigator.language).split("-")[0]);

const grid = new Grid(at("grid"), book, { edited, menu: openCellMenu, moved: showActive });
const panel = new Panel(
  at("panel"),
  at("rail"),
  () => asked,
  () => book.title,
);

function commands(kind) {
  const { row, column } = grid.active;
  const name = { column: letters(column), row: row + 1 };
  const sorting = [
    {
      key: "sortUp",
      icon: SORT_UP,
      text: say("sortUp", name),
      run: () => change("sort", { column, descending: false }),
    },
    {
      key: "sortDown",
      icon: SORT_DOWN,
      text: say("sortDown", name),
      run: () => change("sort", { column, descending: true }),
    },
  ];
  const rows = [
    ["above", ABOVE],
    ["below", BELOW],
    ["delete", DELETE],
  ].map(([action, icon]) => ({
    key: action,
    icon,
    text: say(action, name),
    run: () => change("rows", { action, row, id: grid.tab.row(row)?.id ?? null }),
  }));
  return kind === "column" ? sorting : [...rows, ...sorting];
}

function openCellMenu(place, kind) {
  openMenu(place, commands(kind));
}

function showActive() {
  const { row, column } = grid.active;
  at("place").textContent = `${letters(column)}${row + 1}`;
  at("content").textContent = grid.tab.text(row, column);
  if (at("toolbar").children.length === 0) {
    at("toolbar").append(
      ...commands().map(({ key, icon, text }) =>
        iconButton(icon, text, () =>
          commands()
            .find((item) => item.key === key)
            .run(),
        ),
      ),
    );
  }
  commands().forEach(({ text }, index) => {
    const button = at("toolbar").children[index];
    button.title = text;
    button.setAttribute("aria-label", text);
  });
}

function edited(cell, text) {
  return change("edit", { row: cell.row, id: cell.id, column: cell.column, text });
}

async function change(route, body) {
  try {
    await post(route, { spreadsheet: book.spreadsheet, sheet: grid.tab.id, ...body });
  } catch (error) {
    if (error instanceof Refused)
      panel.toast(error.status === 409 ? say("rowGone") : say("notSaved", { reason: error.message }));
    else if (error instanceof Offline) showOffline(true);
    else throw error;
  }
  await poll();
}

function showBook() {
  at("title").textContent = book.title;
  document.title = book.title;
  const tab = book.tabs.find((candidate) => candidate.id === shownTab) ?? book.tabs[0];
  shownTab = tab.id;
  grid.show(tab);
  const before = [...at("tabs").children].map(
    (node) => node.textContent + node.getAttribute("aria-selected"),
  );
  const buttons = book.tabs.map((each) =>
    el(
      "button",
      {
        type: "button",
        role: "tab",
        class: "tab",
        "aria-controls": "grid",
        "aria-selected": String(each === tab),
        tabindex: each === tab ? 0 : -1,
        onclick: () => showTab(each.id),
      },
      each.title,
    ),
  );
  if (
    before.join("\n") !==
    buttons.map((node) => node.textContent + node.getAttribute("aria-selected")).join("\n")
  )
    at("tabs").replaceChildren(...buttons);
}

function showTab(id) {
  shownTab = id;
  showBook();
  at("tabs").querySelector("[aria-selected=true]").focus();
}

function showOffline(offline, reason = say("offline")) {
  at("offline").hidden = !offline;
  at("offline").textContent = offline ? reason : "";
}

/** Ask for news once; calls while one is under way share its answer's follow-up. */
async function poll() {
  while (polling) await polling;
  polling = askForNews();
  await polling;
  polling = null;
}

async function askForNews() {
  try {
    const news = await getNews(asked, book.version);
    showOffline(false);
    if (!news) return;
    asked = news.spreadsheet;
    book.take(news);
    showBook();
  } catch (error) {
    if (error instanceof Offline) showOffline(true);
    else if (error instanceof Refused) showOffline(true, error.message);
    else throw error;
  }
}

async function keepUp() {
  if (!document.hidden) await poll();
  setTimeout(keepUp, POLL_MS);
}

function label() {
  at("where").textContent = say("where");
  at("language-label").textContent = say("language");
  at("language").value = languageNow();
  at("toolbar").setAttribute("aria-label", say("toolbar"));
  at("tabs").setAttribute("aria-label", say("sheets"));
  grid.relabel();
  showActive();
}

at("language").addEventListener("change", () => {
  setLanguage(at("language").value);
  label();
  panel.restart();
});
at("content").addEventListener("dblclick", () => grid.edit());
at("tabs").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const index = book.tabs.findIndex((tab) => tab.id === shownTab);
  if (step && book.tabs[index + step]) showTab(book.tabs[index + step].id);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "F6") return;
  event.preventDefault();
  if (at("panel").contains(document.activeElement)) grid.box.focus();
  else panel.focus();
});

await poll();
label();
keepUp();
await panel.restart();

// A popup menu that closes by itself, and modal questions.

import { el } from "./dom.js";
import { say } from "./words.js";

/** Open a menu below an element or at a point. Items are {text, run, disabled}. */
export function openMenu(at, items, label = "") {
  const before = document.activeElement;
  const buttons = items.map((item) =>
    el(
      "button",
      {
        type: "button",
        role: "menuitem",
        class: "menu-item",
        tabindex: -1,
        disabled: item.disabled,
        onclick: () => {
          close(true);
          item.run();
        },
      },
      item.text,
    ),
  );
  const menu = el(
    "div",
    {
      class: "menu",
      role: "menu",
      "aria-label": label || null,
      onkeydown: keyed,
      onfocusout: left,
      oncontextmenu: (event) => event.preventDefault(),
    },
    buttons,
  );
  document.body.append(menu);
  place(menu, at);
  buttons.find((button) => !button.disabled)?.focus();

  function close(giveFocusBack) {
    if (!menu.isConnected) return;
    menu.removeEventListener("focusout", left);
    menu.remove();
    if (giveFocusBack) before?.focus();
  }
  function left(event) {
    if (!menu.contains(event.relatedTarget)) close(false);
  }
  function keyed(event) {
    const enabled = buttons.filter((button) => !button.disabled);
    const index = enabled.indexOf(document.activeElement);
    const step = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: -1 }[event.key];
    if (step !== undefined) enabled.at(step % enabled.length)?.focus();
    else if (event.key === "Escape" || event.key === "Tab") close(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

function place(menu, at) {
  const box =
    at instanceof Element ? at.getBoundingClientRect() : { left: at.x, right: at.x, bottom: at.y, top: at.y };
  const left = Math.min(box.left, window.innerWidth - menu.offsetWidth - 8);
  const below = box.bottom + menu.offsetHeight + 8 <= window.innerHeight;
  menu.style.left = `${Math.max(8, left)}px`;
  menu.style.top = `${Math.max(8, below ? box.bottom : box.top - menu.offsetHeight)}px`;
}

/** Ask a question; resolves to whether the person allowed it. */
export function ask(title, ...content) {
  return new Promise((resolve) => {
    const allow = el(
      "button",
      { type: "button", class: "button filled", onclick: () => dialog.close("allow") },
      say("allow"),
    );
    const cancel = el(
      "button",
      { type: "button", class: "button text", onclick: () => dialog.close("") },
      say("cancel"),
    );
    const dialog = el(
      "dialog",
      { class: "question", "aria-labelledby": "question-title", onclose: done },
      el("h2", { id: "question-title" }, title),
      ...content,
      el("div", { class: "question-buttons" }, cancel, allow),
    );
    function done() {
      dialog.remove();
      resolve(dialog.returnValue === "allow");
    }
    document.body.append(dialog);
    dialog.showModal();
    allow.focus();
  });
}

// What the page says in the panel: why there is no card, and short messages at the bottom.

import { el, isObject } from "./dom.js";
import { say } from "./words.js";

const TOAST_MS = 6000;
const LINK_MS = 18_000;

export class Notices {
  /** `view` is where cards are shown; a notice stands above them until they are drawn anew. */
  constructor(view) {
    this.view = view;
    this.toasts = el("div", { class: "toasts", role: "status" });
  }

  /** Say that Google would have dropped something without a word. */
  ignored(reason, answer = null) {
    const shown = isObject(answer)
      ? el("details", {}, el("summary", {}, say("answer")), el("pre", {}, JSON.stringify(answer, null, 1)))
      : null;
    this.#show(el("strong", {}, say("ignored")), el("p", {}, reason), shown);
  }

  /** Say that the add-on could not be asked; `again` asks once more. */
  problem(sentence, again) {
    const retry = () => {
      this.view.querySelector(".notice")?.remove();
      void again();
    };
    const button = el("button", { type: "button", class: "button outlined", onclick: retry }, say("again"));
    this.#show(el("p", {}, sentence), button);
  }

  /** A short message, with a link if there is one. */
  toast(text, href = "") {
    const link = el("a", { href, target: "_blank", rel: "noopener noreferrer" }, say("openLink"));
    const node = el("div", { class: "toast" }, text ? el("span", {}, text) : null, href ? link : null);
    this.toasts.replaceChildren(node);
    setTimeout(() => node.remove(), href ? LINK_MS : TOAST_MS);
  }

  clear() {
    this.toasts.replaceChildren();
  }

  #show(...content) {
    this.view.querySelector(".notice")?.remove();
    this.view.prepend(el("div", { class: "notice", role: "alert" }, content));
  }
}

// The add-on's panel: asks the add-on for cards, keeps them in a stack and draws the one on top.

import { Ignored, readAnswer, readCard } from "./answers.js";
import { Offline, Refused, post } from "./api.js";
import { cardHead, cardNodes } from "./cards.js";
import { el, iconButton } from "./dom.js";
import { Form } from "./form.js";
import { CLOSE, MORE } from "./icons.js";
import { ask, openMenu } from "./menu.js";
import { Notices } from "./notices.js";
import { webAddress } from "./richtext.js";
import { click } from "./widgets.js";
import { localeNow, say } from "./words.js";

const ADD_ON = "Sheet Summaries";
const TRIGGERS = ["homepage", "fileGranted"];

export class Panel {
  constructor(place, rail, spreadsheet, title) {
    Object.assign(this, { place, rail, spreadsheet, title, stack: [], granted: false, busy: 0, round: 0 });
    this.view = el("div", { class: "view" });
    this.head = el("div", { class: "panel-head" });
    this.notices = new Notices(this.view);
    place.append(this.head, this.view, this.notices.toasts);
  }

  /** Open the panel anew: the stack is empty and the add-on is asked for its homepage. */
  async restart() {
    this.round += 1; // answers still under way belong to the panel that was closed
    Object.assign(this, { stack: [], busy: 0 });
    this.place.hidden = false;
    this.place.setAttribute("aria-label", say("panel"));
    this.rail.replaceChildren(
      el(
        "button",
        {
          type: "button",
          class: "rail-button",
          title: say("open"),
          "aria-label": say("open"),
          "aria-pressed": "true",
          onclick: () => (this.place.hidden ? this.restart() : this.close()),
        },
        el("img", { src: "static/icon.svg", alt: "", width: 24, height: 24 }),
      ),
    );
    this.#drawHead();
    this.view.replaceChildren();
    this.notices.clear();
    await this.send({ kind: "homepage" });
  }

  close() {
    this.round += 1;
    this.place.hidden = true;
    this.rail.firstChild.setAttribute("aria-pressed", "false");
    this.rail.firstChild.focus();
  }

  focus() {
    if (this.place.hidden) this.rail.firstChild.focus();
    else
      (
        this.view.querySelector("button, a, input, select, textarea") ?? this.head.querySelector("button")
      ).focus();
  }

  /** Send an event to the add-on and do what it answers. */
  async send(event, { spinner = true, replayed = false } = {}) {
    const { round } = this;
    const { key } = document.activeElement.dataset;
    this.#busy(spinner, 1);
    try {
      const zone = {
        id: Intl.DateTimeFormat().resolvedOptions().timeZone,
        offset: -new Date().getTimezoneOffset() * 60_000,
      };
      const outcome = await post("event", {
        spreadsheet: this.spreadsheet(),
        locale: localeNow(),
        timeZone: zone,
        ...event,
      });
      if (round === this.round) await this.#take(outcome, event, replayed);
    } catch (error) {
      if (round !== this.round) return;
      if (error instanceof Refused) this.ignored(error.message);
      else if (error instanceof Offline) this.notices.problem(say("offline"), () => this.send(event));
      else throw error;
    } finally {
      if (round === this.round) {
        this.#busy(spinner, -1);
        if (event.kind !== "homepage" && document.activeElement === document.body) this.#refocus(key);
      }
    }
  }

  async #take(outcome, event, replayed) {
    this.granted = outcome.granted;
    if (outcome.problem) {
      this.notices.problem(say(outcome.problem, outcome), () => this.send(event));
      return;
    }
    try {
      await this.#follow(readAnswer(outcome.answer, TRIGGERS.includes(event.kind)), event, replayed);
    } catch (error) {
      if (!(error instanceof Ignored)) throw error;
      this.ignored(error.message, outcome.answer);
    }
  }

  async #follow(answer, event, replayed) {
    if (answer.scopes) {
      if (replayed) throw new Ignored("the same scopes are requested again");
      if (
        await ask(
          say("scopesTitle"),
          el(
            "ul",
            {},
            answer.scopes.map((scope) => el("li", {}, String(scope))),
          ),
        )
      )
        await this.send(event, { replayed: true });
      return;
    }
    const isTrigger = TRIGGERS.includes(event.kind);
    if (isTrigger && answer.navigations.some(([name]) => name === "pushCard")) this.stack = [];
    for (const [name, value] of answer.navigations) this.#navigate(name, value);
    if (answer.navigations.length) this.draw();
    if (answer.notification) this.toast(answer.notification);
    if (answer.link) this.notices.toast("", webAddress(answer.link));
    if (event.kind === "fileGranted" && answer.navigations.some(([name]) => name === "popToRoot"))
      await this.send({ kind: "homepage" });
    if (answer.requestFile) void this.#requestFile();
  }

  #navigate(name, value) {
    const top = this.stack.at(-1);
    if (name === "pushCard") this.stack.push(this.#made(value));
    else if (name === "updateCard") {
      const made = this.#made(value);
      if (top) {
        made.form.keep(top.form);
        if (top.card.name === made.card.name) made.scrolled = top.body.scrollTop;
      }
      this.stack.splice(Math.max(0, this.stack.length - 1), 1, made);
    } else if (name === "pop") this.stack.length = Math.max(1, this.stack.length - 1);
    else if (name === "popToRoot") this.stack.length = Math.min(1, this.stack.length);
    else {
      const index = this.stack.findLastIndex((entry) => entry.card.name === value);
      if (index < 0) throw new Ignored(`popToCard: there is no card named ${value}`);
      this.stack.length = index + 1;
    }
  }

  /** Draw a card once; its nodes hold what is typed until it is replaced. */
  #made(card) {
    const made = { card, form: new Form(), ignoredThings: [] };
    const tools = {
      form: made.form,
      act: (action) => this.#act(action, made),
      push: (pushed) => this.#push(pushed),
      ignored: (reason) =>
        this.stack.includes(made) ? this.ignored(reason, card) : made.ignoredThings.push(reason),
    };
    made.tools = tools;
    try {
      return Object.assign(made, cardNodes(card, tools));
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new Ignored(`a card holds a value of the wrong type (${error.message})`);
    }
  }

  /** Show a card that came with another one, without asking the add-on. */
  #push(card) {
    try {
      this.stack.push(this.#made(readCard(card)));
    } catch (error) {
      if (!(error instanceof Ignored)) throw error;
      this.ignored(error.message, card);
      return;
    }
    this.draw();
    this.#refocus();
  }

  #act(action, made) {
    if (typeof action.function !== "string" || !URL.canParse(action.function))
      this.ignored(`function ${action.function} is no full URL`);
    else if (action.interaction) this.ignored("an action with interaction");
    else if (!this.busy && made.form.allows(action)) {
      const event = {
        kind: "click",
        function: action.function,
        parameters: action.parameters ?? [],
        formInputs: made.form.values(),
      };
      if (!action.persistValues) made.form.clear();
      void this.send(event, { spinner: action.loadIndicator !== "NONE" });
    }
  }

  async #requestFile() {
    if (this.granted) {
      this.ignored("requestFileScopeForActiveDocument, although the file is granted: Google shows nothing");
      return;
    }
    const { round } = this;
    const allowed = await ask(
      say("allowTitle"),
      el("p", {}, say("allowWhat")),
      el("p", { class: "file" }, this.title()),
      el("p", { class: "quiet" }, say("allowNote")),
    );
    if (allowed && round === this.round) await this.send({ kind: "fileGranted" });
  }

  draw() {
    const top = this.stack.at(-1);
    this.#drawHead();
    if (!top) return;
    const back = this.stack.length > 1 ? () => this.#back() : null;
    this.view.replaceChildren(...[cardHead(top.card.header, back), top.body, top.footer].filter(Boolean));
    if (top.ignoredThings.length) this.ignored(top.ignoredThings.splice(0).join("; "), top.card);
    top.body.scrollTop = top.scrolled ?? 0;
  }

  #back() {
    this.stack.pop();
    this.draw();
    this.#refocus();
  }

  /** Give the keyboard back what it lost while the panel was busy or drawn anew: the same thing, or the card's head. */
  #refocus(key) {
    const same = [...this.view.querySelectorAll("[data-key]")].find(
      (node) => key !== undefined && node.dataset.key === key,
    );
    (same ?? this.view.querySelector(".card-head"))?.focus({ preventScroll: true });
  }

  #drawHead() {
    const top = this.stack.at(-1);
    const more = iconButton(
      MORE,
      say("more"),
      () =>
        openMenu(more, [
          ...(top?.card.cardActions ?? []).map((item) => ({
            text: item.actionLabel,
            run: () => click(item.onClick, top.tools, more),
          })),
          { text: say("reload"), run: () => this.restart() },
        ]),
      { "aria-haspopup": "menu" },
    );
    this.head.replaceChildren(
      el("img", { src: "static/icon.svg", alt: "", width: 20, height: 20 }),
      el("span", { class: "add-on" }, ADD_ON),
      more,
      iconButton(CLOSE, say("close"), () => this.close()),
    );
  }

  #busy(spinner, change) {
    if (!spinner) return;
    this.busy += change;
    const busy = this.busy > 0;
    this.view.inert = busy;
    this.place.classList.toggle("busy", busy);
    this.place.setAttribute("aria-busy", String(busy));
    this.place.querySelector(".spinner")?.remove();
    if (busy)
      this.place.append(el("div", { class: "spinner", role: "progressbar", "aria-label": say("working") }));
  }

  /** Say that Google would have dropped something without a word. */
  ignored(reason, answer) {
    this.notices.ignored(reason, answer);
  }

  toast(text) {
    this.notices.toast(text);
  }
}

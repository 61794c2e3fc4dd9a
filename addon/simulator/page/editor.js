// The text field that lies over a cell while it is edited.

import { el } from "./dom.js";

export class Editor {
  /** `done(cell, text, step)` is called with the new text; step is [rows, columns] to move on. */
  constructor(done) {
    this.done = done;
    this.cell = null;
    this.field = el("textarea", {
      class: "editor",
      rows: 1,
      spellcheck: "false",
      onkeydown: (event) => this.#keyed(event),
      oninput: () => this.#grow(),
      onblur: () => this.finish(),
    });
  }

  get open() {
    return this.cell !== null;
  }

  /** Edit a cell: {row, id, column, text}. */
  start(cell, text, label) {
    this.cell = cell;
    this.field.value = text;
    this.field.setAttribute("aria-label", label);
    this.field.setSelectionRange(text.length, text.length);
  }

  put(host, left, top, width, height) {
    const { style } = this.field;
    Object.assign(style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${width + 1}px`,
      minHeight: `${height + 1}px`,
    });
    if (this.field.parentNode !== host) {
      host.append(this.field);
      this.field.focus({ preventScroll: true });
    }
    this.#grow();
  }

  finish(step = null) {
    if (!this.open) return;
    const { cell, field } = this;
    this.cell = null;
    field.remove();
    this.done(cell, field.value, step);
  }

  cancel() {
    if (!this.open) return;
    this.field.value = this.cell.text;
    this.finish([0, 0]);
  }

  #grow() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight + 4, 260)}px`;
  }

  #keyed(event) {
    event.stopPropagation();
    if (event.isComposing) return; // Enter then ends a conversion of an input method
    if (event.key === "Enter" && (event.altKey || event.ctrlKey || event.metaKey)) {
      this.field.setRangeText("\n", this.field.selectionStart, this.field.selectionEnd, "end");
      this.#grow();
    } else if (event.key === "Enter") this.finish([event.shiftKey ? -1 : 1, 0]);
    else if (event.key === "Tab") this.finish([0, event.shiftKey ? -1 : 1]);
    else if (event.key === "Escape") this.cancel();
    else return;
    event.preventDefault();
  }
}

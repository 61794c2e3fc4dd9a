// The cells. Only rows in sight are in the document, so a sheet may have any number of them.

import { el, iconButton } from "./dom.js";
import { Editor } from "./editor.js";
import { listen } from "./gridinput.js";
import { EXPAND } from "./icons.js";
import { LETTERS, Layout, ROW_NUMBERS, letters } from "./layout.js";
import { Tab } from "./book.js";
import { say } from "./words.js";

const OVERSCAN = 300; // pixels drawn above and below what is in sight
const SHOWN_CHARACTERS = 400; // more than three lines of a cell hold

export class Grid {
  /** `host` calls: edited(cell, text), menu(at), moved(). */
  constructor(place, book, host) {
    Object.assign(this, { book, host, tab: new Tab(), layout: new Layout(), active: { row: 0, column: 0 } });
    this.drawn = new Map();
    this.editor = new Editor((cell, text, step) => this.#edited(cell, text, step));
    this.letters = el("div", { class: "letters", role: "presentation" });
    this.frozen = el("div", { class: "frozen", role: "rowgroup" });
    this.body = el("div", { class: "body", role: "rowgroup" });
    this.peek = el("div", { class: "peek", "aria-hidden": "true", hidden: true });
    this.canvas = el("div", { class: "canvas", role: "presentation" }, this.letters, this.frozen, this.body);
    this.box = el(
      "div",
      { class: "grid", role: "grid", tabindex: 0, onscroll: () => this.draw() },
      this.canvas,
    );
    listen(this);
    place.append(this.box);
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  /** Show a tab, or show it again after its contents changed. */
  show(tab) {
    if (tab !== this.tab) {
      this.editor.finish();
      Object.assign(this, {
        tab,
        layout: new Layout(),
        active: { row: Math.min(1, tab.rowCount - 1), column: 0 },
      });
      this.#clear();
      this.box.scrollTo(0, 0);
    }
    const widths = this.layout.widths;
    this.layout.fit(tab, this.box.clientWidth);
    if (String(widths) !== String(this.layout.widths)) this.#clear();
    this.active.row = Math.min(this.active.row, tab.rowCount - 1);
    this.active.column = Math.min(this.active.column, this.layout.widths.length - 1);
    this.relabel();
    this.draw();
    this.host.moved();
  }

  relabel() {
    this.box.setAttribute("aria-label", say("grid"));
    this.box.setAttribute("aria-rowcount", this.tab.rowCount);
    this.box.setAttribute("aria-colcount", this.layout.widths.length);
    this.letters.replaceChildren(
      el("div", { class: "corner" }),
      ...this.layout.widths.map((width, column) => this.#letter(width, column)),
    );
  }

  #clear() {
    for (const { node } of this.drawn.values()) node.remove();
    this.drawn.clear();
  }

  #letter(width, column) {
    const name = letters(column);
    const button = iconButton(
      EXPAND,
      say("columnMenu", { column: name }),
      () => {
        this.select(0, column);
        this.host.menu(button, "column");
      },
      { tabindex: -1 },
    );
    const node = el(
      "div",
      { class: "letter", onclick: (event) => button.contains(event.target) || this.select(0, column) },
      el("span", {}, name),
      button,
    );
    node.style.width = `${width}px`;
    return node;
  }

  /** Draw what is in sight. Rows that are as they were keep their elements. */
  draw() {
    const { layout, tab, box } = this;
    if (!tab.rowCount) return;
    const top = layout.tops[1];
    this.canvas.style.width = `${ROW_NUMBERS + layout.lefts.at(-1)}px`;
    this.body.style.height = `${layout.tops[tab.rowCount] - top}px`;
    const first = Math.max(1, layout.rowAt(box.scrollTop + top - OVERSCAN));
    const last = Math.min(tab.rowCount - 1, layout.rowAt(box.scrollTop + top + box.clientHeight + OVERSCAN));
    for (const [index, { node }] of this.drawn) {
      if (index && (index < first || index > last)) {
        node.remove();
        this.drawn.delete(index);
      }
    }
    this.#drawRow(0);
    for (let index = first; index <= last; index++) this.#drawRow(index);
    this.#mark();
  }

  #drawRow(index) {
    const row = this.tab.row(index);
    let entry = this.drawn.get(index);
    if (!entry || entry.row !== row) {
      const node = this.#row(index, row);
      if (entry) entry.node.replaceWith(node);
      else (index ? this.body : this.frozen).append(node);
      entry = { row, node };
      this.drawn.set(index, entry);
    }
    entry.node.style.top = index ? `${this.layout.tops[index] - this.layout.tops[1]}px` : "";
    entry.node.style.height = `${this.layout.height(index)}px`;
  }

  #row(index, row) {
    const cells = this.layout.widths.map((width, column) => {
      const text = row?.cells[column] ?? "";
      const cell = el("div", {
        class: "cell",
        role: index ? "gridcell" : "columnheader",
        id: `cell-${index}-${column}`,
        "aria-colindex": column + 1,
      });
      cell.style.width = `${width}px`;
      if (text) cell.append(el("span", { class: "clip" }, text.slice(0, SHOWN_CHARACTERS)));
      const age = this.book.age(row, column);
      if (age !== null) {
        cell.classList.add("fresh");
        cell.style.animationDelay = `${-age}ms`;
      }
      return cell;
    });
    return el(
      "div",
      { class: "row", role: "row", "aria-rowindex": index + 1 },
      el("div", { class: "number", role: "presentation" }, String(index + 1)),
      ...cells,
    );
  }

  /** Mark the active cell; show all of a text that is cut off. */
  #mark() {
    const { row, column } = this.active;
    const cell = this.activeNode();
    for (const marked of this.canvas.querySelectorAll(".active, .lit"))
      marked.classList.remove("active", "lit");
    this.letters.children[column + 1]?.classList.add("lit");
    cell?.parentNode.firstChild.classList.add("lit");
    cell?.classList.add("active");
    this.box.setAttribute("aria-activedescendant", cell?.id ?? "");
    const text = this.tab.text(row, column);
    if (cell?.firstChild && text.length > SHOWN_CHARACTERS) cell.firstChild.textContent = text;
    this.#showAll(cell, text);
    if (this.editor.open) this.#placeEditor();
  }

  #showAll(cell, text) {
    const clip = cell?.firstChild;
    const cut = !this.editor.open && !this.hidePeek && clip && clip.scrollHeight > clip.clientHeight + 2;
    this.peek.hidden = !cut;
    if (!cut) return;
    this.peek.textContent = text;
    this.#put(this.peek, this.active.row, this.active.column);
  }

  #put(node, row, column) {
    const { layout } = this;
    const host = row ? this.body : this.frozen;
    if (node.parentNode !== host) host.append(node);
    node.style.left = `${ROW_NUMBERS + layout.lefts[column]}px`;
    node.style.top = `${row ? layout.tops[row] - layout.tops[1] : 0}px`;
    node.style.minWidth = `${layout.widths[column]}px`;
  }

  /** Move to a cell and bring it into sight. */
  select(row, column) {
    if (row === this.active.row && column === this.active.column && this.hidePeek === false) return;
    this.active = { row: clamp(row, this.tab.rowCount), column: clamp(column, this.layout.widths.length) };
    this.hidePeek = false;
    this.#reveal();
    this.draw();
    this.host.moved();
  }

  #reveal() {
    const { layout, box, active } = this;
    const head = layout.tops[1];
    if (active.row) {
      const top = layout.tops[active.row] - head;
      const room = box.clientHeight - LETTERS - head - layout.height(active.row);
      box.scrollTop = Math.min(top, Math.max(box.scrollTop, top - room));
    }
    const left = layout.lefts[active.column];
    box.scrollLeft = Math.min(
      left,
      Math.max(box.scrollLeft, left - (box.clientWidth - ROW_NUMBERS - layout.widths[active.column])),
    );
  }

  /** The active cell as `host.edited` wants it: where it is, the identity of its row, and its text. */
  activeCell() {
    const { row, column } = this.active;
    return { row, column, id: this.tab.row(row)?.id ?? null, text: this.tab.text(row, column) };
  }

  /** The active cell's node, null where it is out of sight. */
  activeNode() {
    return this.drawn.get(this.active.row)?.node.children[this.active.column + 1] ?? null;
  }

  /** Begin to edit the active cell, with its own text or with one just typed. */
  edit(text = null) {
    const cell = this.activeCell();
    this.#reveal();
    this.editor.start(cell, text ?? cell.text, `${letters(cell.column)}${cell.row + 1}`);
    this.draw();
  }

  #placeEditor() {
    const { cell } = this.editor;
    const moved = cell.id === null ? cell.row : this.tab.rows.findIndex((row) => row.id === cell.id);
    if (moved >= 0) cell.row = moved;
    const { layout } = this;
    const host = cell.row ? this.body : this.frozen;
    this.editor.put(
      host,
      ROW_NUMBERS + layout.lefts[cell.column],
      cell.row ? layout.tops[cell.row] - layout.tops[1] : 0,
      layout.widths[cell.column],
      layout.height(cell.row),
    );
  }

  #edited(cell, text, step) {
    if (step) {
      this.box.focus({ preventScroll: true });
      this.select(cell.row + step[0], cell.column + step[1]);
    }
    if (text !== cell.text) this.host.edited(cell, text);
    this.draw();
  }
}

function clamp(value, count) {
  return Math.max(0, Math.min(value, count - 1));
}

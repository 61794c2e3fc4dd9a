// What the page knows of the spreadsheet, and which cells changed a moment ago.

const FRESH_MS = 4000;

export class Tab {
  constructor() {
    this.id = null;
    this.title = "";
    this.rowCount = 0;
    this.columnCount = 0;
    /** Rows down to the last one ever filled: {id, cells}. An object is replaced when the row changes. */
    this.rows = [];
  }

  row(index) {
    return this.rows[index] ?? null;
  }

  text(index, column) {
    return this.rows[index]?.cells[column] ?? "";
  }
}

export class Book {
  constructor() {
    this.spreadsheet = "";
    this.version = "";
    this.title = "";
    this.tabs = [];
    this.freshness = new Map();
  }

  /** Take over the server's news. */
  take(news) {
    const first = news.since === "";
    const before = new Map(first ? [] : this.tabs.map((tab) => [tab.id, tab]));
    this.tabs = news.sheets.map((sheet) => this.#tab(before.get(sheet.id) ?? new Tab(), sheet, first));
    Object.assign(this, { spreadsheet: news.spreadsheet, version: news.version, title: news.title });
    this.#forget();
  }

  #tab(tab, sheet, first) {
    const moved = sheet.rows.length ? new Map(tab.rows.map((row) => [row.id, row])) : null;
    tab.rows.length = Math.min(tab.rows.length, sheet.filled);
    for (const [position, id, cells] of sheet.rows) {
      const old = moved.get(id);
      if (old && !first) this.#compare(old, cells);
      tab.rows[position] = { id, cells };
    }
    const { rowCount, columnCount, title } = sheet;
    return Object.assign(tab, { id: sheet.id, title, rowCount, columnCount });
  }

  #compare(old, cells) {
    const width = Math.max(old.cells.length, cells.length);
    for (let column = 0; column < width; column++) {
      if ((old.cells[column] ?? "") !== (cells[column] ?? ""))
        this.freshness.set(`${old.id}:${column}`, performance.now());
    }
  }

  #forget() {
    const limit = performance.now() - FRESH_MS;
    for (const [key, time] of this.freshness) {
      if (time > limit) break; // entries are nearly in order of time; what is kept too long does no harm
      this.freshness.delete(key);
    }
  }

  /** Milliseconds since a cell changed, or null where that is a while ago. */
  age(row, column) {
    const time = row ? this.freshness.get(`${row.id}:${column}`) : undefined;
    const age = time === undefined ? FRESH_MS : performance.now() - time;
    return age < FRESH_MS ? age : null;
  }
}

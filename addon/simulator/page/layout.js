// Where cells are: column widths and row heights, measured from their texts without drawing them.

const FONT = '13px Roboto, Arial, "Noto Sans CJK JP", "Hiragino Sans", "Yu Gothic UI", sans-serif';
const PADDING = 12;
const NARROWEST = 72;
const WIDEST = [260, 420]; // on a narrow and on a wide screen, where a quarter of the grid is in between
const SAMPLE_ROWS = 100;
const LINE = 18;
const MOST_LINES = 3;
const EMPTY_COLUMNS_KEPT = 2;
const BLANK_GRID = 26;

export const ROW_NUMBERS = 46;
export const LETTERS = 24;
export const PLAIN_ROW = 24;

const context = document.createElement("canvas").getContext("2d");
context.font = FONT;

export function letters(column) {
  const rest = Math.floor(column / 26);
  return (rest ? letters(rest - 1) : "") + String.fromCharCode(65 + (column % 26));
}

export class Layout {
  constructor() {
    this.widths = [];
    this.lefts = [0];
    this.tops = new Float64Array(1);
    this.measured = new WeakMap();
  }

  /** Measure a tab. Columns only ever grow while a tab is shown, so that nothing jumps about while it fills. */
  fit(tab, room) {
    const widest = Math.round(Math.min(WIDEST[1], Math.max(WIDEST[0], room / 4)));
    let used = 1;
    for (const row of tab.rows) used = Math.max(used, row.cells.length);
    const columns = Math.min(tab.columnCount, Math.max(used + EMPTY_COLUMNS_KEPT, BLANK_GRID));
    const widths = Array.from({ length: columns }, (_, column) =>
      Math.max(this.widths[column] ?? NARROWEST, needed(tab, column, widest)),
    );
    if (
      widths.length !== this.widths.length ||
      widths.some((width, column) => width !== this.widths[column])
    ) {
      this.measured = new WeakMap();
    }
    this.widths = widths;
    this.lefts = [0];
    for (const width of widths) this.lefts.push(this.lefts.at(-1) + width);
    const tops = new Float64Array(tab.rowCount + 1);
    for (let index = 0; index < tab.rowCount; index++)
      tops[index + 1] = tops[index] + this.#height(tab.rows[index]);
    this.tops = tops;
  }

  height(index) {
    return this.tops[index + 1] - this.tops[index];
  }

  /** The row at a distance from the top of row 1. */
  rowAt(distance) {
    let low = 0;
    let high = this.tops.length - 2;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.tops[middle] <= distance) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #height(row) {
    if (!row) return PLAIN_ROW;
    let height = this.measured.get(row);
    if (height === undefined) {
      let lines = 1;
      row.cells.forEach((text, column) => {
        if (text && lines < MOST_LINES) lines = Math.max(lines, linesOf(text, this.widths[column] - PADDING));
      });
      height = PLAIN_ROW + (lines - 1) * LINE;
      this.measured.set(row, height);
    }
    return height;
  }
}

function needed(tab, column, most) {
  let widest = 0;
  for (let index = 0; index < Math.min(tab.rows.length, SAMPLE_ROWS); index++) {
    const text = tab.text(index, column);
    if (text)
      widest = Math.max(
        widest,
        context.measureText(text.slice(0, 120)).width + (index ? PADDING : PADDING + 28),
      );
    if (widest >= most) return most;
  }
  return Math.ceil(widest);
}

function linesOf(text, width) {
  let lines = 0;
  for (const line of text.slice(0, 400).split("\n", MOST_LINES)) {
    // Words leave gaps at line ends, so a line holds a little less than its width.
    lines += Math.max(1, Math.ceil((context.measureText(line).width * 1.04) / width));
  }
  return Math.min(MOST_LINES, lines);
}

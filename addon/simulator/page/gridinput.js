// What people do to the grid with keys, pointer and clipboard.

import { keyStep } from "./keys.js";

/** Let a grid be used. */
export function listen(grid) {
  const { box } = grid;
  const onTheGrid = (react) => (event) => event.target === box && react(grid, event);
  box.addEventListener("keydown", onTheGrid(keyed));
  box.addEventListener("copy", onTheGrid(copied));
  box.addEventListener("paste", onTheGrid(pasted));
  box.addEventListener("mousedown", (event) => pressed(grid, event));
  box.addEventListener("dblclick", (event) => cellAt(grid, event) && grid.edit());
  box.addEventListener("contextmenu", (event) => menu(grid, event));
}

function keyed(grid, event) {
  if (event.isComposing) return;
  const { active, tab, box } = grid;
  const page = Math.max(1, Math.floor(box.clientHeight / 60));
  const size = { rows: tab.rowCount, filled: tab.rows.length, columns: grid.layout.widths.length };
  const step = keyStep(event, page, active, size);
  if (step) grid.select(active.row + step[0], active.column + step[1]);
  else if (event.key === "Enter" || event.key === "F2") grid.edit();
  else if (event.key === "Delete" || event.key === "Backspace") erase(grid);
  else if (event.key === "Escape") {
    grid.hidePeek = true;
    grid.draw();
  } else if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) {
    grid.host.menu(grid.activeNode() ?? box, "cell");
  } else if (isTyped(event)) grid.edit(event.key);
  else return;
  event.preventDefault();
}

function isTyped(event) {
  return event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
}

function erase(grid) {
  const cell = grid.activeCell();
  if (cell.text) grid.host.edited(cell, "");
}

/** The cell an event happened in; a row's number stands for its first cell. */
function cellAt(grid, event) {
  if (grid.editor.field.contains(event.target)) return null;
  if (grid.peek.contains(event.target)) return grid.active;
  const row = event.target.closest(".row");
  const position = row ? [...row.children].indexOf(event.target.closest(".cell, .number")) : -1;
  if (position < 0) return null;
  return { row: Number(row.getAttribute("aria-rowindex")) - 1, column: Math.max(0, position - 1) };
}

function pressed(grid, event) {
  const cell = cellAt(grid, event);
  if (!cell) return;
  grid.box.focus({ preventScroll: true });
  grid.select(cell.row, cell.column);
}

function menu(grid, event) {
  if (!cellAt(grid, event)) return;
  event.preventDefault();
  grid.host.menu({ x: event.clientX, y: event.clientY }, "cell");
}

function copied(grid, event) {
  if (!getSelection().isCollapsed) return;
  event.clipboardData.setData("text/plain", grid.activeCell().text);
  event.preventDefault();
}

function pasted(grid, event) {
  const text = event.clipboardData.getData("text/plain");
  grid.host.edited(grid.activeCell(), text.replaceAll("\r\n", "\n").replace(/\n$/, ""));
  event.preventDefault();
}

// Which way a key moves in the grid.

/** [rows, columns] to move by, or null. Tab leaves the grid at the ends of a row, so that nobody is caught in it. */
export function keyStep(event, page, active, size) {
  const whole = event.ctrlKey || event.metaKey;
  const bottom = Math.max(0, size.filled - 1) - active.row;
  switch (event.key) {
    case "ArrowDown":
      return [whole ? Math.max(1, bottom) : 1, 0];
    case "ArrowUp":
      return [whole ? -active.row : -1, 0];
    case "ArrowRight":
      return [0, whole ? size.columns : 1];
    case "ArrowLeft":
      return [0, whole ? -size.columns : -1];
    case "PageDown":
      return [page, 0];
    case "PageUp":
      return [-page, 0];
    case "Home":
      return [whole ? -active.row : 0, -size.columns];
    case "End":
      return [whole ? bottom : 0, size.columns];
    case "Tab":
      if (event.shiftKey) return active.column > 0 ? [0, -1] : null;
      return active.column < size.columns - 1 ? [0, 1] : null;
    default:
      return null;
  }
}

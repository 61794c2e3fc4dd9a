// Building DOM nodes. Nothing on this page is ever parsed as HTML; the page's policy forbids it, too.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element. Attributes whose name begins with "on" are event listeners; null and false are left out. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Draw a 24×24 icon from path data; it is decoration, so its meaning must stand beside it or in a label. */
export function svg(path, { stroke = false, size = 20 } = {}) {
  const node = document.createElementNS(SVG, "svg");
  const attributes = {
    viewBox: "0 0 24 24",
    width: size,
    height: size,
    "aria-hidden": "true",
    class: stroke ? "stroked" : "filled",
  };
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  const drawn = document.createElementNS(SVG, "path");
  drawn.setAttribute("d", path);
  node.append(drawn);
  return node;
}

/** A button that shows only an icon. */
export function iconButton(path, label, onclick, attributes = {}) {
  return el(
    "button",
    { type: "button", class: "icon-button", title: label, "aria-label": label, onclick, ...attributes },
    svg(path, { stroke: true }),
  );
}

export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// The small HTML that Google renders in card texts, turned into DOM nodes without parsing HTML.
// Tags other than the documented ones are dropped and their text is kept.

import { el } from "./dom.js";

const TOKEN = /<(\/?)([a-z]+)((?:\s[^<>]*)?)\/?>/gi;
const SIMPLE = { b: "b", strong: "b", i: "i", em: "i", u: "u", s: "s", strike: "s", time: "span" };
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

export function richText(text) {
  const root = document.createDocumentFragment();
  const open = [{ tag: "", node: root }];
  let position = 0;
  for (const token of text.matchAll(TOKEN)) {
    open.at(-1).node.append(decoded(text.slice(position, token.index)));
    position = token.index + token[0].length;
    takeTag(open, token[1] !== "", token[2].toLowerCase(), token[3]);
  }
  open.at(-1).node.append(decoded(text.slice(position)));
  return root;
}

function takeTag(open, closing, tag, attributes) {
  if (closing) {
    const depth = open.findLastIndex((entry) => entry.tag === tag);
    if (depth > 0) open.length = depth;
    return;
  }
  const node = nodeFor(tag, attributes);
  if (node === null) return;
  open.at(-1).node.append(node);
  if (tag !== "br") open.push({ tag, node });
}

function nodeFor(tag, attributes) {
  if (tag === "br") return el("br");
  if (tag in SIMPLE) return el(SIMPLE[tag]);
  if (tag === "font") {
    const node = el("span");
    const color = attribute(attributes, "color");
    if (/^#[0-9a-f]{6}$/i.test(color)) node.style.color = color;
    return node;
  }
  if (tag === "a") {
    const target = webAddress(attribute(attributes, "href"));
    return target ? el("a", { href: target, target: "_blank", rel: "noopener noreferrer" }) : el("span");
  }
  return null;
}

function attribute(attributes, name) {
  const found = attributes.match(new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"']+))`, "i"));
  return found ? decoded(found[1] ?? found[2] ?? found[3]) : "";
}

function decoded(text) {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (entity, decimal, hex, name) => {
    if (name) return ENTITIES[name.toLowerCase()] ?? entity;
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  });
}

/** The address if it is one of the web that may be opened, else an empty string. */
export function webAddress(address) {
  const parsed = typeof address === "string" && URL.canParse(address) ? new URL(address) : null;
  return parsed && ["https:", "http:"].includes(parsed.protocol) ? parsed.href : "";
}

// Cards: the head, the sections, and the footer that stays in sight.

import { el, iconButton, svg } from "./dom.js";
import { BACK, EXPAND } from "./icons.js";
import { richText } from "./richtext.js";
import { buttonNode, widgetNode } from "./widgets.js";
import { say } from "./words.js";

let lastSection = 0;

/** Draw a card: {body, footer}; `tools` is what `widgetNode` asks for. */
export function cardNodes(card, tools) {
  const body = el(
    "div",
    { class: "card" },
    (card.sections ?? []).map((section) => sectionNode(section, tools)),
  );
  const { primaryButton, secondaryButton } = card.fixedFooter ?? {};
  if (!primaryButton) return { body, footer: null };
  const second = secondaryButton ? buttonNode(secondaryButton, tools, "text") : null;
  return {
    body,
    footer: el("div", { class: "card-footer" }, buttonNode(primaryButton, tools, "filled"), second),
  };
}

/** Draw the line above a card; null where there is nothing in it. */
export function cardHead(header, back) {
  if (!header && !back) return null;
  const node = el(
    "div",
    { class: "card-head", tabindex: -1 },
    back ? iconButton(BACK, say("back"), back) : null,
  );
  if (header?.imageUrl) {
    const round = header.imageType === "CIRCLE" ? "round" : "";
    node.append(
      el("img", {
        class: round,
        src: header.imageUrl,
        alt: header.imageAltText ?? "",
        width: 32,
        height: 32,
      }),
    );
  }
  if (header) {
    const subtitle = header.subtitle ? el("p", { class: "label" }, header.subtitle) : null;
    node.append(el("div", {}, el("h2", { class: "card-title" }, header.title ?? ""), subtitle));
  }
  return node;
}

/** Draw a section; of a collapsible one only the first widgets are shown until it is unfolded. */
function sectionNode(section, card) {
  const widgets = section.widgets.map((widget) => el("div", { class: "widget" }, widgetNode(widget, card)));
  const head = section.header ? el("h3", { class: "section-title" }, richText(section.header)) : null;
  const node = el("section", { class: "section" }, head, widgets);
  const shown = section.uncollapsibleWidgetsCount ?? 0;
  if (!section.collapsible || shown >= widgets.length) return node;
  const folded = el(
    "div",
    { class: "folded", id: `folded-${++lastSection}`, hidden: true },
    widgets.slice(shown),
  );
  const text = el("span", {}, say("showMore"));
  const toggle = el(
    "button",
    {
      type: "button",
      class: "fold",
      "aria-expanded": "false",
      "aria-controls": folded.id,
      onclick: () => {
        folded.hidden = !folded.hidden;
        toggle.setAttribute("aria-expanded", String(!folded.hidden));
        text.textContent = say(folded.hidden ? "showMore" : "showLess");
      },
    },
    text,
    svg(EXPAND, { stroke: true, size: 18 }),
  );
  node.append(folded, toggle);
  return node;
}

// Widgets of cards that show something or are clicked.

import { el, isObject } from "./dom.js";
import { cardIcon } from "./icons.js";
import { selectionInput, switchControl, textInput } from "./inputs.js";
import { openMenu } from "./menu.js";
import { richText, webAddress } from "./richtext.js";
import { say } from "./words.js";

const WIDGETS = {
  textParagraph,
  decoratedText,
  buttonList,
  textInput,
  selectionInput,
  image,
  grid,
  divider: () => el("hr", { class: "divider" }),
};
const NOT_DRAWN = ["dateTimePicker", "chipList"];

/** Draw a widget; `card` offers act(action), push(card), form and ignored(reason). */
export function widgetNode(widget, card) {
  const names = isObject(widget) ? Object.keys(widget).filter((name) => name !== "horizontalAlignment") : [];
  const [name] = names;
  if (names.length === 1 && name in WIDGETS && isObject(widget[name]))
    return WIDGETS[name](widget[name], card);
  if (names.length === 1 && NOT_DRAWN.includes(name))
    return el("p", { class: "paragraph quiet" }, say("cannotDraw", { name }));
  card.ignored(`unknown widget ${names.join(", ")}`);
  return el("p", { class: "paragraph complaint" }, `${say("ignored")}: ${names.join(", ")}`);
}

function textParagraph(widget) {
  const text = el("p", { class: "paragraph" }, richText(widget.text ?? ""));
  if (!widget.maxLines) return text;
  text.classList.add("clipped");
  text.style.setProperty("-webkit-line-clamp", String(widget.maxLines));
  const more = el(
    "button",
    {
      type: "button",
      class: "link",
      "aria-expanded": "false",
      onclick: () => {
        const open = !text.classList.toggle("clipped");
        more.setAttribute("aria-expanded", String(open));
        more.textContent = say(open ? "showLess" : "showMore");
      },
    },
    say("showMore"),
  );
  return el("div", {}, text, more);
}

function decoratedText(widget, card) {
  const icon = widget.startIcon ?? widget.icon;
  const texts = el(
    "div",
    { class: "texts" },
    widget.topLabel ? el("div", { class: "label" }, richText(widget.topLabel)) : null,
    el("div", { class: widget.wrapText ? "text" : "text one-line" }, richText(widget.text ?? "")),
    widget.bottomLabel ? el("div", { class: "label" }, richText(widget.bottomLabel)) : null,
  );
  const end = widget.button
    ? buttonNode(widget.button, card)
    : widget.switchControl
      ? switchControl(widget.switchControl, texts.textContent, card)
      : widget.endIcon
        ? cardIcon(widget.endIcon)
        : null;
  const inner = [icon ? cardIcon(icon) : null, texts];
  const body = widget.onClick ? clickable(widget.onClick, card, "decorated-click", inner) : inner;
  return el("div", { class: "decorated" }, body, end);
}

function buttonList(widget, card) {
  return el(
    "div",
    { class: "buttons" },
    (widget.buttons ?? []).map((button) => buttonNode(button, card)),
  );
}

const STYLES = { FILLED: "filled", FILLED_TONAL: "tonal", BORDERLESS: "text" };

/** Draw a button; `style` is for those in places that have their own. */
export function buttonNode(button, card, style = STYLES[button.type] ?? "outlined") {
  const node = clickable(
    button.onClick,
    card,
    `button ${button.color ? "filled" : style}`,
    [button.icon ? cardIcon(button.icon) : null, button.text ? el("span", {}, button.text) : null],
    button.disabled,
  );
  node.dataset.key = button.text ?? "";
  if (button.altText) node.setAttribute("aria-label", button.altText);
  if (button.color) {
    const { red = 0, green = 0, blue = 0 } = button.color;
    node.style.backgroundColor = `rgb(${red * 255} ${green * 255} ${blue * 255})`;
  }
  return node;
}

/** What is clicked: a link where it opens a page, else a button. */
function clickable(onClick, card, style, content, disabled = false) {
  if (isObject(onClick?.openLink) && !disabled) {
    const href = webAddress(onClick.openLink.url);
    if (!href) card.ignored(`openLink to ${onClick.openLink.url}`);
    return el(
      "a",
      { class: style, href: href || null, target: "_blank", rel: "noopener noreferrer" },
      content,
    );
  }
  const node = el("button", { type: "button", class: style, disabled }, content);
  node.addEventListener("click", () => click(onClick, card, node));
  return node;
}

/** Do what an onClick says. */
export function click(onClick, card, at) {
  const action = onClick?.action ?? onClick?.openDynamicLinkAction;
  const items = onClick?.overflowMenu?.items;
  if (isObject(action)) card.act(action);
  else if (isObject(onClick?.card)) card.push(onClick.card);
  else if (isObject(onClick?.openLink))
    window.open(webAddress(onClick.openLink.url) || "about:blank", "_blank", "noopener");
  else if (Array.isArray(items)) {
    openMenu(
      at,
      items.map((item) => ({
        text: item.text,
        disabled: item.disabled,
        run: () => click(item.onClick, card, at),
      })),
    );
  } else card.ignored(`onClick has ${Object.keys(onClick ?? {}).join(", ") || "nothing in it"}`);
}

function image(widget, card) {
  const picture = el("img", { class: "picture", src: widget.imageUrl, alt: widget.altText ?? "" });
  return widget.onClick ? clickable(widget.onClick, card, "bare", [picture]) : picture;
}

function grid(widget, card) {
  const columns = Math.min(2, Math.max(1, widget.columnCount ?? 1));
  const items = (widget.items ?? []).map((item) => {
    const content = [
      item.image?.imageUri ? el("img", { src: item.image.imageUri, alt: item.image.altText ?? "" }) : null,
      item.title ? el("div", { class: "text" }, item.title) : null,
      item.subtitle ? el("div", { class: "label" }, item.subtitle) : null,
    ];
    const chosen = widget.onClick?.action && item.id ? withItem(widget.onClick, item.id) : widget.onClick;
    return chosen ? clickable(chosen, card, "tile", content) : el("div", { class: "tile" }, content);
  });
  return el(
    "div",
    {},
    widget.title ? el("h4", { class: "grid-title" }, widget.title) : null,
    el("div", { class: `tiles columns-${columns}` }, items),
  );
}

/** Google tells the add-on which item of a grid was clicked in this parameter. */
function withItem(onClick, id) {
  const parameters = [...(onClick.action.parameters ?? []), { key: "grid_item_identifier", value: id }];
  return { action: { ...onClick.action, parameters } };
}

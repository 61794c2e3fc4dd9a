// Inputs of cards: text and choices.

import { el } from "./dom.js";
import { richText } from "./richtext.js";
import { say } from "./words.js";

const SEARCHED_FROM = 10; // items from which a list gets a search field
let lastId = 0;

function complaint(field) {
  const node = el("p", { class: "complaint", id: `complaint-${++lastId}`, hidden: true });
  field.setAttribute("aria-describedby", node.id);
  const complain = (text) => {
    node.textContent = text;
    node.hidden = !text;
    field.setAttribute("aria-invalid", String(Boolean(text)));
  };
  return [node, complain];
}

export function textInput(widget, card) {
  const id = `input-${++lastId}`;
  const lines = widget.type === "MULTIPLE_LINE";
  const limit = widget.validation?.characterLimit;
  const field = el(lines ? "textarea" : "input", {
    id,
    class: "field",
    "data-key": widget.name,
    maxlength: limit,
    ...(lines ? { rows: 3 } : { type: "text", autocomplete: "off" }),
  });
  field.value = widget.value ?? "";
  const count = limit ? el("span", { class: "count" }) : null;
  const counted = () => count && (count.textContent = `${field.value.length} / ${limit}`);
  const [said, complain] = complaint(field);
  field.addEventListener("input", () => {
    counted();
    complain("");
  });
  if (widget.onChangeAction) field.addEventListener("change", () => card.act(widget.onChangeAction));
  counted();
  card.form.add({
    name: widget.name,
    type: "textInput",
    inputType: widget.validation?.inputType,
    read: () => (field.value === "" ? [] : [field.value]),
    write: ([value = ""]) => {
      field.value = value;
      counted();
    },
    focus: () => field.focus(),
    complain,
  });
  const hint = widget.hintText ? el("span", {}, widget.hintText) : null;
  return el(
    "div",
    { class: "input" },
    el("div", { class: "framed" }, widget.label ? el("label", { for: id }, widget.label) : null, field),
    said,
    hint || count ? el("div", { class: "below" }, hint ?? el("span"), count) : null,
  );
}

export function selectionInput(widget, card) {
  const items = widget.items ?? [];
  const build = { DROPDOWN: dropdown, MULTI_SELECT: multiSelect }[widget.type] ?? boxes;
  const { node, read, write, focus, field } = build(widget, items);
  const [said, complain] = complaint(field);
  node.append(said);
  node.addEventListener("change", (event) => {
    if (event.target.classList.contains("search")) return;
    complain("");
    if (widget.onChangeAction) card.act(widget.onChangeAction);
  });
  card.form.add({
    name: widget.name,
    type: `selectionInput ${widget.type ?? "CHECK_BOX"}`,
    read,
    write,
    focus,
    complain,
  });
  return node;
}

function dropdown(widget, items) {
  const id = `input-${++lastId}`;
  const field = el(
    "select",
    { id, class: "field", "data-key": widget.name },
    items.map((item) => el("option", { value: item.value ?? "" }, item.text ?? "")),
  );
  field.selectedIndex = items.findIndex((item) => item.selected);
  return {
    node: el(
      "div",
      { class: "input" },
      el("div", { class: "framed" }, widget.label ? el("label", { for: id }, widget.label) : null, field),
    ),
    field,
    read: () => (field.selectedIndex < 0 || field.value === "" ? [] : [field.value]),
    write: ([value]) => {
      const index = items.findIndex((item) => item.value === value);
      if (index >= 0 || value === undefined) field.selectedIndex = index;
    },
    focus: () => field.focus(),
  };
}

/** Check boxes, radio buttons and switches. */
function boxes(widget, items) {
  const kind = widget.type ?? "CHECK_BOX";
  const group = `group-${++lastId}`;
  const fields = items.map((item) =>
    el("input", {
      type: kind === "RADIO_BUTTON" ? "radio" : "checkbox",
      role: kind === "SWITCH" ? "switch" : null,
      class: kind === "SWITCH" ? "switch" : null,
      name: group,
      value: item.value ?? "",
      checked: Boolean(item.selected),
      "data-key": `${widget.name} ${item.value}`,
    }),
  );
  const lines = items.map((item, index) => choice(item, fields[index], kind === "SWITCH"));
  const node = el(
    "fieldset",
    { class: "choices" },
    widget.label ? el("legend", {}, widget.label) : null,
    lines,
  );
  return { node, field: node, focus: () => fields[0]?.focus(), ...checked(fields) };
}

function choice(item, field, isSwitch) {
  const text = el("span", { class: "choice-text" }, item.text ?? "");
  if (item.bottomText) text.append(el("small", {}, richText(item.bottomText)));
  return el(
    "label",
    { class: `choice${isSwitch ? " wide" : ""}` },
    ...(isSwitch ? [text, field] : [field, text]),
  );
}

function checked(fields) {
  return {
    read: () => fields.filter((field) => field.checked).map((field) => field.value),
    write: (values) => {
      for (const field of fields) field.checked = values.includes(field.value);
    },
  };
}

/** A list of boxes with a search field, in which only so many may be chosen. */
function multiSelect(widget, items) {
  const most = widget.multiSelectMaxSelectedItems ?? 3;
  const fields = items.map((item) =>
    el("input", {
      type: "checkbox",
      value: item.value ?? "",
      checked: Boolean(item.selected),
      "data-key": `${widget.name} ${item.value}`,
    }),
  );
  const lines = items.map((item, index) => choice(item, fields[index], false));
  const list = el("div", { class: "many" }, lines);
  const count = el("span", { class: "chosen" });
  const { read, write } = checked(fields);
  const counted = () => {
    const chosen = read().length;
    count.textContent = say("chosen", { n: chosen });
    for (const field of fields) field.disabled = chosen >= most && !field.checked;
  };
  const search = el("input", {
    type: "search",
    class: "field search",
    placeholder: say("filter"),
    "aria-label": say("filter"),
    oninput: () => {
      const wanted = search.value.toLowerCase();
      lines.forEach((line, index) => {
        line.hidden = !(items[index].text ?? "").toLowerCase().includes(wanted);
      });
    },
  });
  const node = el(
    "fieldset",
    { class: "choices", onchange: counted },
    widget.label ? el("legend", {}, widget.label) : null,
    items.length >= SEARCHED_FROM ? search : null,
    list,
    count,
  );
  counted();
  return {
    node,
    field: node,
    read,
    focus: () => fields[0]?.focus(),
    write: (values) => {
      write(values);
      counted();
    },
  };
}

/** The switch or box at the end of a decorated text. */
export function switchControl(control, label, card) {
  const isSwitch = control.controlType !== "CHECK_BOX" && control.controlType !== "CHECKBOX";
  const field = el("input", {
    type: "checkbox",
    role: isSwitch ? "switch" : null,
    class: isSwitch ? "switch" : null,
    value: control.value ?? "",
    "aria-label": label,
    checked: Boolean(control.selected),
  });
  if (control.onChangeAction) field.addEventListener("change", () => card.act(control.onChangeAction));
  card.form.add({
    name: control.name,
    type: "switchControl",
    ...checked([field]),
    focus: () => field.focus(),
    complain: () => {},
  });
  return field;
}

// Reading an add-on's answer as strictly as Google does. Google drops a wrong shape without a word;
// this page says what was wrong.

import { isObject } from "./dom.js";

const NAVIGATIONS = ["pushCard", "updateCard", "pop", "popToRoot", "popToCard"];
const CARD_FIELDS = [
  "name",
  "header",
  "sections",
  "sectionDividerStyle",
  "cardActions",
  "fixedFooter",
  "displayStyle",
  "peekCardHeader",
];
const FILE_REQUEST = "requestFileScopeForActiveDocument";

/** The answer has a shape Google does not know; the message names the place. */
export class Ignored extends Error {}

/**
 * Read an answer to a trigger or a click.
 * Returns {navigations: [[name, value]], notification, link, requestFile, scopes}.
 */
export function readAnswer(answer, isTrigger) {
  need(isObject(answer), "the answer is not an object");
  if (isObject(answer.requesting_google_scopes))
    return { ...nothing(), scopes: readScopes(answer.requesting_google_scopes) };
  if (isTrigger && "sections" in answer)
    return { ...nothing(), navigations: [["pushCard", readCard(answer)]] };
  if ("renderActions" in answer) {
    need(!isTrigger, "renderActions in the answer to a trigger; it belongs into answers to clicks");
    only(answer, ["renderActions", "stateChanged"], "");
    return readRender(answer.renderActions, "renderActions.");
  }
  return readRender(answer, "");
}

function nothing() {
  return { navigations: [], notification: "", link: "", requestFile: false, scopes: null };
}

function readScopes(request) {
  need(
    request.all_scopes === true || Array.isArray(request.scopes),
    "requesting_google_scopes without scopes",
  );
  return request.scopes ?? ["all_scopes"];
}

function readRender(render, path) {
  need(isObject(render), `${path || "answer"} is not an object`);
  only(render, ["action", "hostAppAction"], path);
  need("action" in render || "hostAppAction" in render, "there is neither action nor hostAppAction");
  const read = nothing();
  if ("hostAppAction" in render) {
    read.requestFile = isObject(render.hostAppAction?.editorAction?.[FILE_REQUEST]);
    need(read.requestFile, `${path}hostAppAction is not editorAction.${FILE_REQUEST}`);
  }
  if ("action" in render) readAction(render.action, `${path}action`, read);
  return read;
}

function readAction(action, path, read) {
  need(isObject(action), `${path} is not an object`);
  only(action, ["navigations", "notification", "link"], `${path}.`);
  const navigations = action.navigations ?? [];
  need(Array.isArray(navigations), `${path}.navigations is not a list`);
  read.navigations = navigations.map((navigation) => readNavigation(navigation, `${path}.navigations`));
  if (action.notification) {
    need(typeof action.notification.text === "string", `${path}.notification has no text`);
    read.notification = action.notification.text;
  }
  if (action.link) {
    need(typeof action.link.url === "string", `${path}.link has no url`);
    read.link = action.link.url;
  }
}

function readNavigation(navigation, path) {
  const names = isObject(navigation) ? Object.keys(navigation) : [];
  need(
    names.length === 1 && NAVIGATIONS.includes(names[0]),
    `${path} has ${names.join(", ") || "no field"}; Google knows ${NAVIGATIONS.join(", ")}`,
  );
  const [name] = names;
  return [name, name === "pushCard" || name === "updateCard" ? readCard(navigation[name]) : navigation[name]];
}

export function readCard(card) {
  need(isObject(card), "a card is not an object");
  only(card, CARD_FIELDS, "card ");
  const sections = card.sections ?? [];
  need(
    Array.isArray(sections) &&
      sections.every((section) => isObject(section) && Array.isArray(section.widgets)),
    "card.sections is not a list of sections with widgets",
  );
  need(
    !card.fixedFooter || isObject(card.fixedFooter.primaryButton),
    "card.fixedFooter has no primaryButton",
  );
  need(!card.cardActions || Array.isArray(card.cardActions), "card.cardActions is not a list");
  return card;
}

function only(object, fields, path) {
  const unknown = Object.keys(object).filter((name) => !fields.includes(name));
  need(unknown.length === 0, `unknown field ${unknown.map((name) => path + name).join(", ")}`);
}

function need(condition, message) {
  if (!condition) throw new Ignored(message);
}

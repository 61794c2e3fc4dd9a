// The inputs of one card: their values, whether they may be sent, and keeping them when a card is replaced.

import { say } from "./words.js";

const CHECKS = {
  INTEGER: [/^[+-]?\d+$/, "badNumber"],
  FLOAT: [/^[+-]?(\d+\.?\d*|\.\d+)$/, "badNumber"],
  EMAIL: [/^[^\s@]+@[^\s@]+$/, "badEmail"],
};

export class Form {
  constructor() {
    this.inputs = new Map();
  }

  /** Add an input: {name, type, read(), write(values), complain(text), inputType}. */
  add(input) {
    this.inputs.set(input.name, Object.assign(input, { initial: input.read() }));
  }

  /** The map that Google sends: inputs left empty are not in it. */
  values() {
    const values = {};
    for (const { name, read } of this.inputs.values()) {
      const value = read();
      if (value.length) values[name] = { stringInputs: { value } };
    }
    return values;
  }

  /** Whether an action may be sent as the form is; says beside each input what is missing. */
  allows(action) {
    const required = new Set(action.requiredWidgets ?? []);
    const wrong = [...this.inputs.values()].filter((input) => {
      const value = input.read();
      const [pattern, word] = CHECKS[input.inputType] ?? [];
      let complaint = "";
      if (!value.length && (action.allWidgetsAreRequired || required.has(input.name)))
        complaint = say("required");
      else if (value.length && pattern && !pattern.test(value[0])) complaint = say(word);
      input.complain(complaint);
      return complaint !== "";
    });
    wrong[0]?.focus();
    return wrong.length === 0;
  }

  /** Back to what the card says, as Google does after a click whose action does not persist values. */
  clear() {
    for (const input of this.inputs.values()) input.write(input.initial);
  }

  /** Keep what a person filled into the inputs of the same name and type of the card this one replaces. */
  keep(before) {
    for (const input of this.inputs.values()) {
      const old = before.inputs.get(input.name);
      if (old?.type !== input.type) continue;
      const value = old.read();
      if (String(value) !== String(old.initial)) input.write(value);
    }
  }
}

// Two versions of a provision side by side, with what was taken out and put in.

import { get, part } from "./api.js";
import { button, el, fill, said } from "./dom.js";
import { openSide } from "./side.js";
import { openProvision } from "./source.js";
import { isShown, scrollBack, visit } from "./trail.js";
import { days, problem } from "./wording.js";

/** Compare the versions of a provision; `a` and `b` are documents, chosen there where not given. */
export function openCompare(aside, { collection, document, label, a = null, b = null }) {
  visit(aside, new Comparison({ collection, document, label, a, b }));
}

/**
 * Return what each side shows of the parts of a comparison: what both have, and what it alone has.
 * An unbroken change stays one piece: {op, text} with op "same", "removed" or "added".
 */
export function sides(parts) {
  const of = (other) => {
    const found = [];
    for (const { op, text } of parts) {
      if (op === other || !text) continue;
      if (found.at(-1)?.op === op) found.at(-1).text += text;
      else found.push({ op, text });
    }
    return found;
  };
  return [of("added"), of("removed")];
}

/** Versions of one provision, as long as the pane can come back to them. */
class Comparison {
  constructor(asked) {
    Object.assign(this, asked);
    this.versions = null;
  }

  render(aside, tools) {
    this.aside = aside;
    this.body = openSide(aside, { title: `Versions of ${this.label}`, detail: this.collection, tools });
    this.body.classList.add("comparison");
    this.chosen = el("div", { class: "choices" });
    this.shown = el("div", { class: "both" }, el("p", { class: "detail" }, "Loading …"));
    fill(this.body, this.chosen, this.shown);
    this.#load();
  }

  async #load() {
    const { collection, document, label } = this;
    try {
      if (!this.versions) {
        const found = await get(`collections/${part(collection)}/versions`, { query: { document, label } });
        this.versions = found.versions;
        const at = Math.max(1, this.versions.findIndex((one) => one.document === document));
        this.a ??= this.versions[at - 1]?.document ?? null;
        this.b ??= this.versions[at]?.document ?? null;
      }
      if (!isShown(this.aside, this)) return;
      if (this.versions.length < 2) return this.#alone();
      this.#choices();
      await this.#compare();
      scrollBack(this.aside, this);
    } catch (error) {
      if (isShown(this.aside, this)) this.#failed(error);
    }
  }

  #alone() {
    const only = this.versions[0];
    const said = only && days(only) ? `It is ${days(only)}.` : "It names no days.";
    fill(this.shown, el("p", { class: "note" }, `The collection has one version of this provision. ${said}`));
  }

  #choices() {
    const one = (name, label) => {
      const id = `version-${name}`;
      const options = this.versions.map((version) =>
        el("option", { value: version.document, selected: version.document === this[name] }, titled(version)),
      );
      const chosen = el("select", { id, on: { change: () => this.#choose(name, chosen.value) } }, options);
      return el("div", { class: "field" }, el("label", { for: id }, label), chosen);
    };
    fill(this.chosen, one("a", "Earlier"), one("b", "Later"));
  }

  async #choose(name, document) {
    this[name] = document;
    try {
      await this.#compare();
    } catch (error) {
      this.#failed(error);
    }
  }

  async #compare() {
    const { collection, a, b, label } = this;
    const found = await get(`collections/${part(collection)}/compare`, { query: { a, b, label } });
    if (!isShown(this.aside, this) || a !== this.a || b !== this.b) return;
    const [before, after] = sides(found.parts);
    const changed = found.parts.some(({ op }) => op !== "same");
    fill(
      this.shown,
      el("p", { class: "detail", role: "status" }, changed ? told(before, after) : "Both say the same."),
      el("div", { class: "columns" }, this.#column(found.a, before), this.#column(found.b, after)),
    );
  }

  #column(version, pieces) {
    const { collection } = this;
    const read = () => openProvision(this.aside, { collection, document: version.document, label: version.label });
    const heading = el("h3", {}, said(days(version) || "names no days"));
    const words = pieces.length ? pieces.map(shownPiece) : el("span", { class: "detail" }, "It does not have this provision.");
    return el(
      "section",
      {},
      heading,
      el("p", { class: "detail" }, said(version.title || version.document)),
      el("div", { class: "words", dir: "auto" }, words),
      pieces.length > 0 && button("Read it there", read, { class: "link" }),
    );
  }

  #failed(error) {
    fill(this.shown, problem(error, () => this.#load()));
  }
}

function shownPiece({ op, text }) {
  // the signs with which Markdown begins a heading are no words of it
  const words = text.replace(/(^|\n)#{1,6}[ \t]+/g, "$1");
  return op === "same" ? words : el(op === "added" ? "ins" : "del", {}, words);
}

function told(before, after) {
  const count = (pieces, op) => pieces.filter((piece) => piece.op === op).length;
  const times = (number) => `${number} ${number === 1 ? "place" : "places"}`;
  return `Taken out in ${times(count(before, "removed"))}, put in in ${times(count(after, "added"))}.`;
}

const titled = (version) => `${days(version).replace(/^in force /, "") || version.document} (${version.title || version.document})`;

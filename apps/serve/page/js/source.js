// A source beside the answer: a citation at its cited words, or a provision to read.

import { ApiError, get, part } from "./api.js";
import { openCompare } from "./compare.js";
import { announce, append, button, el, fill, said } from "./dom.js";
import { Pages } from "./pages.js";
import { Reading } from "./reading.js";
import { closeSide, openSide } from "./side.js";
import { isShown, scrollBack, visit } from "./trail.js";
import { openTree } from "./tree.js";
import { described, inForce, place, problem, quoted } from "./wording.js";

const NO_MAP =
  "There is no map of where these words stand on the page, so here they are in the text.";
const MOST_REFERENCES = 40;

/** Show a citation beside the answer: its document at the cited words; `as_of` is the answer's day. */
export function openSource(aside, { as_of: asOf = null, ...citation }) {
  visit(aside, new Source(citation, asOf));
}

/** Show a provision to read: {collection, document, label}, with its span where it is known. */
export function openProvision(aside, { collection, document, label, start, end, page }, { asOf = null } = {}) {
  visit(aside, new Source({ collection, document, section: label, start, end, page }, asOf));
}

/** One source in the pane, as long as the pane can come back to it. */
class Source {
  constructor(cited, asOf) {
    // a passage has its text where a citation has its quote
    cited.quote ??= cited.text;
    Object.assign(this, { cited, asOf, as: null, provision: null, listed: null });
  }

  render(aside, tools) {
    const { section, document } = this.cited;
    this.aside = aside;
    this.body = openSide(aside, { title: section || document, detail: document, tools });
    this.body.classList.add("source");
    this.note = el("div");
    this.view = el("div", { class: "view" }, el("p", { class: "detail" }, "Loading …"));
    this.head = el("div", { class: "source-head" });
    this.tools = el("div", { class: "source-tools" });
    fill(this.body, this.head, this.tools, this.note, this.view);
    this.#load();
  }

  async #load() {
    this.body.setAttribute("aria-busy", "true");
    try {
      await this.#know();
      if (!isShown(this.aside, this)) return;
      this.#head();
      await this.#switch(this.as ?? (this.boxed.length ? "page" : "text"));
    } catch (error) {
      if (isShown(this.aside, this)) this.#failed(error, () => this.#load());
    } finally {
      this.body.removeAttribute("aria-busy");
    }
  }

  /** Ask for what the pane shows: the provision, the document's row, and the boxes of the words. */
  async #know() {
    const { collection, document, section, start, end } = this.cited;
    const of = `collections/${part(collection)}`;
    const absent = (error) => {
      if (error instanceof ApiError && [400, 404].includes(error.status)) return null;
      throw error;
    };
    const [provision, row] = await Promise.all([
      section ? get(`${of}/provision`, { query: { document, label: section, start } }).catch(absent) : null,
      get(`${of}/documents`, { query: { document } }).then((all) => rowOf(all, document), absent),
    ]);
    if (!provision && start === undefined) {
      throw new ApiError({ kind: "NotFoundError", what: `${document} has no ${section}.` });
    }
    this.provision = provision;
    this.listed = row;
    this.span = { start: start ?? provision.start, end: end ?? provision.end };
    this.page = this.cited.page ?? provision?.page ?? null;
    const query = { document, ...this.span };
    const found = this.page ? await get(`${of}/boxes`, { query }) : { pages: [] };
    this.boxed = found.pages;
  }

  #head() {
    const { provision, cited } = this;
    const title = this.listed?.title || cited.document;
    this.aside.querySelector(".side-head .detail")?.replaceChildren(
      said(described([provision?.heading !== cited.section && provision?.heading, title])),
    );
    const version = provision?.version || cited.version;
    fill(
      this.head,
      provision?.above.length > 0 && this.#path(provision.above),
      version && el("p", { class: "version" }, inForce(version, this.asOf)),
      !cited.quote && provision?.lead_in.map((words) => el("p", { class: "lead-in", dir: "auto" }, words)),
    );
    this.#references();
  }

  #path(above) {
    const steps = above.map((unit) => el("li", {}, this.#jump(unit.label, unit, described([unit.label, unit.heading !== unit.label && unit.heading]))));
    return el("nav", { class: "path", "aria-label": "Where it stands" }, el("ol", {}, steps));
  }

  #jump(label, unit, words) {
    const { collection, document } = this.cited;
    const there = { collection, document, label, start: unit?.start, end: unit?.end, page: unit?.page };
    return el(
      "button",
      { type: "button", class: "link", on: { click: () => openProvision(this.aside, there, { asOf: this.asOf }) } },
      said(words),
    );
  }

  #references() {
    this.aside.querySelector(".refers")?.remove();
    const found = this.provision?.refers_to.slice(0, MOST_REFERENCES) ?? [];
    const others = found.filter(({ labels }) => !(labels.length === 1 && labels[0] === this.provision.label));
    if (!others.length) return;
    const items = others.map(({ said: words, labels }) =>
      el(
        "li",
        {},
        labels.length ? this.#jump(labels[0], null, words) : el("span", { class: "detail" }, said(words), ": not in this document"),
      ),
    );
    const heading = el("h3", { class: "detail", id: "refers" }, "Refers to");
    append(this.aside, el("nav", { class: "refers", "aria-labelledby": "refers" }, heading, el("ul", {}, items)));
  }

  /** Show the text or the page. */
  async #switch(as) {
    this.as = as;
    fill(this.note);
    if (as === "text" && this.page && !this.boxed.length && this.cited.quote) {
      fill(this.note, el("p", { class: "note" }, NO_MAP));
    }
    const shown = as === "page" ? this.#pages() : this.#reading();
    fill(this.view, shown.element);
    this.#tools(shown.tools ?? []);
    await (as === "page" ? shown.show() : shown.load());
    if (!scrollBack(this.aside, this)) this.#bring(shown.target);
  }

  #reading() {
    const { quote, lead_spans: leads = [] } = this.cited;
    const lead = leads.map(([start, end]) => ({ start, end, kind: "lead" }));
    const marks = quote ? [{ ...this.span, kind: "quote" }, ...lead] : [];
    return new Reading(this.cited, marks, this.span, (error) => this.#failed(error));
  }

  #pages() {
    const title = this.listed?.title || this.cited.document;
    return new Pages({ ...this.cited, title }, {
      boxed: this.boxed,
      page: this.boxed[0]?.page ?? this.page,
      count: this.listed?.pages || null,
      failed: (page) => this.#withoutPage(page),
    });
  }

  async #withoutPage(page) {
    if (!isShown(this.aside, this) || this.as !== "page") return;
    await this.#switch("text");
    fill(this.note, el("p", { class: "note", role: "status" }, `Page ${page} cannot be shown, so here is the text.`));
  }

  #tools(more) {
    const pick = (as, label) =>
      button(label, () => this.#again(as), { "aria-pressed": String(this.as === as), class: "quiet" });
    const both = this.page && el("div", { class: "switch", role: "group", "aria-label": "Show as" }, pick("page", "Page"), pick("text", "Text"));
    fill(
      this.tools,
      both,
      more.length > 0 && el("div", { class: "page-tools", role: "group", "aria-label": "Pages" }, more),
      el("div", { class: "acts" }, this.#acts()),
    );
  }

  #acts() {
    const { collection, document, section: label } = this.cited;
    const title = this.listed?.title || document;
    const versions = this.provision?.version && label;
    return [
      button("Copy", () => this.#copy(), { icon: "copy", class: "quiet sign", title: "Copy with its citation" }),
      versions && button("Versions", () => openCompare(this.aside, { collection, document, label }), { icon: "calendar", class: "quiet sign", title: "Versions" }),
      button("Provisions", () => openTree(this.aside, collection, document, label || null), { icon: "menu", class: "quiet sign", title: "Provisions" }),
      label && button("Ask about this", () => askAbout(this.aside, { collection, document, label, title }), { icon: "edit" }),
    ];
  }

  async #again(as) {
    delete this.scrolled;
    try {
      await this.#switch(as);
      this.tools.querySelector('[aria-pressed="true"]')?.focus({ preventScroll: true });
    } catch (error) {
      this.#failed(error, () => this.#again(as));
    }
  }

  #bring(target) {
    const above = target.getBoundingClientRect().top - this.body.getBoundingClientRect().top;
    if (target.closest(".view") && target.matches("mark, .asked, .box")) {
      this.body.scrollTop += above - this.body.clientHeight / 3;
    }
  }

  async #copy() {
    const words = this.cited.quote ?? this.provision?.text ?? "";
    const title = this.listed?.title || this.cited.document;
    const version = this.provision?.version || this.cited.version;
    const done = await copied(`${quoted(words)} (${place(this.cited, title, version)})`);
    announce(done ? "Copied." : "The browser does not let this page copy.");
    fill(this.note, el("p", { class: done ? "note good" : "note bad" }, done ? "Copied with its citation." : "The browser does not let this page copy; select the words instead."));
  }

  #failed(error, again) {
    fill(this.note, problem(error, again));
    if (again) fill(this.view);
  }
}

function rowOf(all, document) {
  const rows = Array.isArray(all) ? all : (all?.documents ?? []);
  return rows.find((row) => row.name === document) ?? null;
}

/** Let the composer take a provision up: whoever owns it hears `ask-about`. */
export function askAbout(aside, detail) {
  if (window.matchMedia("(max-width: 60rem)").matches) closeSide(aside);
  document.dispatchEvent(new CustomEvent("ask-about", { detail }));
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // without https the browser has no clipboard, but still the older way
    const field = el("textarea", { class: "unseen", "aria-hidden": "true", tabindex: "-1", value: text });
    const focused = document.activeElement;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    focused?.focus({ preventScroll: true });
    return done;
  }
}

// The documents of a collection: listed, added, removed.

import { events, get, part, post, remove } from "./api.js";
import { confirmed } from "./dialog.js";
import { announce, button, el, fill, said } from "./dom.js";
import { openSide } from "./side.js";
import { state } from "./state.js";
import { isShown, scrollBack, visit } from "./trail.js";
import { openTree } from "./tree.js";
import { batches, dropped, pathOf, send } from "./upload.js";
import { counted } from "./words.js";
import { days, described, problem } from "./wording.js";

const MOST_SHOWN = 300;
const MOST_NAMED = 20;
const STAGES = {
  waiting: "Waiting for its turn",
  loading: "Getting ready",
  reading: "Reading the documents",
  embedding: "Learning what the passages mean",
  indexing: "Writing the index",
};

/** Show what a collection holds; the first that there is where none is named. */
export function openDocuments(aside, collection = null) {
  visit(aside, new Documents(collection));
}

/** The documents of one collection, as long as the pane can come back to them. */
class Documents {
  constructor(collection) {
    this.collection = collection;
  }

  get own() {
    return state.collections.find((one) => one.name === this.collection)?.mine ?? false;
  }

  render(aside, tools) {
    this.aside = aside;
    this.body = openSide(aside, { title: "Documents", tools });
    const places = ["chosen", "adding", "work", "note", "listed"];
    for (const place of places) this[place] = el("div", { class: `of-${place}` });
    this.work.hidden = true;
    this.body.classList.add("documents");
    fill(this.body, places.map((place) => this[place]));
    this.#load();
  }

  async #load() {
    try {
      if (!state.collections.some((one) => one.name === this.collection)) {
        this.collection = state.collections[0]?.name ?? null;
      }
      this.#choose();
      this.#adding();
      if (!this.collection) return fill(this.listed, el("p", { class: "detail" }, "There is no collection yet."));
      fill(this.listed, el("p", { class: "detail" }, "Loading …"));
      await this.#list();
      scrollBack(this.aside, this);
      if (this.own) await this.#follow({ quietly: true });
    } catch (error) {
      this.#failed(error, () => this.#load());
    }
  }

  #choose() {
    const options = state.collections.map((one) =>
      el("option", { value: one.name, selected: one.name === this.collection }, one.title || one.name),
    );
    const select = el("select", { id: "of-collection", on: { change: () => this.#show(select.value) } }, options);
    const made = state.me?.may_upload && button("New collection", () => this.#naming(), { class: "outlined", icon: "add" });
    const field = el("div", { class: "field" }, el("label", { for: "of-collection" }, "Collection"), select);
    fill(this.chosen, options.length > 0 && field, made);
  }

  #show(collection) {
    this.collection = collection;
    delete this.scrolled;
    for (const place of [this.note, this.listed]) fill(place);
    this.#load();
  }

  /** Ask for the name of a new collection, where its button stood. */
  #naming() {
    const name = el("input", { id: "collection-name", required: true, maxlength: 100, autocomplete: "off" });
    const make = async (event) => {
      event.preventDefault();
      try {
        const made = await post("collections", { name: name.value.trim() });
        await this.#changed();
        this.#show(made?.name ?? name.value.trim());
        announce("The collection is made.");
        this.adding.querySelector("button")?.focus();
      } catch (error) {
        name.setAttribute("aria-invalid", "true");
        this.#failed(error);
        name.focus();
      }
    };
    const cancel = () => {
      fill(this.note);
      this.#choose();
      this.chosen.querySelector("button")?.focus();
    };
    const acts = [el("button", { type: "submit", class: "solid" }, "Make"), button("Cancel", cancel)];
    const label = el("label", { for: "collection-name" }, "Name of the collection");
    fill(this.chosen, el("form", { class: "field naming", on: { submit: make } }, label, el("div", {}, name, acts)));
    name.focus();
  }

  async #changed() {
    state.collections = await get("collections");
    document.dispatchEvent(new CustomEvent("collections-changed"));
  }

  /** Where files are dropped or chosen; only in a collection of one's own. */
  #adding() {
    if (!this.own) return fill(this.adding);
    const pick = (label, props) => {
      const input = el("input", { type: "file", multiple: true, hidden: true, ...props });
      input.addEventListener("change", () => {
        this.#upload([...input.files].filter((file) => !/(^|\/)\./.test(pathOf(file))));
        input.value = "";
      });
      return [input, button(label, () => input.click(), { class: "outlined", icon: "upload" })];
    };
    const zone = el(
      "div",
      { class: "drop" },
      el("p", {}, "Drop files or a folder here, or choose them."),
      el("div", { class: "acts" }, pick("Choose files", { data: { testid: "files" } }), pick("Choose a folder", { webkitdirectory: true, data: { testid: "folder" } })),
      el("p", { class: "hint" }, "PDF, Word, HTML, Markdown, text and archives of them. ", whereTo()),
    );
    const over = (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      zone.classList.toggle("over", event.type !== "dragleave" && event.type !== "drop");
      if (event.type === "drop") dropped(event.dataTransfer).then((files) => this.#upload(files));
    };
    for (const event of ["dragover", "dragenter", "dragleave", "drop"]) zone.addEventListener(event, over);
    return fill(this.adding, zone);
  }

  async #upload(files, replace = false) {
    if (!files.length) return;
    const { collection } = this;
    fill(this.note);
    announce(`Sending ${counted(files.length, "file")}.`);
    const all = files.reduce((sum, file) => sum + file.size, 0);
    const stop = new AbortController();
    const refused = [];
    let done = 0;
    let sent = 0;
    try {
      for (const batch of batches(files)) {
        const told = (bytes) => this.#progress(`Sending ${counted(files.length, "file")}`, sent + bytes, all, stop);
        told(0);
        const answer = await send(collection, batch, { replace, told, signal: stop.signal });
        refused.push(...(answer.refused ?? []));
        sent += batch.reduce((sum, file) => sum + file.size, 0);
        done += batch.length;
      }
    } catch (error) {
      this.work.hidden = true;
      // what was refused will be refused again
      const passing = !error.status || error.status === 429 || error.status >= 500;
      this.#failed(error, passing ? () => this.#upload(files.slice(done), replace) : null);
      if (!done) return;
    }
    await this.#refused(files, refused, replace);
    await this.#follow({});
  }

  /** Say which files were not taken and why; ask whether those that are there are to be replaced. */
  async #refused(files, refused, replace) {
    const there = refused.filter((one) => one.exists);
    const others = refused.filter((one) => !one.exists);
    if (others.length) this.note.append(reasons("Not taken", others, "bad"));
    if (!there.length || replace) return;
    const names = new Set(there.map((one) => one.name));
    const again = files.filter((file) => names.has(pathOf(file)));
    const listed = [...names].slice(0, MOST_NAMED).join(", ") + (names.size > MOST_NAMED ? ", …" : "");
    const title = names.size === 1 ? "Replace the document that is there?" : `Replace ${names.size} documents that are there?`;
    if (await confirmed({ title, text: listed, action: "Replace", danger: false })) await this.#upload(again, true);
    else this.note.append(reasons("Left as they were", there, ""));
  }

  /** Show how far the indexing is until it is over; quietly where nobody waits for its end. */
  async #follow({ quietly = false }) {
    const { collection } = this;
    this.stop?.abort();
    this.stop = new AbortController();
    let worked = !quietly;
    try {
      for await (const { event, data } of events("GET", `collections/${part(collection)}/indexing`, { signal: this.stop.signal })) {
        if (!isShown(this.aside, this) || collection !== this.collection) return this.stop.abort();
        if (event === "progress") {
          worked = true;
          this.#progress(STAGES[data.stage] ?? data.stage, data.done, data.of);
        } else if (worked) {
          await this.#indexed(data);
        }
      }
    } catch (error) {
      if (error.name !== "AbortError" && (worked || error.status !== 404)) this.#failed(error, () => this.#follow({}));
    } finally {
      this.work.hidden = true;
    }
  }

  async #indexed() {
    this.work.hidden = true;
    await this.#changed();
    await this.#list();
    announce(`The index is ready: ${counted(this.rows.length, "document")}.`);
  }

  #progress(label, done, of, stop = null) {
    if (this.work.hidden || Boolean(stop) !== this.work.childElementCount > 2) {
      this.bar = el("progress", { "aria-labelledby": "work-label" });
      fill(this.work, el("p", { id: "work-label" }), this.bar, stop && button("Stop", () => stop.abort()));
      this.work.hidden = false;
    }
    const percent = of > 0 ? Math.floor((100 * done) / of) : 0;
    this.bar.max = 100;
    this.bar.value = Math.min(100, percent);
    this.work.firstChild.textContent = of > 1 ? `${label}: ${Math.min(100, percent)} %` : `${label} …`;
  }

  async #list() {
    const { collection } = this;
    const all = await get(`collections/${part(collection)}/documents`);
    if (!isShown(this.aside, this) || collection !== this.collection) return;
    this.rows = all.documents;
    const shown = this.rows.slice(0, MOST_SHOWN);
    const rest = this.rows.length - shown.length;
    const list = el("ul", { class: "rows" }, shown.map((row) => this.#row(row)));
    const more = button(`Show ${rest} more`, () => {
      list.append(...this.rows.slice(MOST_SHOWN).map((row) => this.#row(row)));
      more.remove();
    });
    fill(
      this.listed,
      el("h3", {}, counted(this.rows.length, "document")),
      all.skipped.length > 0 && reasons("Skipped", all.skipped, ""),
      list,
      rest > 0 && more,
      this.own && button("Delete this collection", () => this.#drop(), { class: "quiet danger", icon: "remove" }),
    );
  }

  #row(row) {
    const title = row.title || row.name;
    const told = [
      title !== row.name && row.name,
      row.pages > 0 && counted(row.pages, "page"),
      row.kind,
      row.jurisdiction,
      days(row),
      row.superseded_by && `replaced by ${row.superseded_by}`,
    ];
    const open = () => openTree(this.aside, this.collection, row.name);
    return el(
      "li",
      {},
      el("div", {}, el("button", { type: "button", class: "link", on: { click: open } }, said(title)), el("p", { class: "detail" }, said(described(told)))),
      this.own && button(`Remove ${title}`, () => this.#remove(row, title), { icon: "remove", hideLabel: true }),
    );
  }

  async #remove(row, title) {
    const text = `${title} (${row.name}) is removed from the collection and from the server’s disk.`;
    if (!(await confirmed({ title: "Remove this document?", text, action: "Remove" }))) return;
    try {
      await remove(`collections/${part(this.collection)}/documents`, { query: { document: row.name } });
      await this.#follow({});
    } catch (error) {
      this.#failed(error);
    }
  }

  async #drop() {
    const { collection } = this;
    const text = `“${collection}” with its ${counted(this.rows.length, "document")} is deleted from the server’s disk.`;
    if (!(await confirmed({ title: "Delete this collection?", text, action: "Delete" }))) return;
    try {
      await remove(`collections/${part(collection)}`);
      await this.#changed();
      this.#show(null);
      announce("The collection is deleted.");
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error, again = null) {
    if (isShown(this.aside, this)) fill(this.note, problem(error, again && (() => (fill(this.note), again()))));
  }
}

function whereTo() {
  const hosts = state.me?.hosts ?? [];
  return hosts.length ? `Their text may go to ${hosts.join(" and ")}.` : "They stay on this server.";
}

function reasons(heading, found, kind) {
  const rows = found.slice(0, MOST_SHOWN).map((one) => el("li", {}, el("strong", {}, said(one.name)), " ", said(one.reason)));
  const open = found.length <= MOST_NAMED;
  const summary = el("summary", {}, `${heading}: ${counted(found.length, "file")}`);
  return el("details", { class: `reasons ${kind}`, open }, summary, el("ul", {}, rows));
}

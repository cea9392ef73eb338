// The provisions of the documents of a collection, to jump in.

import { get, part } from "./api.js";
import { append, el, fill, said } from "./dom.js";
import { every, matching, nested } from "./outline.js";
import { openSide } from "./side.js";
import { openProvision } from "./source.js";
import { isShown, scrollBack, visit } from "./trail.js";
import { days, described, problem } from "./wording.js";

const MOST_FOUND = 200;
const MOST_SEARCHED = 40;
const TYPING_MS = 90;
// so many rows are there at once, the others by and by
const SLICE = 250;

/** Show the provisions of a collection's documents; open at a document, and at a label in it. */
export function openTree(aside, collection, document = null, label = null) {
  visit(aside, new Tree(collection, document, label));
}

/** The tree, with what is open in it, as long as the pane can come back to it. */
class Tree {
  constructor(collection, document, label) {
    Object.assign(this, { collection, document, label, roots: null, typed: "", current: null });
    this.items = new WeakMap();
  }

  render(aside, tools) {
    this.aside = aside;
    this.body = openSide(aside, { title: "Provisions", detail: this.collection, tools });
    this.list = el("ul", { class: "tree", role: "tree", "aria-label": "Provisions" });
    this.list.addEventListener("click", (event) => this.#clicked(event));
    this.list.addEventListener("keydown", (event) => this.#key(event));
    this.count = el("p", { class: "detail", role: "status" });
    this.note = el("div");
    this.field = el("input", { type: "search", id: "find-provision", autocomplete: "off", value: this.typed, placeholder: "Its number, or words of its heading" });
    this.field.addEventListener("input", () => this.#type());
    this.field.addEventListener("keydown", (event) => this.#fieldKey(event));
    const field = el("div", { class: "field find" }, el("label", { for: "find-provision" }, "Find a provision"), this.field);
    fill(this.body, field, this.count, this.note, this.list);
    this.body.classList.add("with-tree");
    this.#load();
  }

  async #load() {
    try {
      if (!this.roots) await this.#begin();
      if (!isShown(this.aside, this)) return;
      if (this.typed) await this.#find();
      else this.#showAll();
      if (this.current && !scrollBack(this.aside, this)) this.#focus(this.current, "center");
      else if (this.current) this.#focus(this.current);
    } catch (error) {
      this.#failed(error, () => this.#load());
    }
  }

  /** Ask for the documents; open the one, and the provision, that was asked for. */
  async #begin() {
    const all = await get(`collections/${part(this.collection)}/documents`);
    const rows = Array.isArray(all) ? all : all.documents;
    this.roots = rows.map((row) => ({
      document: row.name,
      title: row.title || row.name,
      told: described([row.title && row.title !== row.name && row.name, days(row)]),
      children: null,
      parent: null,
    }));
    const only = this.roots.length === 1 ? this.roots[0] : null;
    const root = this.roots.find((one) => one.document === this.document) ?? only;
    if (!root) return;
    await this.#fetch(root);
    root.open = true;
    const item = [...every(root.children)].find((one) => one.unit.label === this.label);
    for (let above = item?.parent; above; above = above.parent) above.open = true;
    this.current = item ?? root;
  }

  async #fetch(root) {
    if (root.children) return;
    const query = { document: root.document };
    const found = await get(`collections/${part(this.collection)}/tree`, { query });
    const beginning = { unit: { label: "From the beginning", heading: "", start: 0, end: 1, depth: 0, whole: true }, children: [] };
    root.children = [beginning, ...nested(found.units)];
    for (const item of every(root.children)) item.root = root;
    for (const item of root.children) item.parent = root;
    root.problems = found.problems ?? [];
  }

  #showAll() {
    this.count.textContent = "";
    fill(this.list, this.roots.map((root) => this.#item(root, 1)));
    if (!this.roots.length) fill(this.note, el("p", { class: "detail" }, "There are no documents yet."));
    this.#restTab();
  }

  #item(item, level) {
    const name = item.unit ? named(item.unit) : { label: item.title, heading: item.told };
    const inner = item.children === null || item.children.length > 0;
    const node = el(
      "li",
      {
        role: "treeitem",
        tabindex: "-1",
        "aria-level": level,
        "aria-expanded": inner ? String(Boolean(item.open)) : null,
        "aria-label": [name.label, name.heading].filter(Boolean).join(", "),
      },
      el(
        "div",
        { class: item.unit ? `row ${item.unit.kind ?? "whole"}` : "row document" },
        el("span", { class: "twisty" }),
        el("span", { class: "name" }, said(name.label, { class: "label" }), name.heading && [" ", said(name.heading, { class: "heading" })]),
        item.unit?.page && el("span", { class: "detail" }, `p. ${item.unit.page}`),
      ),
    );
    this.items.set(node, item);
    item.node = node;
    node.style.setProperty("--level", level);
    if (item.open && inner) this.#fillGroup(item, level);
    return node;
  }

  #fillGroup(item, level, slice = Infinity) {
    const group = el("ul", { role: "group" });
    const add = (from) => {
      append(group, item.children.slice(from, from + slice).map((child) => this.#item(child, level + 1)));
      if (from + slice < item.children.length) setTimeout(() => item.open && group.isConnected && add(from + slice));
    };
    item.node.append(group);
    add(0);
  }

  async #toggle(item, open) {
    if (!item.node.hasAttribute("aria-expanded") || Boolean(item.open) === open) return;
    if (open && item.children === null) {
      item.node.setAttribute("aria-busy", "true");
      try {
        await this.#fetch(item);
      } catch (error) {
        return this.#failed(error, () => this.#toggle(item, true));
      } finally {
        item.node.removeAttribute("aria-busy");
      }
    }
    item.open = open;
    item.node.setAttribute("aria-expanded", String(open));
    item.node.querySelector(":scope > ul")?.remove();
    if (open) this.#fillGroup(item, Number(item.node.getAttribute("aria-level")), SLICE);
    this.#restTab();
  }

  #read(item) {
    if (!item.unit) return this.#toggle(item, !item.open);
    this.current = item;
    const { label, start, end, page, whole } = item.unit;
    const place = { collection: this.collection, document: item.root.document, start, end, page };
    return openProvision(this.aside, { ...place, label: whole ? "" : label });
  }

  #clicked({ target }) {
    const item = this.items.get(target.closest("li"));
    if (!item) return;
    this.#focus(item);
    if (target.closest(".twisty") && item.node.hasAttribute("aria-expanded")) this.#toggle(item, !item.open);
    else this.#read(item);
  }

  #key(event) {
    const item = this.items.get(event.target);
    if (!item || event.altKey || event.ctrlKey || event.metaKey) return;
    const act = {
      ArrowDown: () => this.#move(item, 1),
      ArrowUp: () => this.#move(item, -1),
      ArrowRight: () => this.#inward(item),
      ArrowLeft: () => (item.open ? this.#toggle(item, false) : item.parent?.node?.isConnected && this.#focus(item.parent)),
      Home: () => this.#focus(this.items.get(this.list.firstElementChild)),
      End: () => this.#focus(this.items.get(this.#rows().at(-1))),
      Enter: () => this.#read(item),
      " ": () => this.#read(item),
    }[event.key];
    if (act) {
      event.preventDefault();
      act();
    } else if (event.key.length === 1) {
      // what is typed into the tree is looked for in it
      this.field.value = "";
      this.field.focus();
    }
  }

  #fieldKey(event) {
    if (event.key === "Escape" && this.field.value) {
      event.preventDefault();
      this.field.value = "";
      this.#type();
    }
    if (event.key !== "ArrowDown" && event.key !== "Enter") return;
    event.preventDefault();
    const first = this.items.get(this.list.firstElementChild);
    if (first && event.key === "Enter" && this.typed) this.#read(first);
    else if (first) this.#focus(first);
  }

  #rows() {
    return [...this.list.querySelectorAll('[role="treeitem"]')];
  }

  #move(item, by) {
    const rows = this.#rows();
    const next = rows[rows.indexOf(item.node) + by];
    if (next) this.#focus(this.items.get(next));
    else if (by < 0) this.field.focus();
  }

  #inward(item) {
    if (!item.node.hasAttribute("aria-expanded")) return;
    if (!item.open) this.#toggle(item, true);
    else this.#focus(this.items.get(item.node.querySelector('[role="treeitem"]')));
  }

  #focus(item, block = "nearest") {
    if (!item?.node?.isConnected) return;
    this.current = item;
    this.#restTab();
    item.node.focus({ preventScroll: true });
    item.node.firstElementChild.scrollIntoView({ block });
  }

  /** Keep one item in the order of the Tab key: the present one, or the first. */
  #restTab() {
    this.list.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    const node = this.current?.node?.isConnected ? this.current.node : this.list.firstElementChild;
    node?.setAttribute("tabindex", "0");
  }

  #type() {
    this.typed = this.field.value.trim();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.typed) this.#find().catch((error) => this.#failed(error, () => this.#find()));
      else this.#showAll();
    }, TYPING_MS);
  }

  /** Show what was typed for: in every document, or in those that are open where there are many. */
  async #find() {
    const typed = this.typed;
    const few = this.roots.length <= MOST_SEARCHED;
    const roots = this.roots.filter((root) => few || root.children);
    await Promise.all(roots.map((root) => this.#fetch(root)));
    if (typed !== this.typed || !isShown(this.aside, this)) return;
    const all = roots.flatMap((root) => [...every(root.children)].filter((item) => !item.unit.whole));
    const found = matching(all, typed);
    const shown = found.slice(0, MOST_FOUND);
    this.count.textContent = found.length > MOST_FOUND
      ? `The first ${MOST_FOUND} of ${found.length} provisions: type more to find fewer.`
      : `${found.length} of ${all.length} provisions${few ? "" : " of the open documents"}`;
    fill(this.list, shown.map((item) => this.#found(item)));
    this.#restTab();
  }

  #found(item) {
    // a found item stands alone: it is shown once more, closed, and opened by being read
    const one = { unit: item.unit, children: [], parent: null, root: item.root };
    const node = this.#item(one, 1);
    if (this.roots.length > 1) {
      const of = described([item.root.title, item.root.told]);
      node.querySelector(".name").append(el("span", { class: "of" }, said(of)));
    }
    if (item.unit === this.current?.unit) this.current = one;
    return node;
  }

  #failed(error, again) {
    const retry = () => {
      fill(this.note);
      again();
    };
    fill(this.note, problem(error, retry));
  }
}

function named({ label, heading }) {
  return { label, heading: heading && heading !== label ? heading : "" };
}

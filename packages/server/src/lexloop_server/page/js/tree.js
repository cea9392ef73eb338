// The provisions of the documents of a collection, to jump in.

import { append, el, field, fill, said } from "./dom.js";
import { counted, say } from "./language.js";
import { every, matching, nested } from "./outline.js";
import { View } from "./side.js";
import { openProvision } from "./source.js";
import { titleOf } from "./state.js";
import { days, described, fileOf, titleBeside } from "./words.js";

const MOST_FOUND = 200;
const MOST_SEARCHED = 40;
const TYPING_MS = 90;
// so many rows are there at once, the others by and by
const SLICE = 250;

/** Show the provisions of a collection's documents; open at a document, and at a label in it. */
export const openTree = (collection, document, label) => new Tree({ collection, document, label }).visit();

/** A tree whose items are documents, and units of them. */
class Tree extends View {
	roots = null;
	typed = "";
	current = null;
	items = new WeakMap();

	render() {
		this.open(say("provisions"), titleOf(this.collection));
		const heard = { click: (event) => this.#clicked(event), keydown: (event) => this.#key(event) };
		this.list = el("ul.tree", { role: "tree", "aria-label": say("provisions"), on: heard });
		this.count = el("p.detail", { role: "status" });
		this.note = el("div");
		const typing = { input: () => this.#type(), keydown: (event) => this.#fieldKey(event) };
		const hint = say("tree.hint");
		this.field = el("input", { type: "search", id: "find-provision", autocomplete: "off", value: this.typed, placeholder: hint, on: typing });
		fill(this.body, el("div.find", field(say("tree.find"), this.field)), this.count, this.note, this.list);
		this.attempt(() => this.#load());
	}

	async #load() {
		this.roots ??= await this.#begin();
		if (!this.isShown) return;
		if (this.typed) await this.#find();
		else this.#showAll();
		const known = this.scrollBack();
		if (this.current) this.#focus(this.current, known ? "nearest" : "center");
	}

	async #begin() {
		const { documents } = await this.get("documents");
		const roots = documents.map((row) => {
			const heading = described([titleBeside(row.name, row.title), days(row)]);
			return { document: row.name, title: row.title, unit: { label: fileOf(row.name), heading, kind: "document" }, children: null };
		});
		const root = roots.length === 1 ? roots[0] : roots.find((one) => one.document === this.document);
		if (!root) return roots;
		await this.#fetch(root);
		root.open = true;
		const item = [...every(root.children)].find((one) => one.unit.label === this.label);
		for (let above = item?.parent; above; above = above.parent) above.open = true;
		this.current = item ?? root;
		return roots;
	}

	async #fetch(root) {
		if (root.children) return;
		const { units } = await this.get("tree", { document: root.document });
		const beginning = { unit: { label: say("tree.whole"), heading: "", number: "", kind: "whole", start: 0, end: 1 }, children: [] };
		root.children = [beginning, ...nested(units, root.title)];
		for (const item of root.children) item.parent = root;
		for (const item of every(root.children)) item.root = root;
	}

	#showAll() {
		this.count.textContent = this.roots.length ? "" : say("documents.none");
		fill(this.list, this.roots.map((root) => this.#item(root, 1)));
		this.#rest();
	}

	#item(item, level) {
		const { label, kind, page } = item.unit;
		const heading = item.unit.heading === label ? "" : item.unit.heading;
		const inner = item.children === null || item.children.length > 0;
		const name = el("span.name", said(label, { class: "label" }), heading && [" ", said(heading, { class: "heading" })]);
		const row = el("div", { class: `row ${kind}` }, el("span.twisty"), name, page && el("span.detail", say("place.p", { page })));
		const props = { role: "treeitem", tabindex: "-1", "aria-level": level, "aria-label": [label, heading].filter(Boolean).join(", ") };
		item.node = el("li", { ...props, "aria-expanded": inner ? Boolean(item.open) : null }, row);
		this.items.set(item.node, item);
		row.style.setProperty("--level", Math.min(level, 9));
		if (item.open && inner) this.#group(item, level, Infinity);
		return item.node;
	}

	#group(item, level, slice) {
		const group = el("ul", { role: "group" });
		const add = (from) => {
			append(group, item.children.slice(from, from + slice).map((child) => this.#item(child, level + 1)));
			if (from + slice < item.children.length) setTimeout(() => group.isConnected && add(from + slice));
		};
		item.node.append(group);
		add(0);
	}

	#turn(item, open) {
		if (!item.node.ariaExpanded || Boolean(item.open) === open) return;
		this.attempt(async () => {
			if (item.children === null) await this.#fetch(item);
			item.open = open;
			item.node.ariaExpanded = open;
			item.node.querySelector("ul")?.remove();
			if (open) this.#group(item, Number(item.node.ariaLevel), SLICE);
			this.#rest();
		});
	}

	#read(item) {
		if (!item.root) return this.#turn(item, !item.open);
		this.current = item;
		const { label, kind, start, end, page } = item.unit;
		const there = { collection: this.collection, document: item.root.document, start, end, page };
		openProvision({ ...there, label: kind === "whole" ? "" : label });
	}

	#clicked({ target }) {
		const item = this.items.get(target.closest("li"));
		if (!item) return;
		this.#focus(item);
		if (target.closest(".twisty") && item.node.ariaExpanded) this.#turn(item, !item.open);
		else this.#read(item);
	}

	#key(event) {
		const item = this.items.get(event.target);
		if (!item || event.altKey || event.ctrlKey || event.metaKey) return;
		const read = () => this.#read(item);
		const at = (node) => this.#focus(this.items.get(node));
		const act = {
			ArrowDown: () => this.#move(item, 1),
			ArrowUp: () => this.#move(item, -1),
			ArrowRight: () => (item.open ? at(item.node.querySelector("li")) : this.#turn(item, true)),
			ArrowLeft: () => (item.open ? this.#turn(item, false) : this.#focus(item.parent)),
			Home: () => at(this.#rows[0]),
			End: () => at(this.#rows.at(-1)),
			Enter: read,
			" ": read,
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
		const { key } = event;
		const first = this.items.get(this.#rows[0]);
		if (key === "Escape" && this.field.value) {
			this.field.value = "";
			this.#type();
		} else if (key === "ArrowDown") this.#focus(first);
		else if (key === "Enter" && first && this.typed) this.#read(first);
		else return;
		event.preventDefault();
	}

	get #rows() {
		return [...this.list.querySelectorAll("li")];
	}

	#move(item, by) {
		const rows = this.#rows;
		const place = rows.indexOf(item.node) + by;
		if (place < 0) this.field.focus();
		else this.#focus(this.items.get(rows[place]));
	}

	#focus(item, block = "nearest") {
		if (!item?.node?.isConnected) return;
		this.current = item;
		this.#rest();
		item.node.focus({ preventScroll: true });
		item.node.firstChild.scrollIntoView({ block });
	}

	/** Keep one item in the order of the Tab key: the present one, or the first. */
	#rest() {
		this.list.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
		const node = this.current?.node?.isConnected ? this.current.node : this.list.firstChild;
		node?.setAttribute("tabindex", "0");
	}

	#type() {
		this.typed = this.field.value.trim();
		clearTimeout(this.timer);
		this.timer = setTimeout(() => {
			if (this.typed) this.attempt(() => this.#find());
			else this.#showAll();
		}, TYPING_MS);
	}

	/** Show what was typed for: in every document, or in those that are open where there are many. */
	async #find() {
		const { typed, roots } = this;
		const few = roots.length <= MOST_SEARCHED;
		const searched = roots.filter((root) => few || root.children);
		await Promise.all(searched.map((root) => this.#fetch(root)));
		if (typed !== this.typed || !this.isShown) return;
		const all = searched.flatMap((root) => [...every(root.children)].slice(1));
		const found = matching(all, typed);
		const of = say(few ? "tree.found" : "tree.foundopen", { found: found.length, all: counted(all.length, "provision") });
		this.count.textContent = found.length > MOST_FOUND ? say("tree.first", { of, most: MOST_FOUND }) : of;
		fill(this.list, found.slice(0, MOST_FOUND).map((item) => this.#found(item)));
		this.#rest();
	}

	/** A found item stands alone: without what lies in it, but with its document. */
	#found({ unit, root }) {
		const one = { unit, root, children: [] };
		const node = this.#item(one, 1);
		const of = described([root.unit.label, root.unit.heading]);
		if (this.roots.length > 1) append(node.querySelector(".name"), el("span.of", said(of)));
		if (unit === this.current?.unit) this.current = one;
		return node;
	}
}

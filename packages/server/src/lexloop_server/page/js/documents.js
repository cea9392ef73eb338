// The documents of a collection: listed, added, removed.

import { get, post, remove } from "./api.js";
import { confirmed } from "./dialog.js";
import { announce, append, button, el, field, fill, form, link, said } from "./dom.js";
import { dropPlace, filesPlace, follow, isFollowed, mayAdd } from "./files.js";
import { counted, say } from "./language.js";
import { closeSide, narrow, View } from "./side.js";
import { collectionNamed, hooks, state } from "./state.js";
import { openTree } from "./tree.js";
import { days, described, titleBeside } from "./words.js";

const MOST_NAMED = 20;

/** Show what a collection holds; the first that there is where none is named. */
export const openDocuments = (collection) => new Documents({ collection }).visit();

class Documents extends View {
	render() {
		const body = this.open(say("documents"));
		body.classList.add("documents");
		const places = ["choice", "adding", "note", "list"];
		for (const place of places) this[place] = append(body, el("div", { class: `of-${place}` })).lastChild;
		this.note.before(filesPlace);
		hooks.filesRead = (collection) => this.isShown && collection === this.collection && this.attempt(() => this.#read());
		this.#show();
	}

	async #show(collection = this.collection) {
		for (const place of [this.adding, this.note, this.list]) fill(place);
		await this.attempt(async () => {
			// who is quick comes here before the page knows
			if (!state.me) {
				state.me = await get("me");
				await this.#changed();
			}
			this.collection = (collectionNamed(collection) ?? state.collections[0])?.name;
			this.body.dataset.collection = this.collection ?? "";
			const { mine, may_change } = collectionNamed(this.collection) ?? {};
			this.own = may_change;
			this.mine = mine && may_change;
			this.#choose();
			if (!this.collection) return;
			fill(this.adding, this.own && dropPlace(() => this.collection));
			await this.#list();
			this.scrollBack();
			if (this.indexing && !isFollowed(this.collection)) follow(this.collection);
		});
	}

	async #read() {
		this.#choose();
		await this.#list();
	}

	#choose() {
		const options = state.collections.map(({ name, title }) =>
			el("option", { value: name, selected: name === this.collection }, title || name),
		);
		const select = el("select", { id: "of-collection", on: { change: () => this.#show(select.value) } }, options);
		const make = mayAdd() && button(say("documents.new"), () => this.#naming(), { class: "outlined", icon: "add" });
		fill(this.choice, options.length > 0 && field(say("documents.collection"), select), make);
	}

	#naming() {
		const input = el("input", { id: "collection-name", required: true, maxlength: 100, autocomplete: "off" });
		const make = async () => {
			const { name } = await post("collections", { name: input.value.trim() });
			await this.#changed();
			await this.#show(name);
			this.adding.querySelector("button").focus();
		};
		const label = el("label", { for: input.id }, say("documents.name"));
		const acts = el("div.acts", input, el("button.solid", say("documents.make")), button(say("cancel"), () => this.#show()));
		fill(this.choice, form("form.field", () => this.attempt(make), label, acts));
		input.focus();
	}

	async #changed() {
		state.collections = await get("collections");
		hooks.collectionsChanged();
	}

	async #list() {
		const { collection } = this;
		const found = await this.get("documents");
		if (!this.isShown || collection !== this.collection) return;
		this.rows = found.documents;
		this.indexing = found.indexing;
		fill(
			this.list,
			el("h3", counted(this.rows.length, "document")),
			[false, true].map((part) => {
				const lost = found.skipped.filter((one) => one.in_part === part);
				const act = this.own && !part ? (name) => this.#taking(name) : null;
				return lost.length > 0 && reasons(say(part ? "documents.partly" : "documents.skipped"), lost, act);
			}),
			el("ul.rows", this.rows.map((row) => this.#row(row))),
			this.mine && button(say("documents.delete"), () => this.#drop(), { class: "quiet danger", icon: "remove" }),
		);
	}

	#row(row) {
		const { name, file, pages, kind, jurisdiction, superseded_by: newer } = row;
		const told = [titleBeside(name, row.title), pages > 0 && counted(pages, "page"), kind, jurisdiction, days(row), newer && say("documents.newer", { newer })];
		const open = link(name, () => openTree(this.collection, name));
		return el("li", el("div", open, el("p.detail", said(described(told)))), this.#asking(name), file && this.#taking(file));
	}

	#asking(document) {
		const heard = () => {
			if (narrow()) closeSide();
			hooks.askOnly({ collection: this.collection, document, label: "", passage: null });
		};
		return button(say("alone.document", { document }), heard, { alone: "send" });
	}

	#taking(file) {
		return button(say("documents.remove", { file }), () => this.#remove(file), { alone: "remove" });
	}

	async #remove(file) {
		const text = say("documents.removed", { file });
		if (!(await confirmed({ title: say("documents.removing"), text, action: say("remove") }))) return;
		await this.attempt(async () => {
			await remove(["collections", this.collection, "documents"], { document: file });
			follow(this.collection);
		});
	}

	async #drop() {
		const text = say("documents.gone", { collection: this.collection, documents: counted(this.rows.length, "document") });
		if (!(await confirmed({ title: say("documents.deleting"), text, action: say("delete") }))) return;
		await this.attempt(async () => {
			await remove(["collections", this.collection]);
			await this.#changed();
			await this.#show(null);
			announce(say("documents.deleted"));
		});
	}
}

function reasons(heading, found, act = null) {
	const rows = found.map(({ name, reason }) => el("li", el("p", el("strong", said(name)), " ", said(reason)), act?.(name)));
	const summary = el("summary", `${heading}: ${counted(found.length, "file")}`);
	return el("details", { class: "reasons", open: rows.length <= MOST_NAMED }, summary, el("ul", rows));
}

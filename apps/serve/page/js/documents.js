// The documents of a collection: listed, added, removed.

import { events, get, post, remove } from "./api.js";
import { confirmed } from "./dialog.js";
import { announce, append, button, el, field, fill, form, link, said } from "./dom.js";
import { View } from "./side.js";
import { collectionNamed, hooks, state } from "./state.js";
import { openTree } from "./tree.js";
import { batches, dropped, pathOf, send, sendAll } from "./upload.js";
import { counted, days, described } from "./words.js";

const MOST_NAMED = 20;
const STAGES = {
	waiting: "Waiting for its turn",
	loading: "Getting ready",
	reading: "Reading the documents",
	recognising: "Reading pictures",
	embedding: "Learning what the passages mean",
	indexing: "Writing the index",
};

/** Show what a collection holds; the first that there is where none is named. */
export const openDocuments = (collection) => new Documents({ collection }).visit();

class Documents extends View {
	render() {
		const body = this.open("Documents");
		body.classList.add("documents");
		const places = ["choice", "adding", "work", "note", "list"];
		for (const place of places) this[place] = append(body, el("div", { class: `of-${place}` })).lastChild;
		this.#show();
	}

	async #show(collection = this.collection) {
		this.following?.abort();
		for (const place of [this.adding, this.work, this.note, this.list]) fill(place);
		await this.#try(async () => {
			// who is quick comes here before the page knows
			if (!state.me) {
				state.me = await get("me");
				await this.#changed();
			}
			this.collection = (collectionNamed(collection) ?? state.collections[0])?.name;
			const { mine, may_change } = collectionNamed(this.collection) ?? {};
			this.own = may_change;
			this.mine = mine && may_change;
			this.#choose();
			if (!this.collection) return;
			fill(this.adding, this.own && this.#zone());
			await this.#list();
			this.scrollBack();
			if (this.indexing) await this.#follow();
		});
	}

	#try(act) {
		return this.attempt(() => act().finally(() => fill(this.work)));
	}

	#choose() {
		const options = state.collections.map(({ name, title }) =>
			el("option", { value: name, selected: name === this.collection }, title || name),
		);
		const select = el("select", { id: "of-collection", on: { change: () => this.#show(select.value) } }, options);
		const make = state.me?.may_upload && button("New collection", () => this.#naming(), { class: "outlined", icon: "add" });
		fill(this.choice, options.length > 0 && field("Collection", select), make);
	}

	#naming() {
		const input = el("input", { id: "collection-name", required: true, maxlength: 100, autocomplete: "off" });
		const make = async () => {
			const { name } = await post("collections", { name: input.value.trim() });
			await this.#changed();
			await this.#show(name);
			this.adding.querySelector("button").focus();
		};
		const label = el("label", { for: input.id }, "Name of the collection");
		const acts = el("div.acts", input, el("button.solid", "Make"), button("Cancel", () => this.#show()));
		fill(this.choice, form("form.field", () => this.#try(make), label, acts));
		input.focus();
	}

	async #changed() {
		state.collections = await get("collections");
		hooks.collectionsChanged();
	}

	#zone() {
		const pick = (label, testid, props) => {
			const input = el("input", { type: "file", multiple: true, hidden: true, "data-testid": testid, ...props });
			input.addEventListener("change", () => {
				this.#upload([...input.files]);
				input.value = "";
			});
			return [input, button(label, () => input.click(), { class: "outlined", icon: "upload" })];
		};
		const over = (event) => {
			event.preventDefault();
			zone.classList.toggle("over", event.type === "dragover");
			if (event.type === "drop") this.#try(async () => this.#upload(await dropped(event.dataTransfer)));
		};
		const hosts = state.me?.hosts ?? [];
		const zone = el(
			"div.drop",
			{ on: { dragover: over, dragleave: over, drop: over } },
			el("p", "Drop files or a folder here, or choose them."),
			el("div.acts", pick("Choose files", "files"), pick("Choose a folder", "folder", { webkitdirectory: true })),
			el("p.hint", "PDF, office files, mail, scans, text, or a zip of them. ", hosts.length ? `Their text may go to ${hosts.join(" and ")}.` : "They stay on this server."),
		);
		return zone;
	}

	async #upload(chosen, replace = null, refused = []) {
		// what a system hides is not what was meant
		const files = chosen.filter((file) => !/(^|\/)\./.test(pathOf(file)));
		const { collection } = this;
		const label = `Sending ${counted(files.length, "file")}`;
		const all = sizeOf(files);
		const stop = new AbortController();
		const lists = batches(files);
		let added = 0;
		fill(this.note);
		announce(label);
		const sent = (some) => {
			const before = all - sizeOf(lists.flat());
			const told = (bytes) => this.#progress(label, before + bytes, all, stop);
			told(0);
			return send(collection, some, { replace, told, signal: stop.signal });
		};
		await this.#try(async () => {
			for await (const answer of sendAll(lists, sent)) {
				refused.push(...answer.refused);
				added += answer.added.length;
			}
			if (collection !== this.collection) return;
			if (added) await this.#follow();
			fill(this.work);
			await this.#told(files, refused, replace);
		});
	}

	/** Say which files were not taken and why, and ask whether those that are there are to be replaced. */
	async #told(files, refused, replace) {
		const there = refused.filter((one) => one.exists && !replace).map((one) => one.name);
		const others = refused.filter((one) => !there.includes(one.name));
		fill(this.note, others.length > 0 && reasons("Not taken", others, "bad"));
		if (!there.length) return;
		const named = there.slice(0, MOST_NAMED).join(", ") + (there.length > MOST_NAMED ? " …" : "");
		const title = `Replace ${counted(there.length, "document")}?`;
		const wanted = await confirmed({ title, text: `Already there: ${named}`, action: "Replace" });
		if (wanted) await this.#upload(files.filter((file) => there.includes(pathOf(file))), true, others);
	}

	async #follow() {
		const { collection } = this;
		this.following?.abort();
		const { signal } = (this.following = new AbortController());
		for await (const { event, data } of events("GET", ["collections", collection, "indexing"], { signal })) {
			if (!this.isShown) return this.following.abort();
			if (event === "progress") this.#progress(STAGES[data.stage] ?? data.stage, data.done, data.of);
		}
		await this.#changed();
		this.#choose();
		await this.#list();
		announce(`The index is ready: ${counted(this.rows.length, "document")}.`);
	}

	#progress(label, done, of, stop = null) {
		const percent = of > 0 ? Math.min(100, Math.floor((100 * done) / of)) : 0;
		// an element that stays is not read out at every step
		if (Boolean(stop) !== this.stopping || !this.work.firstChild) {
			this.stopping = Boolean(stop);
			const bar = el("progress", { max: 100, "aria-labelledby": "work-label" });
			fill(this.work, el("p", { id: "work-label" }), bar, stop && button("Stop", () => stop.abort()));
		}
		const [words, bar] = this.work.children;
		words.textContent = of > 1 ? `${label}: ${percent} %` : `${label} …`;
		bar.value = percent;
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
				return lost.length > 0 && reasons(part ? "Read in part" : "Skipped", lost, "", act);
			}),
			el("ul.rows", this.rows.map((row) => this.#row(row))),
			this.mine && button("Delete this collection", () => this.#drop(), { class: "quiet danger", icon: "remove" }),
		);
	}

	#row(row) {
		const { name, file, pages, kind, jurisdiction, superseded_by: newer } = row;
		const title = row.title || name;
		const told = [title !== name && name, pages > 0 && counted(pages, "page"), kind, jurisdiction, days(row), newer && `replaced by ${newer}`];
		const open = link(title, () => openTree(this.collection, name));
		return el("li", el("div", open, el("p.detail", said(described(told)))), file && this.#taking(file));
	}

	#taking(file) {
		return button(`Remove ${file}`, () => this.#remove(file), { alone: "remove" });
	}

	async #remove(file) {
		const text = `${file} is removed from the collection and from the server’s disk.`;
		if (!(await confirmed({ title: "Remove this file?", text, action: "Remove" }))) return;
		await this.#try(async () => {
			await remove(["collections", this.collection, "documents"], { document: file });
			await this.#follow();
		});
	}

	async #drop() {
		const text = `${this.collection} with its ${counted(this.rows.length, "document")} is deleted from the server’s disk.`;
		if (!(await confirmed({ title: "Delete this collection?", text, action: "Delete" }))) return;
		await this.#try(async () => {
			await remove(["collections", this.collection]);
			await this.#changed();
			await this.#show(null);
			announce("The collection is deleted.");
		});
	}
}

const sizeOf = (files) => files.reduce((sum, file) => sum + file.size, 0);

function reasons(heading, found, kind, act = null) {
	const rows = found.map(({ name, reason }) => el("li", el("p", el("strong", said(name)), " ", said(reason)), act?.(name)));
	const summary = el("summary", `${heading}: ${counted(found.length, "file")}`);
	return el("details", { class: `reasons ${kind}`, open: rows.length <= MOST_NAMED }, summary, el("ul", rows));
}

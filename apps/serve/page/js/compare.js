// Two versions of a provision side by side, with what was taken out and put in.

import { get, part } from "./api.js";
import { button, el, fill, said } from "./dom.js";
import { openSide } from "./side.js";
import { openProvision } from "./source.js";
import { titleOf } from "./state.js";
import { attempt, isShown, scrollBack, visit } from "./trail.js";
import { counted } from "./words.js";
import { days } from "./wording.js";

/** Compare the versions of a provision: {collection, document, label}. */
export function openCompare(aside, provision) {
	visit(aside, new Comparison(provision));
}

/** Return what each side shows of the parts, {op, text}: what both have, and what it alone has. */
export function sides(parts) {
	return ["added", "removed"].map((other) => parts.filter(({ op }) => op !== other));
}

/** Versions of one provision, as long as the pane can come back to them. */
class Comparison {
	constructor(asked) {
		Object.assign(this, asked);
	}

	render(aside, tools) {
		this.aside = aside;
		const body = openSide(aside, { title: `Versions of ${this.label}`, detail: titleOf(this.collection), tools });
		this.choices = el("div.choices");
		this.shown = el("div", el("p.detail", "Loading …"));
		this.note = el("div");
		fill(body, this.choices, this.note, this.shown);
		attempt(aside, this, () => this.#load());
	}

	#get(what, query) {
		return get(`collections/${part(this.collection)}/${what}`, { query: { ...query, label: this.label } });
	}

	async #load() {
		const { document } = this;
		const { versions } = await this.#get("versions", { document });
		if (!isShown(this.aside, this)) return;
		if (versions.length < 2) {
			const said = versions[0]?.version || "and names no days";
			return fill(this.shown, el("p.note", `The collection has one version of this: ${said}.`));
		}
		const at = Math.max(1, versions.findIndex((one) => one.document === document));
		this.a ??= versions[at - 1].document;
		this.b ??= versions[at].document;
		fill(this.choices, this.#choice("a", "Earlier", versions), this.#choice("b", "Later", versions));
		await this.#compare();
		scrollBack(this.aside, this);
	}

	#choice(name, label, versions) {
		const id = `version-${name}`;
		const change = () => {
			this[name] = select.value;
			attempt(this.aside, this, () => this.#compare());
		};
		const options = versions.map((one) =>
			el("option", { value: one.document, selected: one.document === this[name] }, `${days(one).replace("in force ", "") || one.document} (${one.title})`),
		);
		const select = el("select", { id, on: { change } }, options);
		return el("div.field", el("label", { for: id }, label), select);
	}

	async #compare() {
		const { a, b } = this;
		const found = await this.#get("compare", { a, b });
		if (!isShown(this.aside, this) || a !== this.a || b !== this.b) return;
		const count = (op) => counted(found.parts.filter((one) => one.op === op).length, "place");
		const same = found.parts.every(({ op }) => op === "same");
		const told = same ? "Both say the same." : `Taken out in ${count("removed")}, put in in ${count("added")}.`;
		const [before, after] = sides(found.parts);
		fill(
			this.shown,
			el("p.detail", { role: "status" }, told),
			el("div.columns", this.#column(found.a, before), this.#column(found.b, after)),
		);
	}

	#column({ document, label, title, ...version }, pieces) {
		const there = { collection: this.collection, document, label };
		return el(
			"section",
			el("h3", said(days(version) || "names no days")),
			el("p.detail", said(title)),
			el("div.words", { dir: "auto" }, label === null ? "It does not have this provision." : pieces.map(shownPiece)),
			label !== null && button("Read it there", () => openProvision(this.aside, there), { class: "link" }),
		);
	}
}

function shownPiece({ op, text }) {
	// the signs with which Markdown begins a heading are no words of it
	const words = text.replace(/(^|\n)#{1,6}[ \t]+/g, "$1");
	return op === "same" ? words : el(op === "added" ? "ins" : "del", {}, words);
}

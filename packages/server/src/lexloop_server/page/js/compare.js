// Two versions of a provision side by side, with what was taken out and put in.

import { el, field, fill, link, said } from "./dom.js";
import { counted, say } from "./language.js";
import { View } from "./side.js";
import { openProvision } from "./source.js";
import { titleOf } from "./state.js";
import { days, fileOf, unsigned } from "./words.js";

/** Compare the versions of a provision: {collection, document, label}. */
export const openCompare = (provision) => new Comparison(provision).visit();

/** What each side shows of the parts, {op, text}: what both have, and what it alone has. */
export function sides(parts) {
	return ["added", "removed"].map((other) => parts.filter(({ op }) => op !== other));
}

class Comparison extends View {
	render() {
		const body = this.open(say("versions.of", this), titleOf(this.collection));
		this.choices = el("div.choices");
		this.shown = el("div", el("p.detail", say("loading")));
		this.note = el("div");
		fill(body, this.choices, this.note, this.shown);
		this.attempt(() => this.#load());
	}

	async #load() {
		const { document, label } = this;
		const { versions } = await this.get("versions", { document, label });
		if (!this.isShown) return;
		if (versions.length < 2) {
			return fill(this.shown, el("p.note", say("versions.one")));
		}
		const at = Math.max(1, versions.findIndex((one) => one.document === document));
		this.a ??= versions[at - 1].document;
		this.b ??= versions[at].document;
		fill(this.choices, this.#choice("a", say("versions.earlier"), versions), this.#choice("b", say("versions.later"), versions));
		await this.#compare();
		this.scrollBack();
	}

	#choice(name, label, versions) {
		const change = () => {
			this[name] = select.value;
			this.attempt(() => this.#compare());
		};
		const options = versions.map((one) =>
			el("option", { value: one.document, selected: one.document === this[name] }, `${fileOf(one.document)} ${days(one)}`),
		);
		const select = el("select", { id: `version-${name}`, on: { change } }, options);
		return field(label, select);
	}

	async #compare() {
		const { a, b, label } = this;
		const found = await this.get("compare", { a, b, label });
		if (!this.isShown || a !== this.a || b !== this.b) return;
		const count = (op) => counted(found.parts.filter((one) => one.op === op).length, "place");
		const same = found.parts.every(({ op }) => op === "same");
		const told = same ? say("versions.same") : say("versions.differ", { removed: count("removed"), added: count("added") });
		const [before, after] = sides(found.parts);
		fill(
			this.shown,
			el("p.detail", { role: "status" }, told),
			el("div.columns", this.#column(found.a, before), this.#column(found.b, after)),
		);
	}

	#column({ document, label, ...version }, pieces) {
		const there = { collection: this.collection, document, label };
		return el(
			"section",
			el("h3", said(days(version) || say("versions.undated"))),
			el("p.detail", said(fileOf(document))),
			el("div.words", { dir: "auto" }, label === null ? say("versions.lacks") : pieces.map(shownPiece)),
			label !== null && link(say("versions.read"), () => openProvision(there)),
		);
	}
}

/** Words of both versions, or of one alone, which are marked so. */
export function shownPiece({ op, text }) {
	const words = unsigned(text);
	return op === "same" ? words : el(op === "added" ? "ins" : "del", {}, words);
}

// A source beside the answer: a citation at its cited words, or a provision to read.

import { openCompare } from "./compare.js";
import { append, button, copy, el, fill, link, said, sign, trouble } from "./dom.js";
import { say } from "./language.js";
import { Pages } from "./pages.js";
import { Reading } from "./reading.js";
import { closeSide, narrow, View } from "./side.js";
import { hasWorkbench, hooks } from "./state.js";
import { openTree } from "./tree.js";
import { described, fileOf, inForce, place, placeOf, quoted, titleBeside } from "./words.js";

const MOST_REFERENCES = 40;

/** Show a citation beside the answer: its document at the cited words; `as_of` is the answer's day. */
export function openSource({ as_of: asOf, ...citation }) {
	// a passage has its text where a citation has its quote
	visit({ ...citation, quote: citation.quote ?? citation.text }, asOf);
}

/** Show a provision to read: {collection, document, label}, with its span where it is known. */
export const openProvision = ({ label, ...place }, asOf) => visit({ ...place, section: label }, asOf);

const visit = (cited, asOf) => new Source({ cited, asOf, collection: cited.collection }).visit();

class Source extends View {
	render() {
		const { section, document } = this.cited;
		this.open(described([fileOf(document), section]), document).classList.add("source");
		const places = { head: "source-head", tools: "source-tools", note: null, view: null };
		for (const [name, known] of Object.entries(places)) this[name] = el("div", { class: known });
		fill(this.body, this.head, this.tools, this.note, this.view);
		this.attempt(() => this.#load());
	}

	async #load() {
		fill(this.view, el("p.detail", say("loading")));
		await this.#know();
		if (!this.isShown) return;
		this.#about();
		this.#switch(this.as ?? (this.boxed.length ? "page" : "text"));
	}

	#get(what, query) {
		return this.get(what, { document: this.cited.document, ...query });
	}

	async #know() {
		const { section, start, end } = this.cited;
		const reading = section && this.#get("provision", { label: section, start });
		// a citation is shown where its label leads nowhere as well
		const provision = await (start === undefined ? reading : reading && reading.catch(() => null));
		this.provision = provision || null;
		this.span = { start: start ?? provision.start, end: end ?? provision.end };
		this.excerpt = await this.#get("text", this.span);
		this.page = this.cited.page ?? provision?.page ?? null;
		this.boxed = this.page ? (await this.#get("boxes", this.span)).pages : [];
		this.title = titleBeside(this.cited.document, this.excerpt.title);
		this.version = provision?.version || this.cited.version || "";
	}

	#about() {
		const { provision, cited, title, version } = this;
		const heading = provision?.heading !== cited.section && provision?.heading;
		const detail = described([heading, title, ...placeOf({ ...cited, section: "", page: this.page, at: cited.at ?? provision?.at, version: "" })]);
		const pane = this.body.parentNode;
		fill(pane.querySelector(".side-head .detail"), said(detail));
		const above = provision?.above.map((unit) =>
			el("li", this.#jump(unit, described([unit.label, unit.heading !== unit.label && unit.heading]))),
		);
		fill(
			this.head,
			above?.length > 0 && el("nav", { "aria-label": say("source.above") }, el("ol.path", above)),
			version && el("p.version", inForce(version, this.asOf)),
			!cited.quote && provision?.lead_in.map((words) => el("p.lead-in", { dir: "auto" }, words)),
		);
		pane.querySelector(".refers")?.remove();
		const refers = provision?.refers_to.filter(({ labels }) => labels.join() !== provision.label) ?? [];
		const leading = refers.filter(({ labels }) => labels.length).slice(0, MOST_REFERENCES);
		const elsewhere = refers.filter(({ labels }) => !labels.length).map((one) => one.said);
		if (!refers.length) return;
		const items = leading.map(({ said: words, labels: [label] }) => el("li", this.#jump({ label }, words)));
		if (elsewhere.length) items.push(el("li.detail", say("source.elsewhere"), " ", said(elsewhere.join("; "))));
		const known = el("h3.detail", { id: "refers" }, say("source.refers"));
		append(pane, el("nav.refers", { "aria-labelledby": "refers" }, known, el("ul", items)));
	}

	#jump({ label, start, end, page }, words) {
		const { collection, document } = this.cited;
		const there = { collection, document, label, start, end, page };
		return link(words, () => openProvision(there, this.asOf));
	}

	#switch(as) {
		this.as = as;
		const unmapped = as === "text" && this.page && !this.boxed.length && this.cited.quote;
		fill(this.note, unmapped && el("p.note", say("source.nomap")));
		const shown = as === "page" ? this.#pages() : this.#reading();
		fill(this.view, shown.element);
		this.#tools(shown.tools);
		shown.show();
		if (!this.scrollBack()) this.#bring(shown);
	}

	#bring({ target, element }) {
		const at = (target ?? element).getBoundingClientRect().top - this.tools.getBoundingClientRect().bottom;
		if (target || at < 0) this.body.scrollTop += at - (target ? this.body.clientHeight / 4 : 0);
	}

	#reading() {
		const { quote, lead_spans: leads = [] } = this.cited;
		const lead = leads.map(([start, end]) => ({ start, end, kind: "lead" }));
		return new Reading(this.excerpt, {
			marks: quote ? [{ ...this.span, kind: "quote" }, ...lead] : [],
			asked: this.span,
			read: (start, end) => this.#get("text", { start, end }),
			failed: (error) => fill(this.note, trouble(error)),
		});
	}

	#pages() {
		const failed = (page) => {
			if (!this.isShown || this.as !== "page") return;
			this.#switch("text");
			fill(this.note, el("p.note", { role: "status" }, say("source.nopage", { page })));
		};
		const page = this.boxed[0]?.page ?? this.page;
		const turned = () => this.#bring(pages);
		const pages = new Pages(this.cited, { boxed: this.boxed, page, count: this.excerpt.pages.length, turned, failed });
		return pages;
	}

	#tools(more) {
		const { collection, document, section: label } = this.cited;
		const pick = (as, name) => button(name, () => this.#again(as), { "aria-pressed": this.as === as });
		fill(
			this.tools,
			this.page && el("div.switch", { role: "group", "aria-label": say("source.as") }, pick("page", say("source.page")), pick("text", say("source.text"))),
			more && el("div.page-tools", { role: "group", "aria-label": say("source.pages") }, more),
			el(
				"div.acts",
				sign(say("copy"), "copy", () => this.#copy()),
				this.version && label && hasWorkbench() && sign(say("versions"), "calendar", () => openCompare({ collection, document, label })),
				sign(say("provisions"), "menu", () => openTree(collection, document, label)),
				label && button(say("source.ask"), () => askAbout(label), { icon: "edit" }),
				sign(say("alone.ask"), "send", () => askOnly({ collection, document, label, passage: [this.span.start, this.span.end] })),
			),
		);
	}

	#again(as) {
		delete this.scrolled;
		this.#switch(as);
		this.tools.querySelector('[aria-pressed="true"]').focus({ preventScroll: true });
	}

	#copy() {
		const words = quoted(this.cited.quote ?? this.provision?.text ?? this.excerpt.text);
		copy(`${words} (${place(this.cited, this.title, this.version)})`, say("source.copied"));
	}
}

function askOnly(only) {
	if (narrow()) closeSide();
	hooks.askOnly(only);
}

function askAbout(label) {
	if (narrow()) closeSide();
	hooks.askAbout(label);
}

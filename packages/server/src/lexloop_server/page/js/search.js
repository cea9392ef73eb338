// Exact words, phrases and provisions, in documents and in one's conversations.

import { get } from "./api.js";
import { button, el, fill, form, icon, link, said, trouble } from "./dom.js";
import { counted, say } from "./language.js";
import { openSource } from "./source.js";
import { asked, state, titleOf } from "./state.js";
import { described, fileOf, placeOf, titleBeside, when } from "./words.js";
import { marked } from "./work.js";

const ALL_PASSAGES = 500;

/** Show a field, and what was found below it. */
export function show(place) {
	const props = { id: "sought", type: "search", dir: "auto", autocomplete: "off", maxlength: 1000, "aria-label": say("search.words") };
	const field = el("input", { ...props, value: state.sought ?? "", placeholder: say("search.words") });
	const anyForm = el("input", { type: "checkbox", id: "any-form" });
	const told = el("p.detail", { role: "status" });
	const found = el("div.found");
	let asked = 0;
	async function sought() {
		const q = (state.sought = field.value.trim());
		const mine = (asked += 1);
		if (!q) return;
		told.textContent = say("loading");
		try {
			const [documents, turns] = await Promise.all([inDocuments(q, anyForm.checked), get(["search", "conversations"], { q })]);
			if (mine !== asked) return;
			told.textContent = say("search.found", { documents: counted(documents.total, "document"), places: counted(documents.places, "place") });
			fill(found, documentList(documents, q, anyForm.checked), turnList(turns));
		} catch (error) {
			if (mine !== asked) return;
			told.textContent = "";
			fill(found, trouble(error, sought));
		}
	}
	anyForm.addEventListener("change", sought);
	const line = el("div.writing", field, el("button.solid.icon", { "aria-label": say("search") }, icon("search")));
	const made = form("form.seeking", sought, { role: "search" }, line, el("label.any-form", anyForm, say("search.forms")), el("p.hint", say("search.how")));
	fill(place, made, told, found);
	if (field.value) sought();
}

const inDocuments = (q, any_form, more = {}) => get("search", { q, any_form, collection: asked(), ...more });

function documentList({ documents, unready, total, first }, q, anyForm) {
	const list = el("ol.found-documents", documents.map((one) => documentRow(one, q, anyForm)));
	const waiting = Object.entries(unready ?? {}).map(([name, why]) => el("p.hint", said(titleOf(name)), ": ", said(why)));
	const next = first + documents.length;
	const more = button(say("work.more"), () => go(), { class: "outlined", hidden: next >= total });
	const problem = el("div");
	async function go() {
		fill(problem);
		try {
			const further = await inDocuments(q, anyForm, { first: first + list.children.length });
			list.append(...further.documents.map((one) => documentRow(one, q, anyForm)));
			more.hidden = first + list.children.length >= total || !further.documents.length;
		} catch (error) {
			fill(problem, trouble(error));
		}
	}
	return [waiting, list, problem, more];
}

function documentRow(found, q, anyForm) {
	const { collection, document, title, version, places, passages, more } = found;
	const open = (passage) => openSource({ collection, document, ...passage });
	const list = el("ul.passages", passages.map((one) => passageRow(one, open)));
	const all = link(say("search.all"), async () => {
		const { documents } = await inDocuments(q, anyForm, { collection: [collection], document: [document], passages: ALL_PASSAGES });
		fill(list, documents.flatMap((one) => one.passages).map((one) => passageRow(one, open)));
		all.remove();
	});
	const told = described([titleBeside(document, title), state.collections.length > 1 && titleOf(collection), version, counted(places, "place")]);
	const head = el("h3", link(fileOf(document), () => open(passages[0] ?? { start: 0, end: 1, section: "" }), { title: document }));
	return el("li", head, el("p.detail", said(told)), list, more && all);
}

function passageRow(passage, open) {
	const words = el("span.serif", marked(passage.quote, passage.marks));
	return el("li", el("button.passage", { type: "button", dir: "auto", on: { click: () => open(passage) } }, words, el("span.detail", said(described(placeOf(passage))))));
}

function turnList({ turns, total }) {
	if (!total) return null;
	const rows = turns.map(({ thread, title, updated, excerpts }) =>
		el(
			"li",
			el("a", { href: `#thread=${encodeURIComponent(thread)}` }, said(title)),
			el("span.detail", ` ${when(updated)}`),
			excerpts.slice(0, 2).map(({ quote, marks }) => el("p.serif", { dir: "auto" }, marked(quote, marks))),
		),
	);
	return el("section", el("h3", say("search.conversations")), el("ul.found-turns", rows));
}

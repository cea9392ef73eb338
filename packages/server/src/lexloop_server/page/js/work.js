// Work with documents beside questions: tools that take the place of the conversation, each loaded when it is opened.

import { get } from "./api.js";
import { el, field, fill, link, said, trouble } from "./dom.js";
import { say } from "./language.js";
import { openSource } from "./source.js";
import { asked, collectionNamed, state } from "./state.js";
import { fileOf } from "./words.js";

const LOADS = {
	search: () => import("./search.js"),
	register: () => import("./register.js"),
	diff: () => import("./changes.js"),
	table: () => import("./table.js"),
};
const MOST_SHOWN = 100;

/** The names of the tools, each with its drawing. */
export const TOOLS = { search: "search", register: "list", diff: "versions", table: "table" };

export const isTool = (name) => name in TOOLS;

/** Show a tool in the room. */
export async function openTool(name, room) {
	const body = el("div.work-body");
	const head = el("h2", { id: "work-title", tabindex: "-1" }, say(`work.${name}`));
	fill(room, el("section.work", { "aria-labelledby": "work-title", data: { tool: name } }, head, el("p.lede", say(`work.${name}.hint`)), body));
	try {
		const { show } = await LOADS[name]();
		show(body);
		(body.querySelector("#sought") ?? head).focus();
	} catch (error) {
		fill(body, trouble(error));
	}
}

/** A choice of one collection; `changed` is given its name, now too. */
export function collectionChoice(changed) {
	const chosen = collectionNamed(state.tool?.collection) ? state.tool.collection : asked()[0];
	const options = state.collections.map((one) => el("option", { value: one.name, selected: one.name === chosen }, one.title || one.name));
	const pick = () => {
		state.tool = { collection: select.value };
		changed(select.value);
	};
	const select = el("select", { id: "work-collection", on: { change: pick } }, options);
	if (chosen) changed(chosen);
	return field(say("documents.collection"), select);
}

/** Fill a select with the documents of a collection; `first` is the option before them, where there is one. */
export async function documentsInto(select, collection, first = null) {
	const { documents } = await get(["collections", collection, "documents"]);
	fill(select, first && el("option", { value: "" }, first), documents.map(({ name }) => el("option", { value: name }, name)));
	return documents;
}

/** A choice among a few: a select with a label. */
export function choiceOf(id, label, options, changed) {
	const select = el("select", { id, on: { change: () => changed(select.value) } }, options.map(([value, words]) => el("option", { value }, words)));
	return field(label, select);
}

/** Where something stands, to be opened there: the file first. */
export const placeLink = (collection, place) =>
	link([fileOf(place.document), place.section].filter(Boolean).join(", "), () => openSource({ collection, ...place }), { title: place.document });

/** A text with spans of it marked; they count code points. */
export function marked(text, spans) {
	const chars = Array.from(text);
	const pieces = [];
	let at = 0;
	for (const [start, end] of spans) {
		pieces.push(chars.slice(at, start).join(""), el("mark", chars.slice(start, end).join("")));
		at = end;
	}
	return [...pieces, chars.slice(at).join("")];
}

/** A table whose rows come by and by; `row` makes the cells of one, as elements or texts. */
export function longTable(label, heads, rows, row) {
	const cell = (one, at) => el("td", { dir: "auto", data: { label: heads[at] } }, one && typeof one === "string" ? said(one) : one);
	const body = el("tbody");
	const more = link(say("work.more"), () => add(), { class: "outlined" });
	function add() {
		const from = body.children.length;
		body.append(...rows.slice(from, from + MOST_SHOWN).map((one) => el("tr", row(one).map(cell))));
		more.hidden = body.children.length >= rows.length;
	}
	add();
	const head = el("thead", el("tr", heads.map((one) => el("th", { scope: "col" }, one))));
	return [el("div.scrolled", { tabindex: 0, role: "group", "aria-label": label }, el("table.long", head, body)), more];
}

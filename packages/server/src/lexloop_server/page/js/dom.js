// Elements made of text: nothing that a model or a document says is ever read as markup.

import { say } from "./language.js";

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = new Set(["value", "checked", "disabled", "hidden", "open"]);

/**
 * Make an element: el("p.hint", {id: "x"}, "text"), where properties may be left out.
 * `on` are listeners by event, `data` data attributes; null, undefined and false leave one out.
 */
export function el(tag, ...rest) {
	const [name, ...classes] = tag.split(".");
	const node = document.createElement(name);
	if (classes.length) node.className = classes.join(" ");
	return filled(node, rest);
}

/** Make an SVG element as `el` does, without classes in its name. */
export const svg = (tag, ...rest) => filled(document.createElementNS(SVG, tag), rest);

function filled(node, [first, ...rest]) {
	const plain = first?.constructor === Object;
	for (const [name, value] of Object.entries(plain ? first : {})) {
		if (name === "on") for (const [event, heard] of Object.entries(value)) node.addEventListener(event, heard);
		else if (name === "data") Object.assign(node.dataset, value);
		else if (PROPERTIES.has(name)) node[name] = value;
		else if (name.startsWith("aria-") && typeof value === "boolean") node.setAttribute(name, value);
		else if ((value ?? false) !== false) node.setAttribute(name, value === true ? "" : value);
	}
	return append(node, plain ? rest : [first, ...rest]);
}

/** Append children, lists of them flattened, nothing for null, undefined, false and "". */
export function append(node, ...children) {
	const there = (child) => (child ?? "") !== "" && child !== false;
	node.append(...children.flat(Infinity).filter(there));
	return node;
}

/** Put these children in place of all that a node holds. */
export function fill(node, ...children) {
	node.replaceChildren();
	return append(node, children);
}

/** Text of others, which cannot turn the direction of what is around it. */
export const said = (text, props = {}) => el("bdi", props, text);

const PATHS = {
	menu: "M4 7h16M4 12h16M4 17h10",
	documents: "M6 3.5h8l4 4v13H6zM14 3.5v4h4M9 12h6M9 15.5h6",
	settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
	system: "M12 3.5a8.5 8.5 0 1 0 0 17zM12 3.5a8.5 8.5 0 0 1 0 17",
	light:
		"M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
	dark: "M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z",
	close: "M6 6l12 12M18 6L6 18",
	send: "M12 19V5.5M6 11l6-6 6 6",
	stop: "M7.5 7.5h9v9h-9z",
	thumb: "M7 11v8.5H4V11zM7 12l4-8c1.8 0 2.5 1.2 2.2 2.7L12.7 10h5.5c1.3 0 2 1 1.7 2.2l-1.5 6c-.2.8-.8 1.3-1.7 1.3H7",
	copy: "M8.5 8.5h11v11h-11zM15.5 8.5v-4h-11v11h4",
	add: "M12 5v14M5 12h14",
	less: "M5 12h14",
	more: "M6 12h.01M12 12h.01M18 12h.01",
	check: "M5 12.5l4.5 4.5L19 7.5",
	chevron: "M9 6l6 6-6 6",
	back: "M15 6l-6 6 6 6",
	calendar: "M4.5 6h15v13.5h-15zM4.5 10h15M8.5 3.5V7M15.5 3.5V7",
	search: "M10.5 4.5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15 15l5 5",
	upload: "M12 15.5V4.5M7.5 9L12 4.5 16.5 9M4.5 15v4.5h15V15",
	remove: "M5 7h14M10 7V4.5h4V7M7 7l.8 12.5h8.4L17 7M10.5 10.5v5.5M13.5 10.5v5.5",
	edit: "M5 19l1-4L16.5 4.5l3 3L9 18z",
	attach: "M12 5.5v13M5.5 12h13",
	share: "M10 14a4 4 0 0 0 5.7.3l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-5.7-.3l-3 3a4 4 0 0 0 5.7 5.7l1-1",
	print: "M7 9V4.5h10V9M7 17H4.5V9.5h15V17H17M7.5 14h9v5.5h-9z",
	table: "M4.5 5.5h15v13h-15zM4.5 10h15M4.5 14.3h15M10 5.5v13",
	versions: "M5 5.5h6v13H5zM14 8.5h5v10h-5M14 5.5h2",
	list: "M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01",
};

/** A line drawing beside a label; screen readers pass over it. */
export const icon = (name) =>
	svg("svg", { class: "drawn", viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: PATHS[name] }));

/** A button, quiet unless its class says otherwise; with an `icon`, or one `alone` without its label. */
export function button(label, heard, { icon: drawn, alone, ...rest } = {}) {
	const named = alone ? { "aria-label": label, title: label } : {};
	const props = { type: "button", class: "quiet", ...named, ...rest, on: { click: heard, ...rest.on } };
	return el("button", props, (drawn || alone) && icon(drawn || alone), !alone && said(label));
}

/** A button that is a sign alone where there is little room. */
export const sign = (name, drawn, heard, props) =>
	button(name, heard, { icon: drawn, class: "quiet sign", title: name, "aria-label": name, ...props });

/** A button that reads as a link in a text. */
export const link = (label, heard, props) => button(label, heard, { class: "link", ...props });

/** A control below its label, by its id; what follows is told of it. */
export const field = (label, control, ...more) => el("div.field", el("label", { for: control.id }, label), control, more);

/** A form that is `submitted` here, not by the browser. */
export function form(tag, submitted, ...rest) {
	const made = el(tag, ...rest);
	made.addEventListener("submit", (event) => {
		event.preventDefault();
		submitted();
	});
	return made;
}

/** Let Escape do something, where nothing before has taken it; `act` returns whether it took it. */
export function onEscape(act) {
	document.addEventListener("keydown", (event) => {
		if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
		if (act()) event.preventDefault();
	});
}

export function announce(text) {
	const status = document.getElementById("status");
	status.textContent = "";
	// a change within one task is heard as none
	setTimeout(() => (status.textContent = text), 30);
}

/** Say something for a moment at the foot of the page. */
export function flash(text) {
	const shown = el("p.flash", text);
	document.getElementById("notices").append(shown);
	announce(text);
	setTimeout(() => shown.remove(), 4000);
}

/** Do something; where it fails, say why at the foot of the page. Resolves to whether it was done. */
export async function tried(act) {
	try {
		await act();
		return true;
	} catch (error) {
		flash(error.message);
		return false;
	}
}

export async function copy(text, done) {
	try {
		await navigator.clipboard.writeText(text);
		flash(done);
	} catch {
		flash(say("copy.failed"));
	}
}

/** What went wrong, in the place of what is not there; `again` is a way on. */
export function trouble(error, again, label = say("again")) {
	const what = error.kind ? error.message : say("page.failed", { what: error.message });
	return el("div.note.bad", { role: "alert" }, el("p", said(what)), again && button(label, again, { class: "outlined" }));
}

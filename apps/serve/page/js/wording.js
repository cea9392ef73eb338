// What the pane says of a source in words.

import { button, el, said } from "./dom.js";
import { day } from "./words.js";

/** The days of a version, and the day that was asked for. */
export function inForce(version, asOf) {
	const words = version.replace(/\d{4}-\d\d-\d\d/g, day).replace(/^i/, "I");
	return asOf ? `${words}; answered for ${asOf === "any" ? "any day" : day(asOf)}` : words;
}

/** The days of a row with `in_force_from` and `in_force_to`; "" where it names none. */
export function days({ in_force_from: from, in_force_to: to }) {
	if (from) return `in force from ${day(from)}${to ? ` to ${day(to)}` : ""}`;
	return to ? `in force until ${day(to)}` : "";
}

/** Those of the words that are there, with dots between them. */
export const described = (words) => words.filter(Boolean).join(" · ");

/** Where a citation stands, for a footnote. */
export function place({ section, document, page }, title, version) {
	return [section, title !== document && title, document, page && `page ${page}`, version].filter(Boolean).join(", ");
}

/** Words in quotation marks, on one line. */
export const quoted = (words) => `“${words.trim().replace(/\s+/g, " ")}”`;

/** What went wrong, and what to do; `again` tries it once more. */
export function problem(error, again = null) {
	const what = el("p", said(`${error.what ?? `This page failed: ${error.message}`} ${error.hint ?? ""}`));
	return el("div.note.bad", { role: "alert" }, what, again && button("Try again", again, { class: "outlined" }));
}

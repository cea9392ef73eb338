// One person labels one answer after the other: a press of a key, or of its button, and the next is there.

import { get, post } from "./page/js/api.js";
import { announce, button, el, fill, said, tried, trouble } from "./page/js/dom.js";

const main = document.getElementById("main");
let seen = null;
let busy = false;

async function load() {
	try {
		show(await get("label"));
	} catch (error) {
		fill(main, el("div.to-read", trouble(error, load)));
	}
}

async function take(act, label) {
	if (busy || !seen) return;
	busy = true;
	await tried(async () => show(await post("label", { at: seen.at, act, label: label ?? 0 })));
	busy = false;
}

function show(next) {
	seen = next;
	const place = seen.answer ? `${seen.at + 1} of ${seen.total}` : "Nothing is left to label";
	fill(main, el("div.to-read", { tabindex: "0", "aria-label": "What is judged" }, el("h1.detail", said(`${seen.person}: ${place}`)), seen.answer && read(seen.answer)), keys());
	announce(place);
}

const part = (heading, ...children) => el("section", el("h2", heading), children);

function read({ question, history, answer, reference, sources }) {
	const source = ({ where, quote }) => [el("p.detail", said(where)), el("blockquote", said(quote))];
	return [
		history.length > 0 && part("Before", history.map((turn) => el("p.detail", said(`${turn.role}: ${turn.content}`)))),
		part("Question", el("p.asked", said(question))),
		part("Answer", el("p.answer", { "data-testid": "answer" }, said(answer))),
		sources.length > 0 && part("What it rests on", sources.map(source)),
		part("Reference answer", el("p", said(reference || "There is none."))),
	];
}

function keys() {
	const labels = Object.entries(seen.keys).map(([key, label]) => button(key, () => take("give", label), { class: "solid", disabled: !seen.answer }));
	return el(
		"div.keys",
		el("p.hint", seen.scale, " Keys do the same: u goes back, s skips. Close the page any time; what is labelled is kept."),
		labels,
		button("Undo", () => take("undo"), { class: "outlined", disabled: seen.at === 0 }),
		button("Skip", () => take("skip"), { class: "outlined", disabled: !seen.answer }),
	);
}

document.addEventListener("keydown", (event) => {
	if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !seen) return;
	const key = event.key.toLowerCase();
	if (key === "u") take("undo");
	else if (key === "s" && seen.answer) take("skip");
	else if (seen.answer && Object.hasOwn(seen.keys, key)) take("give", seen.keys[key]);
});

load();

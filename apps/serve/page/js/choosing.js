// What the next question is asked of: which collections, and the law of which day.

import { el, fill, icon, said } from "./dom.js";
import { asked, state, titleOf } from "./state.js";
import { counted, lawAsOf } from "./words.js";

/** Fill the composer's options; `changed` is told of every choice. */
export function askingOptions(place, changed) {
	fill(place, collectionPicker(changed), dayPicker(changed));
}

const choice = (box, title, more) => el("label.choice", box, el("span", said(title), more && el("span.detail", said(more))));

/** A menu above its button, of which `label` is the text. */
function menu(name, drawn, label, legend, ...inside) {
	const summary = el("summary.quiet.option", icon(drawn), el("span.unseen", `${legend}: `), label);
	const sheet = el("fieldset.sheet", el("legend.unseen", legend), inside);
	return el("details.menu.upward", { "data-testid": `${name}-menu` }, summary, sheet);
}

function collectionPicker(changed) {
	const all = state.collections;
	if (all.length < 2) return all.map((only) => el("p.option", said(only.title || only.name)));
	const label = el("span");
	const boxes = all.map((one) => el("input", { type: "checkbox", value: one.name, on: { change: () => picked() } }));
	const every = el("input", { type: "checkbox", on: { change: () => picked(all) } });
	function picked(names = boxes.filter((box) => box.checked).map((box) => box.value)) {
		// none chosen is no choice: all are asked
		state.chosen = names.length % all.length ? names : null;
		show();
		changed();
	}
	function show() {
		const names = asked();
		for (const box of boxes) box.checked = names.includes(box.value);
		every.checked = every.disabled = names.length === all.length;
		const some = names.length === 1 ? titleOf(names[0]) : counted(names.length, "collection");
		label.textContent = every.checked ? "All collections" : some;
	}
	show();
	const rows = all.map((one, at) => choice(boxes[at], one.title || one.name, one.trouble || counted(one.documents, "document")));
	return menu("collections", "documents", label, "Collections asked", choice(every, "All collections"), rows);
}

function dayPicker(changed) {
	const label = el("span", lawAsOf(state.asOf));
	const isDay = (value) => /^\d/.test(value);
	const set = (value) => {
		state.asOf = value;
		if (isDay(value)) onDay.checked = true;
		label.textContent = lawAsOf(value);
		changed();
	};
	const props = { type: "date", id: "as-of", "aria-label": "Day", min: "1000-01-01", max: "9999-12-31" };
	const field = el("input", { ...props, value: isDay(state.asOf) ? state.asOf : "", on: { change: () => set(field.value) } });
	const radio = (of, checked) => el("input", { type: "radio", name: "as-of", checked, on: { change: () => set(of()) } });
	const onDay = radio(() => field.value, isDay(state.asOf));
	const rows = [
		choice(radio(() => "", !state.asOf), "Today"),
		choice(radio(() => "any", state.asOf === "any"), "Any day: all versions"),
		choice(onDay, "On this day:"),
	];
	return menu("as-of", "calendar", label, "Which law answers", rows, field);
}

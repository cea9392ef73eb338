// What the next question is asked of: which collections, and the law of which day.

import { el, fill, icon, said } from "./dom.js";
import { counted, say } from "./language.js";
import { asked, hooks, state, titleOf } from "./state.js";
import { fileOf, lawAsOf } from "./words.js";

const MOST_SHOWN = 4;

/** Fill the composer's options; `changed` is told of every choice. */
export function askingOptions(place, changed) {
	fill(place, state.only ? onlyChosen(() => askingOptions(place, changed)) : collectionPicker(changed), dayPicker(changed));
}

/** What alone is asked: a document or a passage, until it is let go. */
function onlyChosen(letGo) {
	const { document, label } = state.only;
	const heard = () => {
		state.only = null;
		letGo();
		hooks.focusField();
	};
	const words = say("alone", { what: [fileOf(document), label].filter(Boolean).join(", ") });
	return el("button.pick", { type: "button", id: "alone", "aria-pressed": true, title: say("alone.letgo"), on: { click: heard } }, said(words), " ×");
}

const choice = (box, title, more) => el("label.choice", box, el("span", said(title), more && el("span.detail", said(more))));

/** A menu above its button, of which `label` is the text. */
function menu(name, drawn, label, legend, ...inside) {
	const summary = el("summary.quiet.option", icon(drawn), el("span.unseen", `${legend}: `), label);
	const sheet = el("fieldset.sheet", el("legend.unseen", legend), inside);
	return el("details.menu.upward", { "data-testid": `${name}-menu` }, summary, sheet);
}

/** A click chooses one collection, or all of them; a menu has the others and takes several. */
function collectionPicker(changed) {
	const all = state.collections;
	if (all.length < 2) return all.map((only) => el("p.option", said(only.title || only.name)));
	const every = all.map((one) => one.name);
	const boxes = all.map((one) => el("input", { type: "checkbox", value: one.name, on: { change: () => pick(boxes.filter((box) => box.checked).map((box) => box.value)) } }));
	const shown = every.slice(0, MOST_SHOWN).map((name) => [name]);
	const buttons = [every, ...shown].map((names) => {
		const words = names === every ? say("collections.all") : titleOf(names[0]);
		return [names, el("button.pick", { type: "button", on: { click: () => pick(names) } }, said(words))];
	});
	const label = el("span");
	function pick(names) {
		// none chosen is no choice: all are asked
		state.chosen = names.length % all.length ? names : null;
		show();
		changed();
	}
	function show() {
		const chosen = asked();
		for (const box of boxes) box.checked = chosen.includes(box.value);
		let known = false;
		for (const [names, its] of buttons) {
			its.ariaPressed = names.join("\n") === chosen.join("\n");
			known ||= its.ariaPressed === "true";
		}
		const others = chosen.length === 1 ? titleOf(chosen[0]) : counted(chosen.length, "collection");
		label.textContent = known ? say("collections.several") : others;
	}
	show();
	const rows = all.map((one, at) => choice(boxes[at], one.title || one.name, one.trouble || counted(one.documents, "document")));
	const several = all.length > 2 && menu("collections", "documents", label, say("collections.asked"), rows);
	return [el("div.picks", { role: "group", "aria-label": say("collections.asked") }, buttons.map(([, its]) => its)), several];
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
	const props = { type: "date", id: "as-of", "aria-label": say("day.day"), min: "1000-01-01", max: "9999-12-31" };
	const field = el("input", { ...props, value: isDay(state.asOf) ? state.asOf : "", on: { change: () => set(field.value) } });
	const radio = (of, checked) => el("input", { type: "radio", name: "as-of", checked, on: { change: () => set(of()) } });
	const onDay = radio(() => field.value, isDay(state.asOf));
	const rows = [
		choice(radio(() => "", !state.asOf), say("day.now")),
		choice(radio(() => "any", state.asOf === "any"), say("day.all")),
		choice(onDay, say("day.this")),
	];
	return menu("as-of", "calendar", label, say("day.which"), rows, field);
}

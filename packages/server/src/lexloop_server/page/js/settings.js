// Settings, made from the server's schema of what a caller may set.

import { get } from "./api.js";
import { openDialog } from "./dialog.js";
import { announce, button, el, fill, said, trouble } from "./dom.js";
import { LANGUAGES, isSaid, language, say, whole } from "./language.js";
import { keep, state } from "./state.js";

const GROUPS = ["Care", "The answer", "Breadth", "Which documents", "Advanced"];
const waysOf = (schema) => [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
const isOf = (schema, ...types) => waysOf(schema).some((one) => types.includes(one.type));
const wordsOf = (schema) => waysOf(schema).flatMap((one) => one.enum ?? ("const" in one ? [one.const] : []));
const boundOf = (schema, name) => waysOf(schema).find((one) => name in one)?.[name];

/** What was typed as a value of the schema; undefined for nothing. */
export function valueOf(schema, typed) {
	if (typeof typed !== "string") return typed;
	const text = typed.trim();
	if (!text) return undefined;
	if (isOf(schema, "array")) return text.split(",").map((item) => item.trim()).filter(Boolean);
	if (isOf(schema, "object") && text.startsWith("{")) return JSON.parse(text);
	return isOf(schema, "integer", "number") && Number.isFinite(Number(text)) ? Number(text) : text;
}

export function differing(values, schema) {
	const same = (name, value) => JSON.stringify(value) === JSON.stringify(schema[name].default ?? null);
	return Object.fromEntries(Object.entries(values).filter(([name, value]) => schema[name] && !same(name, value)));
}

export async function openSettings() {
	const place = el("div.settings", el("p.hint", say("loading")));
	const foot = el("div.bare");
	openDialog({ title: say("settings"), id: "settings", body: place, foot, kind: "roomy" });
	try {
		show(place, foot, (await get("settings")).schema);
	} catch (error) {
		fill(place, trouble(error));
	}
}

function show(place, foot, schema) {
	const count = el("p.hint", { role: "status" });
	const reset = button(say("settings.resetall"), () => {
		state.settings = {};
		show(place, foot, schema);
		announce(say("settings.same"));
	}, { class: "outlined" });
	const changed = () => {
		state.settings = differing(state.settings, schema);
		keep("settings", state.settings);
		const number = Object.keys(state.settings).length;
		count.textContent = number ? say("settings.changed", { number }) : say("settings.same");
		reset.disabled = !number;
	};
	const names = Object.keys(schema).filter((name) => name !== "access.as_of");
	const there = [...new Set(names.map((name) => schema[name].group))];
	const groups = there.sort((a, b) => GROUPS.indexOf(a) - GROUPS.indexOf(b)).map((group) => {
		const its = names.filter((name) => schema[name].group === group).map((name) => field(name, schema[name], changed));
		const title = say(`settings.group.${group}`);
		return group === "Advanced" ? el("details.group", el("summary", title), its) : el("fieldset.group", el("legend", title), its);
	});
	fill(place, inLanguage(), el("p.hint", say("settings.hold")), groups);
	fill(foot, count, reset);
	changed();
}

/** The language of the interface: the browser's, or the one that is chosen here. */
function inLanguage() {
	const chosen = () => {
		keep("language", select.value);
		location.reload();
	};
	const options = Object.entries(LANGUAGES).map(([code, name]) => el("option", { value: code, lang: code, selected: code === language }, name));
	const select = el("select", { id: "language", on: { change: chosen } }, options);
	return el("div.field", el("label", { for: select.id }, say("settings.language")), select);
}

function field(name, schema, changed) {
	const id = `setting-${name}`;
	const plain = isSaid(`setting.${name}`); // in a person's words; the others as the server tells them
	const title = plain ? say(`setting.${name}`) : schema.title[0].toUpperCase() + schema.title.slice(1);
	const about = plain ? say(`setting.${name}.hint`) : (schema.description ?? "").replaceAll("`", "");
	const control = controlOf(schema, { id, "aria-describedby": `${id}-hint` });
	const put = () => {
		const value = state.settings[name] ?? schema.default ?? "";
		if (control.type === "checkbox") control.checked = value;
		else control.value = Array.isArray(value) ? value.join(", ") : typeof value === "object" ? JSON.stringify(value) : value;
		back.hidden = !(name in state.settings);
	};
	const back = button(say("settings.reset"), () => {
		delete state.settings[name];
		changed();
		put();
		control.focus();
	}, { class: "link hint", "aria-label": say("settings.resetone", { title }) });
	control.addEventListener("change", () => {
		let wrong = !control.checkValidity();
		try {
			const value = valueOf(schema, control.type === "checkbox" ? control.checked : control.value);
			if (value === undefined) delete state.settings[name];
			else if (!wrong) state.settings[name] = value;
		} catch {
			wrong = true;
		}
		control.ariaInvalid = wrong;
		if (wrong) return;
		changed();
		put();
	});
	put();
	return el(
		"div.field",
		{ data: { name } },
		el("label", { for: id }, title),
		el("p.hint", { id: `${id}-hint` }, said(about)),
		el("div.taken", control, el("p.hint", told(schema)), back),
	);
}

function told(schema) {
	const [least, most] = [boundOf(schema, "minimum"), boundOf(schema, "maximum")];
	const range = most === undefined ? "" : `${whole(least ?? 0)}–${whole(most)}, `;
	const usual = schema.default ?? "";
	const told = typeof usual === "object" && usual.length !== 0 ? JSON.stringify(usual) : String(usual);
	return range + (told ? say("settings.usual", { usual: isSaid(`choice.${told}`) ? say(`choice.${told}`) : told }) : say("settings.unset"));
}

function controlOf(schema, props) {
	const words = wordsOf(schema);
	const numeric = isOf(schema, "integer", "number");
	if (isOf(schema, "boolean")) return el("input", { ...props, type: "checkbox" });
	if (words.length && !numeric && !isOf(schema, "array")) return el("select", props, words.map((word) => el("option", { value: word }, isSaid(`choice.${word}`) ? say(`choice.${word}`) : word)));
	if (!numeric || words.length) return el("input", { ...props, type: "text", placeholder: isOf(schema, "array") && say("settings.commas") });
	const bounds = { min: boundOf(schema, "minimum"), max: boundOf(schema, "maximum"), step: isOf(schema, "number") ? "any" : 1 };
	return el("input", { ...props, type: "number", ...bounds });
}

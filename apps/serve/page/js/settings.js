// Settings, made from the server's schema of what a caller may set.

import { get } from "./api.js";
import { openDialog } from "./dialog.js";
import { announce, button, el, fill, said, trouble } from "./dom.js";
import { keep, state } from "./state.js";
import { whole } from "./words.js";

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
	const place = el("div.settings", el("p.hint", "Loading …"));
	const foot = el("div.bare");
	openDialog({ title: "Settings", id: "settings", body: place, foot, kind: "roomy" });
	try {
		show(place, foot, (await get("settings")).schema);
	} catch (error) {
		fill(place, trouble(error));
	}
}

function show(place, foot, schema) {
	const count = el("p.hint", { role: "status" });
	const reset = button("Reset all", () => {
		state.settings = {};
		show(place, foot, schema);
		announce("All settings are the server's own again.");
	}, { class: "outlined" });
	const changed = () => {
		state.settings = differing(state.settings, schema);
		keep("settings", state.settings);
		const number = Object.keys(state.settings).length;
		count.textContent = number ? `${number} changed from the server's own.` : "All are the server's own.";
		reset.disabled = !number;
	};
	const names = Object.keys(schema).filter((name) => name !== "access.as_of");
	const groups = [...new Set(names.map((name) => schema[name].group))].map((group) => {
		const its = names.filter((name) => schema[name].group === group).map((name) => field(name, schema[name], changed));
		return group === "Advanced" ? el("details.group", el("summary", group), its) : el("fieldset.group", el("legend", group), its);
	});
	fill(place, el("p.hint", "They hold for the questions that you ask next, in this browser."), groups);
	fill(foot, count, reset);
	changed();
}

function field(name, schema, changed) {
	const id = `setting-${name}`;
	const title = schema.title[0].toUpperCase() + schema.title.slice(1);
	const control = controlOf(schema, { id, "aria-describedby": `${id}-hint` });
	const put = () => {
		const value = state.settings[name] ?? schema.default ?? "";
		if (control.type === "checkbox") control.checked = value;
		else control.value = Array.isArray(value) ? value.join(", ") : typeof value === "object" ? JSON.stringify(value) : value;
		back.hidden = !(name in state.settings);
	};
	const back = button("Reset", () => {
		delete state.settings[name];
		changed();
		put();
		control.focus();
	}, { class: "link hint", "aria-label": `Reset ${title}` });
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
		el("p.hint", { id: `${id}-hint` }, said((schema.description ?? "").replaceAll("`", ""))),
		el("div.taken", control, el("p.hint", told(schema)), back),
	);
}

function told(schema) {
	const [least, most] = [boundOf(schema, "minimum"), boundOf(schema, "maximum")];
	const range = most === undefined ? "" : `${whole(least ?? 0)} to ${whole(most)}, `;
	const usual = schema.default ?? "";
	return `${range}by default ${usual.length === 0 ? "not set" : typeof usual === "object" ? JSON.stringify(usual) : usual}`;
}

function controlOf(schema, props) {
	const words = wordsOf(schema);
	const numeric = isOf(schema, "integer", "number");
	if (isOf(schema, "boolean")) return el("input", { ...props, type: "checkbox" });
	if (words.length && !numeric && !isOf(schema, "array")) return el("select", props, words.map((word) => el("option", { value: word }, word)));
	if (!numeric || words.length) return el("input", { ...props, type: "text", placeholder: isOf(schema, "array") && "separated by commas" });
	const bounds = { min: boundOf(schema, "minimum"), max: boundOf(schema, "maximum"), step: isOf(schema, "number") ? "any" : 1 };
	return el("input", { ...props, type: "number", ...bounds });
}

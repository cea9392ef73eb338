// Settings, made from the server's schema of what a caller may set.

import { get } from "./api.js";
import { openDialog } from "./dialog.js";
import { announce, button, el, fill, said } from "./dom.js";
import { keep, state } from "./state.js";
import { whole } from "./words.js";

const GROUPS = {
  answer: "The answer",
  plan: "How much is read",
  retrieval: "How it searches",
  fusion: "How signals are weighed",
  loop: "When an answer passes",
  access: "Which documents",
  "": "Limits",
};
// the composer has it
const ELSEWHERE = new Set(["access.as_of"]);

/** Return the kinds of a schema, those of its alternatives included: "integer", "null", "enum" … */
export function kindsOf(schema) {
  const all = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  return new Set(all.flatMap((one) => [one.type, (one.enum || "const" in one) && "enum"]).filter(Boolean));
}

/** Return the words that a setting may be, of its alternatives too. */
export function wordsOf(schema) {
  const all = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  return all.flatMap((one) => one.enum ?? ("const" in one ? [one.const] : []));
}

/** Return a bound of a number, "minimum" or "maximum", of its alternatives too. */
export function boundOf(schema, name) {
  return [schema, ...(schema.anyOf ?? [])].map((one) => one[name]).find((bound) => bound !== undefined);
}

/** Return what was typed as a value of the schema; undefined for nothing. */
export function valueOf(schema, typed) {
  const kinds = kindsOf(schema);
  if (typeof typed !== "string") return typed;
  const text = typed.trim();
  if (kinds.has("array")) {
    const listed = text.split(",").map((item) => item.trim()).filter(Boolean);
    return listed.length ? listed : undefined;
  }
  if (!text) return undefined;
  const numeric = kinds.has("integer") || kinds.has("number");
  return numeric && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Return those values that differ from the defaults. */
export function differing(values, schema) {
  const changed = Object.entries(values).filter(
    ([name, value]) => value !== undefined && schema[name] && JSON.stringify(value) !== JSON.stringify(schema[name].default ?? null),
  );
  return Object.fromEntries(changed);
}

/** Open the settings. */
export async function openSettings() {
  const place = el("div", { class: "settings" }, el("p", { class: "hint" }, "Loading …"));
  const foot = el("div", { class: "dialog-foot bare" });
  openDialog({ title: "Settings", id: "settings", body: place, foot, wide: true });
  try {
    const { schema } = await get("settings");
    show(place, foot, schema.properties ?? schema);
  } catch (error) {
    fill(place, el("p", { class: "note bad", role: "alert" }, said(error.message)));
  }
}

function show(place, foot, schema) {
  const names = Object.keys(schema).filter((name) => !ELSEWHERE.has(name));
  const count = el("p", { class: "hint", "aria-live": "polite" });
  const changed = () => {
    state.settings = differing(state.settings, schema);
    keep("settings", state.settings);
    const number = Object.keys(state.settings).length;
    count.textContent = number ? `${number} changed from the server's own.` : "All are the server's own.";
    reset.disabled = !number;
  };
  const reset = button("Reset all", () => {
    state.settings = {};
    show(place, foot, schema);
    announce("All settings are the server's own again.");
  }, { class: "outlined" });
  const groups = Object.entries(GROUPS).map(([group, title]) => {
    const its = names.filter((name) => groupOf(name) === group);
    return its.length > 0 && el("fieldset", { class: "group" }, el("legend", {}, title), its.map((name) => field(name, schema[name], changed)));
  });
  fill(
    place,
    el("p", { class: "hint" }, "They hold for the questions that you ask next, in this browser."),
    groups,
  );
  fill(foot, count, reset);
  changed();
}

const groupOf = (name) => {
  const group = name.includes(".") ? name.split(".")[0] : "";
  return group in GROUPS ? group : "";
};

const NAMES = {
  "plan.k": "Passages (k)",
  "plan.Q": "Wordings of the question (Q)",
  "plan.K": "Terms to follow (K)",
  "plan.S": "Steps from each term (S)",
  deadline_s: "Longest time, in seconds",
};

function titleOf(name, schema) {
  const title = NAMES[name] || schema.title || name.split(".").at(-1).replaceAll("_", " ");
  return title[0].toUpperCase() + title.slice(1);
}

function field(name, schema, changed) {
  const id = `setting-${name}`;
  const value = () => (name in state.settings ? state.settings[name] : schema.default);
  const set = (typed) => {
    const wanted = valueOf(schema, typed);
    if (wanted === undefined) delete state.settings[name];
    else state.settings[name] = wanted;
    after();
  };
  const { control, put } = controlOf(id, schema, set);
  const back = button("Reset", () => {
    delete state.settings[name];
    put(value());
    after();
    control.focus();
  }, { class: "link hint", "aria-label": `Reset ${titleOf(name, schema)}` });
  const after = () => {
    changed();
    back.hidden = !(name in state.settings);
  };
  put(value());
  back.hidden = !(name in state.settings);
  return el(
    "div",
    { class: "field", data: { name } },
    el("label", { for: id }, titleOf(name, schema)),
    schema.description && el("p", { class: "hint told", id: `${id}-hint` }, said(schema.description.replaceAll("`", ""))),
    el("div", { class: "taken" }, control, el("p", { class: "hint" }, told(schema)), back),
  );
}

function told(schema) {
  const [least, most] = [boundOf(schema, "minimum"), boundOf(schema, "maximum")];
  const range = least !== undefined && most !== undefined ? `${whole(least)} to ${whole(most)}, ` : "";
  const usual = schema.default;
  const shown = usual === null || usual === undefined || usual?.length === 0 ? "not set" : typeof usual === "object" ? JSON.stringify(usual) : String(usual);
  return `${range}by default ${shown}`;
}

/** Return {control, put}: what takes the value, and a function that shows one. */
function controlOf(id, schema, set) {
  const kinds = kindsOf(schema);
  const props = { id, "aria-describedby": schema.description ? `${id}-hint` : null };
  if (kinds.has("boolean")) {
    const box = el("input", { ...props, type: "checkbox", on: { change: () => set(box.checked) } });
    return { control: box, put: (value) => (box.checked = Boolean(value)) };
  }
  const words = wordsOf(schema);
  const numeric = kinds.has("integer") || kinds.has("number");
  if (words.length && !numeric && !kinds.has("array")) {
    const select = el("select", { ...props, on: { change: () => set(select.value) } }, words.map((word) => el("option", { value: word }, word)));
    return { control: select, put: (value) => (select.value = value ?? "") };
  }
  if (kinds.has("object")) {
    const input = el("input", { ...props, type: "text", on: { change: () => checkedObject(input, set) } });
    return { control: input, put: (value) => (input.value = value === null || value === undefined ? "" : JSON.stringify(value)) };
  }
  const bounds = numeric && !words.length
    ? { type: "number", min: boundOf(schema, "minimum"), max: boundOf(schema, "maximum"), step: kinds.has("number") ? "any" : 1 }
    : { type: "text", placeholder: words.length ? [...words, "or a number"].join(", ") : kinds.has("array") ? "separated by commas" : null };
  const input = el("input", { ...props, ...bounds, on: { change: () => {
    const wrong = !input.checkValidity();
    input.setAttribute("aria-invalid", String(wrong));
    if (!wrong) set(input.value);
  } } });
  return { control: input, put: (value) => (input.value = Array.isArray(value) ? value.join(", ") : value ?? "") };
}

function checkedObject(input, set) {
  try {
    set(input.value.trim() ? JSON.parse(input.value) : undefined);
    input.setAttribute("aria-invalid", "false");
  } catch {
    input.setAttribute("aria-invalid", "true");
  }
}

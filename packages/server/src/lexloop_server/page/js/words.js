// Days, places and the names of things as people read them.

import { counted, language, say } from "./language.js";

const REGION = language === "en" ? "en-GB" : language;
const PERCENT = new Intl.NumberFormat(REGION, { style: "percent", maximumFractionDigits: 0 });
const DAY = new Intl.DateTimeFormat(REGION, { dateStyle: "long", timeZone: "UTC" });
const MOMENT = new Intl.DateTimeFormat(REGION, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
// what a program writes into a file where nobody gave it a title
const NO_TITLE = /^\W*(anonymous|untitled|unspecified|unknown|document ?\d*|microsoft (word|excel|powerpoint) - .*)\W*$/i;

export const share = (value) => PERCENT.format(value);
export const seconds = (value) => (typeof value === "number" ? `${value.toFixed(value < 10 ? 2 : 1)} s` : "");
export const score = (value) => value?.toFixed(2) ?? "–";

/** A day written YYYY-MM-DD in words; anything else as it is. */
export function day(written) {
	const parsed = /^\d{4}-\d{2}-\d{2}$/.test(written ?? "") ? new Date(`${written}T00:00:00Z`) : NaN;
	return Number.isNaN(parsed.valueOf()) ? (written ?? "") : DAY.format(parsed);
}

/** When something happened, by this machine's clock. */
export function when(at) {
	const moment = new Date(at);
	return Number.isNaN(moment.valueOf()) ? "" : MOMENT.format(moment);
}

export function lawAsOf(asOf) {
	if (asOf === "any") return say("day.any");
	return !asOf || asOf === "today" ? say("day.today") : say("day.of", { day: day(asOf) });
}

const VERSION = /^in force (?:from (\d{4}-\d\d-\d\d))?(?: ?(?:to|until) (\d{4}-\d\d-\d\d))?$/;

/** The days of a version in this page's words. */
function daysOf(version) {
	const [, from, to] = VERSION.exec(version) ?? [];
	return from || to ? days({ in_force_from: from, in_force_to: to }) : version;
}

/** The days of a version, and the day that was asked for. */
export function inForce(version, asOf) {
	const told = daysOf(version);
	const words = `${told[0]?.toUpperCase() ?? ""}${told.slice(1)}`;
	return asOf ? say("day.answered", { words, day: asOf === "any" ? say("day.anyday") : day(asOf) }) : words;
}

/** The days of a row with `in_force_from` and `in_force_to`; "" where it names none. */
export function days({ in_force_from: from, in_force_to: to }) {
	if (from && to) return say("day.between", { from: day(from), to: day(to) });
	if (from) return say("day.from", { from: day(from) });
	return to ? say("day.until", { to: day(to) }) : "";
}

/** Those of the words that are there, with dots between them. */
export const described = (words) => words.filter(Boolean).join(" · ");

/** The name of a document's file, which people know it by. */
export const fileOf = (document) => document.split("/").at(-1);

/** What a document calls itself, where that says more than the name of its file; else "". */
export function titleBeside(document, title = "") {
	const said = title.trim();
	const known = [document, fileOf(document), fileOf(document).replace(/\.\w+$/, "")];
	return known.includes(said) || NO_TITLE.test(said) ? "" : said;
}

/** Where a citation stands, for a footnote. */
export function place(cited, title, version) {
	const { section, document } = cited;
	return [document, section, titleBeside(document, title), ...placeOf({ ...cited, section: "", version })].filter(Boolean).join(", ");
}

/** Text without the signs with which Markdown begins a heading, which are no words of it. */
export const unsigned = (text) => text.replace(/^#{1,6}[ \t]+/gm, "");

/** Words in quotation marks, on one line. */
export const quoted = (words) => `“${words.trim().replace(/\s+/g, " ")}”`;

/** Where a person finds something in a file without pages: its line, paragraph, row or header. */
const inFile = (at = {}) => ["line", "paragraph", "table", "row", "header"].filter((name) => name in at).map((name) => say(`place.${name}`, { n: at[name] }));

/** Where in a document a source is, the most exact first. */
export function placeOf({ section, page, at, version, identifier, read_from_picture: sure }) {
	const read = sure >= 0 && say("place.picture", { sure: share(sure) });
	return [section, Number.isInteger(page) && say("place.page", { page }), ...inFile(at), read, version && daysOf(version), identifier].filter(Boolean);
}

/** A short name for a source: its provision, else its file. */
export const labelOf = (source) => source.section || fileOf(source.document);

const ORDER = ["classify", "rewrite", "hybrid_retrieve", "kg_retrieve", "rerank", "generate", "evaluate"];

export const doing = (node) => say(`doing.${node}`);

export const following = (node) =>
	node === "engineer_prompt" ? "rewrite" : ((node !== "route" && ORDER[ORDER.indexOf(node) + 1]) || null);

export const classOf = (number) => (number in [0, 1, 2] ? say(`class.${number}`) : "");

/** What a step brought, in words; "" where there is nothing to tell. */
export function brought(step) {
	const told = [classOf(step.class), step.queries?.length > 1 && counted(step.queries.length, "wording")];
	for (const thing of ["candidate", "passage"]) if (`${thing}s` in step) told.push(counted(step[`${thing}s`], thing));
	if (step.collections) told.push(counted(step.collections.length, "collection"));
	if (typeof step.score === "number") told.push(say("step.score", { score: score(step.score) }));
	return told.filter(Boolean).join(", ");
}

/** What the signals of a search are, in the order in which they are told. */
export const SIGNALS = ["lexical", "dense", "late", "host", "graph", "rerank", "pointed", "defining", "followed", "quoted"];

export const signal = (name) => say(`signal.${name}`);

/** How likely it is that an answer answers, in one of four words. */
export const BANDS = ["unlikely", "maybe", "likely", "surely"];
export const bandOf = (probability) => BANDS[[0.4, 0.65, 0.85].filter((least) => probability >= least).length];

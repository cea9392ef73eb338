// Numbers, days and the names of things as people read them.

const PERCENT = new Intl.NumberFormat("en-GB", { style: "percent", maximumFractionDigits: 0 });
const NUMBER = new Intl.NumberFormat("en-GB");
const DAY = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
const MOMENT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

export const share = (value) => PERCENT.format(value);
export const whole = (value) => NUMBER.format(value);
export const seconds = (value) => (typeof value === "number" ? `${value.toFixed(value < 10 ? 2 : 1)} s` : "");
export const score = (value) => value?.toFixed(2) ?? "–";

/** Return "1 page" or "2 pages". */
export const counted = (number, one, many = `${one}s`) => `${whole(number)} ${number === 1 ? one : many}`;

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
	if (asOf === "any") return "Law of any day";
	return `Law as of ${!asOf || asOf === "today" ? "today" : day(asOf)}`;
}

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
export function place(cited, title, version) {
	const { section, document } = cited;
	return [section, title !== document && title, document, ...placeOf({ ...cited, section: "", version })].filter(Boolean).join(", ");
}

/** Text without the signs with which Markdown begins a heading, which are no words of it. */
export const unsigned = (text) => text.replace(/^#{1,6}[ \t]+/gm, "");

/** Words in quotation marks, on one line. */
export const quoted = (words) => `“${words.trim().replace(/\s+/g, " ")}”`;

/** Where in a document a source is, the most exact first. */
export function placeOf({ section, page, version, identifier, read_from_picture: sure }) {
	const read = sure >= 0 && `read from a picture, ${share(sure)} sure`;
	return [section, Number.isInteger(page) && `page ${page}`, read, version, identifier].filter(Boolean);
}

/** A short name for a source: its provision, else its document. */
export const labelOf = (source) => source.section || source.document.split("/").at(-1);

const DOING = {
	classify: "Reading the question",
	rewrite: "Looking for other words for it",
	hybrid_retrieve: "Searching the documents",
	kg_retrieve: "Following how terms are related",
	rerank: "Choosing the passages",
	generate: "Writing the answer",
	evaluate: "Checking the citations",
	engineer_prompt: "Trying it another way",
	route: "Choosing the collections",
};
const ORDER = Object.keys(DOING).slice(0, 7);

export const doing = (node) => DOING[node] ?? node.replaceAll("_", " ");

export const following = (node) =>
	node === "engineer_prompt" ? "rewrite" : ((node !== "route" && ORDER[ORDER.indexOf(node) + 1]) || null);

/** What a step brought, in words; "" where there is nothing to tell. */
export function brought(step) {
	const told = [CLASSES[step.class], step.queries?.length > 1 && counted(step.queries.length, "wording")];
	for (const thing of ["candidate", "passage"]) if (`${thing}s` in step) told.push(counted(step[`${thing}s`], thing));
	if (step.collections) told.push(counted(step.collections.length, "collection"));
	if (typeof step.score === "number") told.push(`score ${score(step.score)}`);
	return told.filter(Boolean).join(", ");
}

export const CLASSES = ["a plain question", "a question of several parts", "a complex question"];

/** What the signals of a search are, in the order in which they are told. */
export const SIGNALS = {
	lexical: "Words",
	dense: "Meaning",
	late: "Word by word",
	host: "Authority",
	graph: "Relations",
	rerank: "Final order",
	pointed: "Named in the question",
	defining: "Defines a term",
	followed: "Followed from a passage",
	quoted: "Quoted in the answer",
};

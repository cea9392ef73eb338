// A turn of the conversation: the question, its answer with citations, what they are worth.

import { address } from "./api.js";
import { announce, button, copy, el, icon, link, said } from "./dom.js";
import { opinion } from "./feedback.js";
import { blocks, pieces, withoutMarkers } from "./prose.js";
import { openSource } from "./source.js";
import { state, titleOf } from "./state.js";
import { behind } from "./tabs.js";
import { described, labelOf, lawAsOf, placeOf, share, when } from "./words.js";

const FEW_CHARS = 260;
const SEALS = { answers: "check", "in part": "more", near: "search", absent: "search" };

/** A turn's article and the element below its question. */
export function turnView(question, id = null) {
	const body = el("div");
	const head = el("h2.question", { dir: "auto" }, question);
	return { article: el("article.turn", { data: { testid: "turn", id: id ?? "" } }, head, body), body };
}

/** What is shown of an answer, below its question. */
export function answerView(answer) {
	const open = (source) => openSource({ ...source, as_of: dayOf(answer) });
	const [cited, title] = answer.abstained
		? [answer.near, "Nearest to it in the documents"]
		: [answer.citations, "Sources"];
	return el(
		"div.answered",
		answer.read_as.map((item) => el("p.reading", "“", said(item.written), "” was read as “", said(item.read), "”.")),
		(answer.inside ?? []).map((name) => el("p.reading", "Asked in ", said(name))),
		prose(answer, open),
		cautions(answer),
		verdict(answer),
		sources(answer, cited, title, open),
		tools(answer),
		behind(answer, open),
	);
}

/** The day whose law answered: who reads it later does not take today for it. */
const dayOf = ({ as_of: day, at }) => (day === "today" ? at.slice(0, 10) : day);

function prose(answer, open) {
	const by = Map.groupBy(answer.citations, (citation) => citation.n);
	const seen = new Set();
	const chips = (numbers) =>
		[...new Set(numbers)].map((n) => {
			const first = !seen.has(n) && seen.add(n);
			return by.has(n) ? chip(by.get(n)[0], first, open) : `[${n}]`;
		});
	const kind = answer.abstained ? "div.prose.abstained" : "div.prose";
	return el(kind, { "data-testid": "answer" }, written(answer.answer, chips));
}

/** A text's blocks as elements; `chips` makes what stands for numbers in brackets. */
export function written(text, chips) {
	return blocks(text).map(({ kind, text: line, mark, depth }) => {
		const inside = pieces(line).map(({ numbers, strong, text: words }) =>
			numbers ? chips(numbers) : strong ? el("strong", strong) : words,
		);
		if (kind !== "item") return el("p", { class: kind, dir: "auto" }, inside);
		const shown = /\w/.test(mark) ? mark : "•";
		return el("p.item", { dir: "auto", data: { depth: Math.min(depth, 3) } }, el("span.mark", shown), el("span", inside));
	});
}

function chip(citation, first, open) {
	const label = labelOf(citation);
	const place = [label, citation.document, ...placeOf({ ...citation, section: "" })].join(", ");
	const props = { type: "button", title: place, "aria-label": `Source ${citation.n}: ${place}`, on: { click: () => open(citation) } };
	const inside = [el("span.n", citation.n), first && said(label, { class: "label" })];
	return el("button.chip", { ...props, data: { testid: "chip", n: citation.n } }, inside);
}

function cautions({ warning, degraded }) {
	const [unread, fallen] = [true, false].map((nothing) => degraded.filter(({ used }) => (used === "nothing of it") === nothing));
	const reasons = unread.map((item) => el("li", said(item.wanted), ": ", said(item.reason)));
	const notes = [
		warning && el("p", el("strong", "Take care. "), said(warning)),
		fallen.map((item) => el("p", said(item.used), " stood in for ", said(item.wanted), ". ", said(item.reason))),
	];
	return [
		(warning || fallen.length > 0) && el("div.note.cautions", notes),
		unread.length > 0 && el("details.checked", el("summary", "What could not be read"), el("ul", reasons)),
	];
}

function verdict({ verdict: { head, words, probability, checked }, finding, abstained }) {
	// an abstention has said already what the first sentence says
	const short = head.replace(/^Abstained: /, "");
	const told = abstained ? short[0].toUpperCase() + short.slice(1) : words[0];
	const likely = typeof probability === "number";
	const bar = likely && el("meter", { min: 0, max: 1, value: probability, "aria-label": "Likely to answer the question" });
	return el(
		"div.verdict",
		{ role: "group", "aria-label": "Verdict", data: { finding, testid: "verdict" } },
		el("p.head", el("span.seal", icon(SEALS[finding] ?? "more")), said(told)),
		likely && el("p.gauge", bar, el("span", `${share(probability)} likely to answer the question`)),
		words.slice(likely ? 2 : 1).map((sentence) => el("p.more", said(sentence))),
		checked.length > 0 &&
			el("details.checked", el("summary", "What was checked"), el("ul", checked.map((sentence) => el("li", said(sentence))))),
	);
}

function sources({ passages }, citations, title, open) {
	if (!citations.length) return null;
	const once = new Map();
	for (const one of citations.toSorted((a, b) => a.n - b.n || a.start - b.start)) {
		once.set([one.n, one.collection, one.document, one.start, one.end].join("\n"), one);
	}
	const titles = new Map(passages.map((one) => [one.collection + one.document, one.title]));
	const listed = [...once.values()].map((one) => source(one, titles.get(one.collection + one.document), open));
	return el("div.sources", { role: "group", "aria-label": title, "data-testid": "sources" }, el("h3", title), el("ol", listed));
}

function source(citation, title, open) {
	const { collection, document, section } = citation;
	const where = [title, state.collections.length > 1 && titleOf(collection), ...placeOf({ ...citation, section: "" })];
	// the file's name is told where nothing says it better
	const file = section && title !== document && el("span.file", said(document));
	const line = el("p", link(labelOf(citation), () => open(citation)), el("span.detail", where.filter(Boolean).map((one) => [" · ", said(one)])), file);
	return el("li", el("span.n", { "aria-hidden": "true" }, citation.n), el("div", line, quoteView(citation)));
}

function quoteView({ quote, lead }) {
	const cut = `${quote.slice(0, FEW_CHARS).replace(/\s+\S*$/, "")} …`;
	const words = said(quote.length > FEW_CHARS ? cut : quote);
	const toggled = () => {
		const whole = more.ariaExpanded === "false";
		more.ariaExpanded = whole;
		more.firstChild.textContent = whole ? "Show less" : "Show all";
		words.textContent = whole ? quote : cut;
	};
	const more = link("Show all", toggled, { class: "link no-print", "aria-expanded": false });
	const before = lead && el("span.lead", said(lead), " … ");
	return el("blockquote", { dir: "auto" }, before, words, quote.length > FEW_CHARS && [" ", more]);
}

function tools(answer) {
	const made = [when(answer.at), lawAsOf(dayOf(answer)), answer.usage.model_calls ? answer.model : "Written without a model"];
	const copied = button("Copy", () => copy(noted(answer), "Copied"), { alone: "copy" });
	const menu = [el("summary.quiet", "Export"), el("div.sheet", exportsOf("answers", answer.id))];
	return el("div.tools", opinion(answer), copied, el("details.menu.save", menu), el("p.detail.made", said(described(made))));
}

/** Links to an answer or a thread as files. */
export function exportsOf(kind, id, before = "") {
	const formats = Object.entries({ docx: "Word (.docx)", md: "Markdown" });
	const href = (format) => address([kind, id, "export"], { format });
	return formats.map(([format, label]) => el("a.quiet", { href: href(format), download: true }, icon("documents"), before + label));
}

function noted(answer) {
	const notes = answer.citations.map((one) => `[${one.n}] ${[one.document, ...placeOf(one)].join(", ")}: “${one.quote}”`);
	const words = [...answer.verdict.words, `${lawAsOf(dayOf(answer))}.`].join(" ");
	return [answer.question, answer.answer, notes.join("\n"), words].join("\n\n");
}

export const announceAnswer = (answer) =>
	announce(`${answer.verdict.head}. ${withoutMarkers(answer.answer).slice(0, 600)}`);

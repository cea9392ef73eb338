// A turn of the conversation: the question, what is quoted, what limits it, what it is worth, and how to go on.

import { address, get } from "./api.js";
import { announce, button, copy, el, fill, form, icon, link, said, tried } from "./dom.js";
import { opinion } from "./feedback.js";
import { say } from "./language.js";
import { blocks, parted, pieces, withoutMarkers } from "./prose.js";
import { openSource } from "./source.js";
import { hasWorkbench, state, titleOf } from "./state.js";
import { BANDS, bandOf, described, fileOf, labelOf, lawAsOf, placeOf, share, titleBeside, when } from "./words.js";

const FEW_CHARS = 260;
const QUESTION_ROWS = 3;

/** A turn's article and the element below its question; `again` is given the question as it was edited. */
export function turnView(question, { again, id = null }) {
	const body = el("div");
	const words = el("h2.question", { dir: "auto" }, question);
	const edit = button(say("turn.edit"), () => head.replaceChildren(words, editing()), { alone: "edit", class: "quiet no-print" });
	const head = el("div.asked-for", words, again && edit);
	function editing() {
		words.classList.add("unseen"); // it stays the heading
		const field = el("textarea", { rows: QUESTION_ROWS, dir: "auto", maxlength: 4000, "aria-label": say("turn.edit") }, question);
		const back = () => {
			words.classList.remove("unseen");
			fill(head, words, edit);
			edit.focus();
		};
		const submitted = () => {
			back();
			if (field.value.trim()) again(field.value.trim());
		};
		const keydown = (event) => {
			if (event.key === "Escape") back();
			else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submitted();
			else return;
			event.preventDefault();
		};
		field.addEventListener("keydown", keydown);
		setTimeout(() => field.focus());
		return form("form.editing", submitted, field, el("div.acts", el("button.solid", say("ask.again")), button(say("cancel"), back)));
	}
	return { article: el("article.turn", { data: { testid: "turn", id: id ?? "" } }, head, body), body };
}

/** What is shown of an answer, below its question; `ask` is given a question to go on with. Another's has no tools. */
export function answerView(answer, ask, own = true) {
	const open = (source) => openSource({ ...source, as_of: dayOf(answer) });
	const [cited, title] = answer.abstained ? [answer.near, say("sources.near")] : [answer.citations, say("sources")];
	return el(
		"div.answered",
		verdict(answer),
		answer.read_as.map((item) => el("p.reading", say("answer.readas", { written: said(item.written), read: said(item.read) }))),
		(answer.inside ?? []).map((name) => el("p.reading", say("answer.inside", { name: said(name) }))),
		prose(answer, open),
		cautions(answer),
		sources(answer, cited, title, open),
		own && tools(answer),
		ask && hasWorkbench() && nextQuestions(answer, ask),
		own && behind(answer, open),
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
	const quotes = answer.usage?.model_calls === 0 && !answer.abstained && answer.citations.length > 0;
	const kind = answer.abstained ? "abstained" : quotes ? "of-quotes" : "";
	return el("div", { class: `prose ${kind}`, "data-testid": "answer" }, quotes && el("p.origin", say("answer.quoted")), written(answer.answer, chips));
}

/** A text's blocks as elements, what limits the others set apart; `chips` makes what stands for numbers in brackets. */
export function written(text, chips) {
	return parted(blocks(text)).map(({ part, blocks: some }) => {
		const inside = some.map((block) => line(block, chips));
		if (!part) return inside;
		return el("div.limits", { role: "note", "aria-label": say(`limits.${part}`), data: { testid: "limits", part } }, el("p.limits-head", say(`limits.${part}`)), inside);
	});
}

function line({ kind, text, mark, depth }, chips) {
	const inside = pieces(text).map(({ numbers, strong, text: words }) =>
		numbers ? chips(numbers) : strong ? el("strong", strong) : words,
	);
	if (kind !== "item") return el("p", { class: kind, dir: "auto" }, inside);
	const shown = /\w/.test(mark) ? mark : "•";
	return el("p.item", { dir: "auto", data: { depth: Math.min(depth, 3) } }, el("span.mark", shown), el("span", inside));
}

function chip(citation, first, open) {
	const label = labelOf(citation);
	const place = [citation.document, ...placeOf(citation)].join(", ");
	const props = { type: "button", title: place, "aria-label": say("source.n", { n: citation.n, place }), on: { click: () => open(citation) } };
	const inside = [el("span.n", citation.n), first && said(label, { class: "label" })];
	return el("button.chip", { ...props, data: { testid: "chip", n: citation.n } }, inside);
}

function cautions({ warning, degraded }) {
	const [unread, fallen] = [true, false].map((nothing) => degraded.filter(({ used }) => used.endsWith(" of it") === nothing));
	const reasons = unread.map((item) => el("li", said(item.wanted), ": ", said(item.reason)));
	const notes = [
		warning && el("p", el("strong", say("caution")), " ", said(warning)),
		fallen.map((item) => el("p", say("caution.instead", { used: said(item.used), wanted: said(item.wanted) }), " ", said(item.reason))),
	];
	return [
		(warning || fallen.length > 0) && el("div.note.cautions", notes),
		unread.length > 0 && el("details.checked", el("summary", say("caution.unread")), el("ul", reasons)),
	];
}

/** The name of what an answer is worth, for its words. */
function worth({ finding, verdict: { probability } }) {
	if (finding !== "answers") return finding.replace(" ", "");
	return typeof probability === "number" ? bandOf(probability) : "unsaid";
}

/** What an answer is worth, above it and in view as long as it is: how likely it answers, in words before the figure; and what was checked of its quotes. */
function verdict(answer) {
	const { finding, citations, citations_verified: verified } = answer;
	const { words, probability, checked } = answer.verdict;
	const likely = typeof probability === "number";
	const band = worth(answer);
	const scale = likely && el("span.scale", { "aria-hidden": "true" }, BANDS.map((_, at) => el("span", { class: at <= BANDS.indexOf(bandOf(probability)) && "full" })));
	const quotes = citations.length > 0 && el("p.more", { class: verified ? "more sound" : "more unsound" }, icon(verified ? "check" : "close"), say(verified ? "verdict.quotes" : "verdict.misquoted"));
	return el(
		"div.verdict",
		{ role: "group", "aria-label": say("verdict"), data: { finding, band, testid: "verdict" } },
		el("p.head", scale, el("strong", say(`verdict.${band}`)), likely && el("span.detail", say("verdict.share", { share: share(probability) }))),
		words.slice(likely ? 2 : 1).map((sentence) => el("p.more", said(sentence))),
		quotes,
		checked.length > 0 &&
			el("details.checked", el("summary", say("verdict.checked")), el("ul", checked.map((sentence) => el("li", said(sentence))), likely && el("li", say("verdict.means", { share: share(probability) })))),
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

/** The file first, by which people know a document; what it calls itself second. */
function source(citation, title, open) {
	const { collection, document, section } = citation;
	const where = [titleBeside(document, title), state.collections.length > 1 && titleOf(collection), ...placeOf({ ...citation, section: "" })];
	const named = link([fileOf(document), section].filter(Boolean).join(", "), () => open(citation), { title: document });
	const line = el("p", named, el("span.detail", where.filter(Boolean).map((one) => [" · ", said(one)])));
	return el("li", el("span.n", { "aria-hidden": "true" }, citation.n), el("div", line, quoteView(citation)));
}

function quoteView({ quote, lead }) {
	const cut = `${quote.slice(0, FEW_CHARS).replace(/\s+\S*$/, "")} …`;
	const words = said(quote.length > FEW_CHARS ? cut : quote);
	const toggled = () => {
		const whole = more.ariaExpanded === "false";
		more.ariaExpanded = whole;
		more.firstChild.textContent = say(whole ? "quote.less" : "quote.all");
		words.textContent = whole ? quote : cut;
	};
	const more = link(say("quote.all"), toggled, { class: "link no-print", "aria-expanded": false });
	const before = lead && el("span.lead", said(lead), " … ");
	return el("blockquote", { dir: "auto" }, before, words, quote.length > FEW_CHARS && [" ", more]);
}

function tools(answer) {
	const made = [when(answer.at), lawAsOf(dayOf(answer)), answer.usage.model_calls ? answer.model : say("answer.nomodel")];
	const copied = button(say("copy"), () => copy(noted(answer), say("copied")), { alone: "copy" });
	const print = button(say("print"), () => window.print(), { icon: "print" });
	const menu = [el("summary.quiet", say("export")), el("div.sheet", exportsOf("answers", answer.id), print)];
	return el("div.tools", opinion(answer), copied, el("details.menu.save", menu), el("p.detail.made", said(described(made))));
}

/** A few questions that an answer leads to; they come after it, and only where it is the last. */
function nextQuestions(answer, ask) {
	const place = el("div.next.no-print", { data: { testid: "next" } });
	get(["answers", answer.id, "next"]).then(
		({ questions }) => {
			if (!questions.length) return;
			const rows = questions.map((question) => el("li", button(question, () => ask(question), { class: "outlined" })));
			fill(place, el("h3", say("next")), el("ul", rows));
		},
		() => place.remove(), // nobody misses what was not offered
	);
	return place;
}

/** How an answer came about, which is loaded and made when it is first opened. */
function behind(answer, open) {
	const place = el("div");
	const toggle = ({ target }) => {
		if (!target.open || place.firstChild) return;
		tried(async () => {
			const { tabs } = await import("./tabs.js");
			if (!place.firstChild) fill(place, tabs(answer, open));
		});
	};
	return el("details.behind.no-print", { "data-testid": "behind", on: { toggle } }, el("summary", say("behind")), place);
}

const EXPORTS = { docx: { format: "docx" }, memo: { format: "docx", memo: true }, eml: { format: "eml" }, md: { format: "md" } };

/** Links to an answer, a thread or a table as files; some may come before those that all have. */
export function exportsOf(kind, id, before = {}) {
	const href = (query) => address([kind, id, "export"], query);
	return Object.entries({ ...before, ...EXPORTS }).map(([name, query]) => el("a.quiet", { href: href(query), download: true }, icon("documents"), say(`export.${name}`)));
}

function noted(answer) {
	const notes = answer.citations.map((one) => `[${one.n}] ${[one.document, ...placeOf(one)].join(", ")}: “${one.quote}”`);
	const words = [...answer.verdict.words, `${lawAsOf(dayOf(answer))}.`].join(" ");
	return [answer.question, answer.answer, notes.join("\n"), words].join("\n\n");
}

export const announceAnswer = (answer) =>
	announce(`${say(`verdict.${worth(answer)}`)}. ${withoutMarkers(answer.answer).slice(0, 600)}`);

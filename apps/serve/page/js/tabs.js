// What lies behind an answer: passages, relations, plan, attempts, cost. Closed until wanted.

import { el, fill, link, said } from "./dom.js";
import { relations } from "./graph.js";
import { titleOf } from "./state.js";
import { CLASSES, SIGNALS, brought, counted, doing, labelOf, score, seconds, share, whole } from "./words.js";

const NAME = "How this answer came about";
let made = 0;

/** The closed details of an answer, which are made when they are first opened. */
export function behind(answer, open) {
	const place = el("div");
	const toggle = ({ target }) => target.open && !place.firstChild && fill(place, tabs(answer, open));
	return el("details.behind.no-print", { "data-testid": "behind", on: { toggle } }, el("summary", NAME), place);
}

function tabs(answer, open) {
	made += 1;
	const parts = {
		Passages: () => passages(answer, open),
		Relations: () => relations(answer.triplets, open),
		Plan: () => plan(answer),
		Attempts: () => el("ol.attempts", answer.attempts.map(attempt)),
		Cost: () => cost(answer),
	};
	const both = Object.entries(parts).map(([name, make], at) => {
		const id = `tab-${made}-${at}`;
		const panel = el("div", { role: "tabpanel", id: `${id}-panel`, "aria-labelledby": id, tabindex: 0, hidden: true });
		const choose = () => {
			if (!panel.firstChild) fill(panel, make());
			for (const [one, its] of both) {
				one.ariaSelected = its === panel;
				one.tabIndex = its === panel ? 0 : -1;
				its.hidden = its !== panel;
			}
		};
		const props = { type: "button", role: "tab", id, "aria-controls": panel.id, on: { click: choose } };
		return [el("button", props, name), panel];
	});
	const heads = both.map(([head]) => head);
	const keydown = (event) => {
		const at = heads.indexOf(event.target);
		const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
		if (to === undefined) return;
		event.preventDefault();
		const head = heads.at(to % heads.length);
		head.focus();
		head.click();
	};
	heads[0].click();
	return [el("div.tabs", { role: "tablist", "aria-label": NAME, on: { keydown } }, heads), both.map(([, panel]) => panel)];
}

/** A table of rows of cells; a cell of {number} is one. */
function table(label, heads, rows) {
	const cell = (tag, one, props) => (one?.number === undefined ? el(tag, props, one) : el(`${tag}.number`, props, one.number));
	const head = el("tr", heads.map((one) => cell("th", one, { scope: "col" })));
	const body = rows.map((row) => el("tr", row.map((one) => cell("td", one, {}))));
	const made = el("table", el("thead", head), el("tbody", body));
	return el("div.scrolled", { tabindex: 0, role: "region", "aria-label": label }, made);
}

function passages({ passages: found, candidates = [], graph_candidates: followed = [], collections }, open) {
	if (!found.length) return el("p.hint", "No passage was found.");
	const known = new Map(found.map((one) => [one.id, one]));
	const others = [...candidates, ...followed].filter(({ id }) => !known.has(id) && known.set(id));
	const there = new Set([...found, ...others].flatMap((one) => Object.keys(one.signals)));
	const columns = [...Object.keys(SIGNALS).filter((name) => there.delete(name)), ...there];
	const named = (one) => [
		link(labelOf(one), () => open({ collection: collections[0], ...one })),
		el("span.detail", said(one.document)),
	];
	const number = (value) => ({ number: value === undefined ? "" : score(value) });
	const heads = ["n", "Passage", "Score", ...columns.map((name) => SIGNALS[name] ?? name)];
	const row = (one) => [{ number: one.n ?? "" }, named(one), number(one.score), ...columns.map((name) => number(one.signals[name]))];
	const scores = (label, rows) => table(label, heads.map((name, at) => (at === 1 ? name : { number: name })), rows.map(row));
	const more = `${counted(others.length, "other candidate")} of the search`;
	return [
		el("p.hint", "The passages that the answer was written from, with what each way of searching made of them."),
		scores("Passages and their scores", found),
		others.length > 0 && el("details", el("summary", more), scores("Other candidates", others)),
	];
}

const LIMITS = [
	["k", "passage", "to write the answer from"],
	["Q", "further wording", "of the question"],
	["K", "term", "to follow in the relations"],
	["S", "step", "from each of them"],
];

function plan(answer) {
	const bar = (value, at) => el("meter", { min: 0, max: 1, value, "aria-label": CLASSES[at] });
	// several collections each have a plan of their own
	const one = answer.plan && [
		el("p", `This was read as ${CLASSES[answer.complexity]}.`),
		el("ul.shares", answer.probabilities.map((value, at) => el("li", el("span", CLASSES[at]), bar(value, at), el("span", share(value))))),
		el("p", "So the search took at most:"),
		el("ul.plain", LIMITS.map(([name, thing, what]) => el("li", `${counted(answer.plan[name], thing)} ${what} (${name})`))),
	];
	const { standalone, queries, keywords, variant, collections } = answer;
	const more = { Asked: standalone, "Searched for": queries, Terms: keywords, Variant: variant, Collections: collections.map(titleOf) };
	return [one, items(more)];
}

function items(pairs) {
	const listed = Object.entries(pairs).map(([name, value]) => [name, [value ?? []].flat().filter(Boolean)]);
	return el("dl.items", listed.map(([name, values]) => values.length > 0 && [el("dt", name), values.map((one) => el("dd", said(one)))]));
}

function attempt(one, at, all) {
	const { evaluation: judged, advice } = one;
	const passed = judged.passed ? "passed" : one.abstained ? "abstained" : "not passed";
	const before = all[at - 1]?.collection === one.collection && all[at - 1];
	const scores = {
		"Answers the question": judged.answers,
		"About the question": judged.answer_relevance,
		"Passages about it": judged.context_relevance,
		"Borne out by the sources": judged.groundedness,
	};
	return el(
		"li",
		el("h3", one.collection && [said(titleOf(one.collection)), ": "], `attempt ${one.number}, ${passed}`),
		before && el("p", said(changes(one, before))),
		el(
			"ul.scores",
			Object.entries(scores).map(([name, value]) => value !== undefined && el("li", el("b", score(value)), ` ${name}`)),
			el("li", el("b", judged.citations_verified ? "✓" : "✗"), ` Citations ${judged.citations_verified ? "" : "not "}verified`),
		),
		items({ Question: one.question, "Searched for": one.queries, Faults: judged.reasons, Advice: advice?.guidance }),
		el("details", el("summary", "Its answer"), el("p.serif", { dir: "auto" }, one.answer)),
	);
}

const WAYS = {
	reread: "the question was read another way",
	whole: "whole provisions were taken instead of parts",
	operative: "recitals and notes were left out",
	broaden: "more candidates and passages were taken",
};

function changes(one, before) {
	const known = new Set(before.passages.map(({ id }) => id));
	const fresh = one.passages.filter(({ id }) => !known.has(id)).length;
	const told = [
		WAYS[before.advice?.strategy],
		one.question !== before.question && "the question was worded anew",
		fresh ? `${counted(fresh, "passage")} came in that the attempt before did not have` : "the passages stayed the same",
	];
	return `What changed: ${told.filter(Boolean).join("; ")}.`;
}

function cost({ usage, hosts, model, steps = [] }) {
	const tokens = `${whole(usage.tokens_in)} tokens in, ${whole(usage.tokens_out)} out`;
	const told = {
		Time: seconds(usage.seconds),
		Model: usage.model_calls ? `${model}: ${counted(usage.model_calls, "call")}, ${tokens}` : "none was asked",
		"Text went to": hosts.length ? hosts : "nowhere: all of it stayed on this server",
	};
	const rows = steps.map((step) => [doing(step.node), said(brought(step)), { number: seconds(step.seconds) }]);
	return [items(told), rows.length > 0 && table("Steps", ["Step", "It brought", { number: "After" }], rows)];
}

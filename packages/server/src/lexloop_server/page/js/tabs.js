// What lies behind an answer: passages, relations, plan, attempts, cost.

import { el, fill, link, said } from "./dom.js";
import { relations } from "./graph.js";
import { counted, say, whole } from "./language.js";
import { titleOf } from "./state.js";
import { SIGNALS, brought, classOf, doing, labelOf, score, seconds, share, signal } from "./words.js";

let made = 0;

/** What lies behind an answer, in tabs. */
export function tabs(answer, open) {
	made += 1;
	const parts = {
		passages: () => passages(answer, open),
		relations: () => relations(answer.triplets, open),
		plan: () => plan(answer),
		attempts: () => el("ol.attempts", answer.attempts.map(attempt)),
		cost: () => cost(answer),
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
		return [el("button", props, say(`tab.${name}`)), panel];
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
	return [el("div.tabs", { role: "tablist", "aria-label": say("behind"), on: { keydown } }, heads), both.map(([, panel]) => panel)];
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
	if (!found.length) return el("p.hint", say("passages.none"));
	const known = new Map(found.map((one) => [one.id, one]));
	const others = [...candidates, ...followed].filter(({ id }) => !known.has(id) && known.set(id));
	const there = new Set([...found, ...others].flatMap((one) => Object.keys(one.signals)));
	const columns = [...SIGNALS.filter((name) => there.delete(name)), ...there];
	const named = (one) => [
		link(labelOf(one), () => open({ collection: collections[0], ...one })),
		el("span.detail", said(one.document)),
	];
	const number = (value) => ({ number: value === undefined ? "" : score(value) });
	const heads = ["n", say("passages.one"), say("passages.score"), ...columns.map(signal)];
	const row = (one) => [{ number: one.n ?? "" }, named(one), number(one.score), ...columns.map((name) => number(one.signals[name]))];
	const scores = (label, rows) => table(label, heads.map((name, at) => (at === 1 ? name : { number: name })), rows.map(row));
	const more = counted(others.length, "other");
	return [
		el("p.hint", say("passages.hint")),
		scores(say("passages.scores"), found),
		others.length > 0 && el("details", el("summary", more), scores(say("passages.others"), others)),
	];
}

const LIMITS = ["k", "Q", "K", "S"];

function plan(answer) {
	const bar = (value, at) => el("meter", { min: 0, max: 1, value, "aria-label": classOf(at) });
	// several collections each have a plan of their own
	const one = answer.plan && [
		el("p", say("plan.read", { class: classOf(answer.complexity) })),
		el("ul.shares", answer.probabilities.map((value, at) => el("li", el("span", classOf(at)), bar(value, at), el("span", share(value))))),
		el("p", say("plan.most")),
		el("ul.plain", LIMITS.map((name) => el("li", `${counted(answer.plan[name], `plan.${name}`)} (${name})`))),
	];
	const { standalone, queries, keywords, variant, collections } = answer;
	const more = { asked: standalone, queries, keywords, variant, collections: collections.map(titleOf) };
	return [one, items(more)];
}

function items(pairs) {
	const listed = Object.entries(pairs).map(([name, value]) => [name, [value ?? []].flat().filter(Boolean)]);
	return el("dl.items", listed.map(([name, values]) => values.length > 0 && [el("dt", say(`item.${name}`)), values.map((one) => el("dd", said(one)))]));
}

function attempt(one, at, all) {
	const { evaluation: judged, advice } = one;
	const became = judged.passed ? "passed" : one.abstained ? "abstained" : "failed";
	const before = all[at - 1]?.collection === one.collection && all[at - 1];
	const scores = {
		answers: judged.answers,
		relevance: judged.answer_relevance,
		context: judged.context_relevance,
		grounded: judged.groundedness,
	};
	return el(
		"li",
		el("h3", one.collection && [said(titleOf(one.collection)), ": "], say(`attempt.${became}`, one)),
		before && el("p", said(changes(one, before))),
		el(
			"ul.scores",
			Object.entries(scores).map(([name, value]) => value !== undefined && el("li", el("b", score(value)), ` ${say(`score.${name}`)}`)),
			el("li", el("b", judged.citations_verified ? "✓" : "✗"), ` ${say(judged.citations_verified ? "score.verified" : "score.unverified")}`),
		),
		items({ question: one.question, queries: one.queries, faults: judged.reasons, advice: advice?.guidance, looked: advice?.looked?.map(look) }),
		el("details", el("summary", say("attempt.answer")), el("p.serif", { dir: "auto" }, one.answer)),
	);
}

function look({ tool, words, found }) {
	const places = found.map(({ document, section }) => [document, section].filter(Boolean).join(", "));
	return `${tool} “${words}”: ${places.join("; ") || say("look.nothing")}`;
}

const WAYS = ["reread", "whole", "operative", "broaden"];

function changes(one, before) {
	const known = new Set(before.passages.map(({ id }) => id));
	const fresh = one.passages.filter(({ id }) => !known.has(id)).length;
	const told = [
		WAYS.includes(before.advice?.strategy) && say(`change.${before.advice.strategy}`),
		one.question !== before.question && say("change.reworded"),
		fresh ? say("change.fresh", { passages: counted(fresh, "passage") }) : say("change.same"),
	];
	return say("change", { what: told.filter(Boolean).join("; ") });
}

function cost({ usage, hosts, model, steps = [] }) {
	const tokens = say("cost.tokens", { in: whole(usage.tokens_in), out: whole(usage.tokens_out) });
	const told = {
		time: seconds(usage.seconds),
		model: usage.model_calls ? `${model}: ${counted(usage.model_calls, "call")}, ${tokens}` : say("cost.nomodel"),
		hosts: hosts.length ? hosts : say("cost.nohost"),
	};
	const rows = steps.map((step) => [doing(step.node), said(brought(step)), { number: seconds(step.seconds) }]);
	return [items(told), rows.length > 0 && table(say("cost.steps"), [say("cost.step"), say("cost.brought"), { number: say("cost.after") }], rows)];
}

// The composer, and a question while it runs.

import { events } from "./api.js";
import { announceAnswer, answerView, turnView, written } from "./answer.js";
import { announce, button, el, fill, icon, said } from "./dom.js";
import { counted, say } from "./language.js";
import { asked, hooks, state, titleOf } from "./state.js";
import { brought, doing, following } from "./words.js";

const ANNOUNCED_MS = 1200;

/** Fill the composer, and return {ask, stop, options, field, attaching}; `room` is where turns are added. */
export function composer(form, room) {
	const props = { id: "question", rows: 1, dir: "auto", placeholder: say("ask.placeholder"), autocomplete: "off", enterkeyhint: "send" };
	const field = el("textarea", { ...props, "aria-label": say("ask.question"), "aria-describedby": "composer-hint" });
	const send = el("button.solid.icon", { id: "ask", "aria-label": say("ask") }, icon("send"));
	const stop = button(say("stop"), () => running.abort(), { icon: "stop", id: "stop", class: "outlined", hidden: true });
	const options = el("div.options");
	const hint = el("p.hint", { id: "composer-hint" }, say("ask.hint"));
	const more = el("span.attaching");
	fill(form, el("div.writing", more, field, send, stop), el("div.under", options, hint));

	let running = null;
	const ready = () => {
		send.disabled = !field.value.trim();
		send.hidden = running !== null;
		stop.hidden = !send.hidden;
	};
	field.addEventListener("input", ready);
	field.addEventListener("keydown", (event) => {
		if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
		event.preventDefault();
		form.requestSubmit();
	});
	form.addEventListener("submit", (event) => {
		event.preventDefault();
		if (field.value.trim()) ask(field.value.trim());
	});

	/** Ask, with further settings for this once. Resolves to whether there is an answer. */
	async function ask(question, once = {}) {
		if (running) return false;
		running = new AbortController();
		field.value = "";
		ready();
		hooks.asking();
		const turn = turnView(question, { again: (edited) => ask(edited) });
		room.append(turn.article);
		turn.article.scrollIntoView();
		try {
			await run(turn, question, once, running.signal);
			return true;
		} catch (error) {
			if (!field.value.trim()) field.value = question;
			failed(turn, question, once, error);
			return false;
		} finally {
			const focused = document.activeElement === stop;
			running = null;
			ready();
			if (focused) field.focus();
		}
	}

	async function run(turn, question, once, signal) {
		const steps = progress(turn.body);
		const { chosen, only, thread, asOf, settings } = state;
		// who is quick asks before the page knows what there is
		const collections = chosen && state.collections.length ? asked() : chosen;
		const alone = only && { collections: [only.collection], documents: [only.document], passage: only.passage };
		const body = { question, collections, ...alone, thread, as_of: asOf || null, settings: { ...settings, ...once } };
		for await (const { event, data } of events("POST", "ask", { body, signal })) {
			if (event === "begin") {
				hooks.began(null);
				steps.begin(data.collections);
			} else if (event === "step") steps.step(data);
			else if (event === "token") steps.token(data);
			else if (event === "answer") {
				fill(turn.body, answerView(data, (next) => ask(next)));
				turn.article.dataset.id = data.id;
				announceAnswer(data);
				// only now: a question that fails begins no conversation
				if (state.thread === thread) hooks.began(data.thread);
				hooks.answered();
				return;
			}
		}
		throw Object.assign(new Error(say("ask.ended")), { hint: say("again.hint") });
	}

	function failed(turn, question, once, error) {
		const again = (label, more) => {
			const heard = () => {
				turn.article.remove();
				if (field.value.trim() === question) field.value = "";
				ask(question, more);
			};
			return button(label, heard, { class: "outlined" });
		};
		const stopped = error.name === "AbortError";
		const what = stopped ? say("ask.stopped") : error.what ?? error.message;
		const wait = error.retryAfter && say("ask.wait", { seconds: counted(Math.ceil(error.retryAfter), "second") });
		const more = [stopped ? say("ask.kept") : error.hint, wait].filter(Boolean).join(" ");
		const props = { class: stopped ? "note" : "note bad", data: { testid: "failure", kind: error.kind ?? "" } };
		const ways = [again(say("ask.again"), once), error.settings && again(say("ask.without"), { ...once, ...error.settings })];
		fill(turn.body, el("div", props, el("p", el("strong", said(what)), " ", said(more)), ways));
		announce(`${what} ${more} ${say("ask.kept")}`);
		if (error.status === 401) hooks.refused();
	}

	ready();
	return { ask, options, field, attaching: more, stop: () => running?.abort() };
}

function progress(place) {
	const list = el("ol.steps", { "data-testid": "steps", "aria-label": say("ask.steps") });
	const draft = el("div.prose.draft", { hidden: true, "data-testid": "draft" });
	fill(place, list, draft);
	const now = new Map();
	let [text, drawn, several, told] = ["", false, false, performance.now()];
	const named = (node, collection) => doing(node) + (several && collection ? `: ${titleOf(collection)}` : "");
	const waiting = (numbers) => el("span.chip.waiting", numbers.join(", "));

	/** Show what runs now in a collection, nothing where `node` is null. */
	function show(collection, node) {
		now.get(collection)?.remove();
		if (!node) return;
		const label = named(node, collection);
		now.set(collection, el("li.now", said(label)));
		list.append(now.get(collection));
		// not every step of a quick run, which would only delay the answer
		if (performance.now() - told > ANNOUNCED_MS) {
			told = performance.now();
			announce(label);
		}
	}
	function draw() {
		drawn = false;
		draft.hidden = !text;
		fill(draft, written(text, waiting));
	}
	return {
		begin(collections) {
			several = collections.length > 1;
			show("", several ? "route" : "classify");
		},
		step(step) {
			const collection = several ? step.collection ?? "" : "";
			show("", null);
			show(collection, null);
			const more = brought(step);
			list.append(el("li", said(named(step.node, collection)), more && el("span.detail", ` · ${more}`)));
			if (step.node === "engineer_prompt") text = "";
			show(collection, following(step.node));
		},
		token(data) {
			text = (data.restart ? "" : text) + data.text;
			if (!drawn) requestAnimationFrame(draw);
			drawn = true;
		},
	};
}

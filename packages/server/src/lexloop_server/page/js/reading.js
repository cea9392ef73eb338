// The text of a document around a span: its lines with headings, what is marked, more on demand.
// Offsets count code points, as the server does, not UTF-16 units.

import { button, el, fill } from "./dom.js";
import { say } from "./language.js";
import { unsigned } from "./words.js";

const MORE = 4000;
const HEADED = ["part", "annex", "provision", "table"];
const ITEMS = ["paragraph", "point", "definition"];

/** A part of a document's text; `element` shows it. */
export class Reading {
	/**
	 * `marks` are {start, end, kind} with kind "quote" or "lead"; without any, `asked` is told from
	 * what stands around it. `read` asks for the text from one offset to another.
	 */
	constructor(excerpt, { marks, asked, read, failed }) {
		Object.assign(this, { excerpt, marks, asked, read, failed });
		this.element = el("div.source-text");
		this.show();
	}

	get target() {
		return this.element.querySelector("mark.quote, .asked");
	}

	show() {
		const { start, end, length, pages } = this.excerpt;
		let page = pages.filter((at) => at <= start).length;
		const lines = linesOf(this.excerpt, this.marks).map((line) => {
			const begun = pages[page] <= line.start && (page = pages.filter((at) => at <= line.start).length);
			return [begun && el("p.begun", say("pages.at", { page })), this.#line(line)];
		});
		fill(
			this.element,
			start > 0 && this.#more(say("reading.before"), "up", Math.max(0, start - MORE), start),
			lines,
			end < length && this.#more(say("reading.after"), "down", end, end + MORE),
		);
	}

	#line({ start, end, heading, level, pieces }) {
		const { asked, excerpt } = this;
		const part = asked.start > excerpt.start || asked.end < excerpt.end - 1;
		const told = part && !this.marks.length && start < asked.end && end > asked.start;
		const props = { class: told && "asked", dir: "auto", data: { start } };
		const node = el(heading ? "h3" : "p", props, pieces.map(shown));
		if (level) node.style.setProperty("--level", Math.min(level, 6));
		return node;
	}

	#more(label, towards, from, to) {
		const load = async () => {
			more.disabled = true;
			try {
				this.excerpt = joined(this.excerpt, await this.read(from, to));
				this.#stay(towards);
			} catch (error) {
				more.disabled = false;
				this.failed(error);
			}
		};
		const more = button(label, load, { class: `quiet more ${towards}`, icon: "chevron" });
		return more;
	}

	/** Show more, and let what is being read stay where it is while text is put above it. */
	#stay(towards) {
		const place = (start) => this.element.querySelector(`[data-start="${start}"]`);
		const top = (start) => place(start)?.getBoundingClientRect().top ?? 0;
		const first = this.element.querySelector("[data-start]")?.dataset.start;
		const before = top(first);
		this.show();
		this.element.closest(".side-body").scrollTop += top(first) - before;
		const next = this.element.querySelector(`.more.${towards}`) ?? document.getElementById("side-title");
		next.focus({ preventScroll: true });
	}
}

function shown({ text, kinds }) {
	const kind = ["quote", "lead"].find((name) => kinds.includes(name));
	if (kind) return el("mark", { class: kind }, text);
	return kinds.includes("heading") ? el("b", unsigned(text)) : text;
}

/** Join two excerpts that overlap or touch; of others the second stands alone, as it does not follow. */
export function joined(one, other) {
	const [first, second] = one.start <= other.start ? [one, other] : [other, one];
	if (second.start > first.end) return other;
	const text = first.text + Array.from(second.text).slice(first.end - second.start).join("");
	const units = new Map([...first.units, ...second.units].map((u) => [`${u.start} ${u.end} ${u.kind}`, u]));
	return {
		...other,
		text,
		start: first.start,
		end: Math.max(first.end, second.end),
		units: [...units.values()].sort((a, b) => a.start - b.start || b.end - a.end),
	};
}

/**
 * Cut an excerpt into its lines, and these where a span, {start, end, kind}, begins or ends.
 * Returns {start, end, level, heading, pieces} for each line that is not blank: `level` is how deep
 * in a list it stands, `heading` whether it is nothing else; a piece is {text, kinds}.
 */
export function linesOf({ text, start: base, units }, spans = []) {
	const chars = Array.from(text);
	const headings = units
		.filter((unit) => HEADED.includes(unit.kind))
		.map(({ start, body }) => ({ start, end: body, kind: "heading" }));
	const marked = [...spans, ...headings].filter((span) => span.start < span.end);
	const found = [];
	let open = [];
	let next = 0;
	let from = 0;
	for (const line of text.split("\n").map((one) => Array.from(one).length)) {
		const [start, end] = [base + from, base + from + line];
		from += line + 1;
		while (units[next]?.start <= start) open.push(units[next++]);
		open = open.filter((unit) => unit.end > start);
		const pieces = piecesOf(chars, base, start, end, marked);
		const worded = pieces.filter((piece) => piece.text.trim());
		if (!worded.length) continue;
		const heading = worded.every((piece) => piece.kinds.includes("heading"));
		const level = Math.max(0, open.filter((unit) => ITEMS.includes(unit.kind)).length - 1);
		found.push({ start, end, level, heading, pieces });
	}
	return found;
}

function piecesOf(chars, base, start, end, spans) {
	const here = spans.filter((span) => span.start < end && span.end > start);
	const inside = here.flatMap((span) => [span.start, span.end]).filter((at) => at > start && at < end);
	const edges = [...new Set([start, ...inside, end])].sort((a, b) => a - b);
	return edges.slice(1).map((to, place) => {
		const from = edges[place];
		const over = here.filter((span) => span.start <= from && span.end >= to).map((span) => span.kind);
		return { text: chars.slice(from - base, to - base).join(""), kinds: [...new Set(over)] };
	});
}

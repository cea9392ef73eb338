// The text of a document around a span: its lines with headings, what is marked, more on demand.

import { button, el, fill } from "./dom.js";
import { joined, linesOf } from "./spans.js";

const MORE = 4000;

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

	/** The element to bring into view: the first cited words, or the beginning of what was asked. */
	get target() {
		return this.element.querySelector("mark.quote, .asked");
	}

	show() {
		const { start, end, length, pages } = this.excerpt;
		let page = pages.filter((at) => at <= start).length;
		const lines = linesOf(this.excerpt, this.marks).map((line) => {
			const begun = pages[page] <= line.start && (page = pages.filter((at) => at <= line.start).length);
			return [begun && el("p.begun", `Page ${page}`), this.#line(line)];
		});
		fill(
			this.element,
			start > 0 && this.#more("What stands before", "up", Math.max(0, start - MORE), start),
			lines,
			end < length && this.#more("What follows", "down", end, end + MORE),
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

/** A piece of a line; the signs with which Markdown begins a heading are no words of it. */
function shown({ text, kinds }) {
	const kind = ["quote", "lead"].find((name) => kinds.includes(name));
	if (kind) return el("mark", { class: kind }, text);
	return kinds.includes("heading") ? el("b", text.replace(/^#{1,6}\s+/, "")) : text;
}

// The text of a document around a span: its lines with headings, what is marked, more on demand.

import { get, part } from "./api.js";
import { announce, button, el, fill } from "./dom.js";
import { joined, linesOf } from "./spans.js";

const MORE = 4000;

/** A part of a document's text; `element` shows it. */
export class Reading {
  /**
   * `marks` are {start, end, kind} with kind "quote" or "lead"; `asked` is the span that was asked
   * for, which is told from what stands around it.
   */
  constructor({ collection, document }, marks, asked, failed) {
    Object.assign(this, { collection, document, marks, asked, failed });
    this.element = el("div", { class: "reading" });
  }

  /** Load the span that was asked for, with the provision around it, and show it. */
  async load() {
    this.excerpt = await this.#read(this.asked.start, this.asked.end);
    this.#show();
  }

  /** The element to bring into view: the first cited words, or the beginning of what was asked. */
  get target() {
    return this.element.querySelector("mark.quote, mark, .asked") ?? this.element;
  }

  #read(start, end) {
    const query = { document: this.document, start: Math.max(0, start), end };
    return get(`collections/${part(this.collection)}/text`, { query });
  }

  #show() {
    const { start, end, length } = this.excerpt;
    const whole = this.asked.start <= start && this.asked.end >= end - 1;
    const lines = linesOf(this.excerpt, this.marks);
    fill(
      this.element,
      start > 0 && this.#more("What stands before", "up", () => [start - MORE, start]),
      lines.map((line) => this.#line(line, whole)),
      end < length && this.#more("What follows", "down", () => [end, end + MORE]),
    );
  }

  #line(line, whole) {
    const { start, end } = this.asked;
    const asked = !whole && !this.marks.length && line.start < end && line.end > start;
    const names = [line.heading && "heading", asked && "asked"].filter(Boolean).join(" ");
    const props = { class: names || null, dir: "auto", data: { start: line.start } };
    const node = el(line.heading ? "h3" : "p", props, line.pieces.map(shown));
    if (line.level) node.style.setProperty("--level", Math.min(line.level, 6));
    return node;
  }

  #more(label, towards, span) {
    const load = async (event) => {
      const [from, to] = span();
      event.currentTarget.disabled = true;
      try {
        const more = await this.#read(from, to);
        this.#keepPlace(towards, () => {
          this.excerpt = joined(this.excerpt, more);
          this.#show();
        });
        announce("More of the text is shown.");
      } catch (error) {
        this.#show();
        this.failed(error);
      }
    };
    return button(label, load, { class: `quiet more ${towards}`, icon: "chevron" });
  }

  /** Let what is being read stay where it is while text is put above it. */
  #keepPlace(towards, change) {
    const scroller = this.element.closest(".side-body");
    const first = this.element.querySelector("[data-start]");
    const before = first?.getBoundingClientRect().top;
    change();
    const still = first && this.element.querySelector(`[data-start="${first.dataset.start}"]`);
    if (still) scroller.scrollTop += still.getBoundingClientRect().top - before;
    const next = this.element.querySelector(`.more.${towards}`) ?? this.element.querySelector(".more");
    (next ?? document.getElementById("side-title"))?.focus({ preventScroll: true });
  }
}

/** A piece of a line: the cited words and the words that they complete are marked. */
function shown({ text, kinds }) {
  const heading = kinds.includes("heading");
  const kind = ["quote", "lead"].find((name) => kinds.includes(name));
  // the signs with which Markdown begins a heading are no words of it
  const words = heading && !kind ? text.replace(/^#{1,6}\s+/, "") : text;
  if (kind) return el("mark", { class: kind }, words);
  return heading ? el("b", {}, words) : words;
}

// The pages of a PDF as images, with the cited words boxed where the document's map has them.

import { address, part } from "./api.js";
import { announce, button, el, fill } from "./dom.js";

const ZOOMS = [1, 1.25, 1.5, 2, 3];
const STEP = 200;
const WIDEST = 2400;

/** The pages of one document; `element` shows one of them. */
export class Pages {
  /**
   * `boxed` are the pages of the cited words, as the server gives them; `page` is the first to be
   * shown and `count` how many there are, null where that is not known.
   */
  constructor({ collection, document, title }, { boxed, page, count, failed }) {
    Object.assign(this, { collection, document, title, boxed, page, count, failed });
    this.zoom = 0;
    this.element = el("div", { class: "pages" });
    this.place = el("span", { class: "place" });
    this.previous = this.#tool("Previous page", "back", () => this.#turn(-1));
    this.next = this.#tool("Next page", "chevron", () => this.#turn(1));
    this.out = this.#tool("Zoom out", "less", () => this.#zoom(-1));
    this.in = this.#tool("Zoom in", "add", () => this.#zoom(1));
    this.tools = [this.previous, this.place, this.next, this.out, this.in];
  }

  #tool(label, drawn, heard) {
    return button(label, heard, { icon: drawn, hideLabel: true });
  }

  /** The element to bring into view: the first box. */
  get target() {
    return this.element.querySelector(".box") ?? this.element;
  }

  /** Show the page; once `element` stands in the document, since the image is as wide as it. */
  show() {
    const here = this.boxed.find((one) => one.page === this.page);
    const image = el("img", { alt: this.#said(here), src: this.#address(), decoding: "async" });
    image.addEventListener("error", () => this.failed(this.page));
    const sheet = el("div", { class: "sheet-of-paper" }, image, (here?.boxes ?? []).map(boxOf));
    if (here) sheet.style.setProperty("aspect-ratio", `${here.width} / ${here.height}`);
    sheet.style.setProperty("width", `${ZOOMS[this.zoom] * 100}%`);
    fill(this.element, el("div", { class: "scrolled", tabindex: "0", role: "group", "aria-label": "Page" }, sheet));
    this.place.textContent = this.count ? `${this.page} of ${this.count}` : `Page ${this.page}`;
    this.previous.disabled = this.page <= 1;
    this.next.disabled = this.count !== null && this.page >= this.count;
    this.out.disabled = this.zoom === 0;
    this.in.disabled = this.zoom === ZOOMS.length - 1;
  }

  #said(here) {
    const marked = here ? "; the cited words are boxed" : "";
    return `Page ${this.page} of ${this.title}${marked}. The switch “Text” shows its words.`;
  }

  #address() {
    const wanted = this.element.clientWidth * ZOOMS[this.zoom] * (window.devicePixelRatio || 1);
    const width = Math.min(WIDEST, Math.max(STEP, Math.ceil(wanted / STEP) * STEP));
    const query = { document: this.document, page: this.page, width };
    return address(`collections/${part(this.collection)}/page`, query);
  }

  #turn(by) {
    this.page += by;
    this.show();
    announce(`Page ${this.page}`);
  }

  #zoom(by) {
    this.zoom += by;
    this.show();
    announce(`${ZOOMS[this.zoom] * 100} percent`);
  }
}

function boxOf([x0, y0, x1, y1]) {
  const box = el("div", { class: "box" });
  const percent = (share) => `${share * 100}%`;
  box.style.setProperty("left", percent(x0));
  box.style.setProperty("top", percent(y0));
  box.style.setProperty("width", percent(x1 - x0));
  box.style.setProperty("height", percent(y1 - y0));
  return box;
}

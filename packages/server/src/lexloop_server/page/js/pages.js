// The pages of a PDF as images, with the cited words boxed where the document's map has them.

import { address } from "./api.js";
import { announce, button, el, fill, link } from "./dom.js";
import { say } from "./language.js";

const ZOOMS = [100, 125, 150, 200, 300];
const STEP = 200;

/** The pages of a document, {collection, document}; `element` shows one of them, once it is in place. */
export class Pages {
	/**
	 * `boxed` are the pages of the cited words, `page` the one to begin with, of `count`; `turned` and
	 * `failed` hear of a page that is shown, and of one that cannot be.
	 */
	constructor(of, { boxed, page, count, turned, failed }) {
		Object.assign(this, { of, boxed, page, count, turned, failed, zoom: 0 });
		this.element = el("div.pages");
		const tool = (label, icon, heard) => button(label, heard, { alone: icon });
		this.place = el("span.place");
		this.previous = tool(say("pages.previous"), "back", () => this.#turn(this.page - 1));
		this.next = tool(say("pages.next"), "chevron", () => this.#turn(this.page + 1));
		this.less = tool(say("pages.out"), "less", () => this.#zoom(-1));
		this.more = tool(say("pages.in"), "add", () => this.#zoom(1));
		this.tools = [this.previous, this.place, this.next, this.less, this.more];
	}

	get target() {
		return this.element.querySelector(".box");
	}

	show() {
		const { page, count, boxed, zoom } = this;
		const here = boxed.find((one) => one.page === page);
		const alt = say(here ? "pages.boxed" : "pages.plain", { page });
		const image = el("img", { alt, src: this.#address() });
		image.addEventListener("error", () => this.failed(page));
		const sheet = el("div.sheet-of-paper", image, here?.boxes.map(boxOf));
		if (here) sheet.style.setProperty("aspect-ratio", `${here.width} / ${here.height}`);
		sheet.style.setProperty("width", `${ZOOMS[zoom]}%`);
		const others = boxed.filter((one) => one !== here).map((one) =>
			link(say("pages.other", one), () => this.#turn(one.page)),
		);
		fill(this.element, el("div.scrolled", { tabindex: "0", role: "group", "aria-label": say("source.page") }, sheet), others);
		this.place.textContent = say("pages.of", { page, count });
		this.previous.disabled = page <= 1;
		this.next.disabled = page >= count;
		this.less.disabled = zoom === 0;
		this.more.disabled = zoom === ZOOMS.length - 1;
	}

	#address() {
		const wanted = (this.element.clientWidth * ZOOMS[this.zoom] * devicePixelRatio) / 100;
		const { collection, document } = this.of;
		const query = { document, page: this.page, width: Math.ceil(wanted / STEP) * STEP || STEP };
		return address(["collections", collection, "page"], query);
	}

	#turn(page) {
		this.page = page;
		this.show();
		this.turned();
		announce(say("pages.at", { page }));
	}

	#zoom(by) {
		this.zoom += by;
		this.show();
		announce(`${ZOOMS[this.zoom]} %`);
	}
}

function boxOf([x0, y0, x1, y1]) {
	const box = el("div.box");
	const shares = { left: x0, top: y0, width: x1 - x0, height: y1 - y0 };
	for (const [name, share] of Object.entries(shares)) box.style.setProperty(name, `${share * 100}%`);
	return box;
}

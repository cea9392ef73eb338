// The place beside the answer where sources, trees, versions and documents are shown.

import { button, el, fill, said } from "./dom.js";

let opener = null;

/**
 * Open the place beside the answer, and return the element to fill.
 * `title` heads it, `detail` is a smaller line below; whatever was shown before is gone.
 */
export function openSide(aside, { title, detail = "", tools = [] }) {
	if (!aside.contains(document.activeElement)) opener = document.activeElement;
	const heading = el("h2.side-title", { id: "side-title", tabindex: "-1" }, said(title));
	const close = button("Close", () => closeSide(aside), { icon: "close", hideLabel: true, id: "side-close" });
	const body = el("div.side-body", { tabindex: "-1", id: "side-body" });
	const heads = el("div.side-heads", heading, detail && el("p.detail", said(detail)));
	fill(aside, el("div.side-head", heads, el("div.side-tools", tools, close)), body);
	aside.setAttribute("aria-labelledby", "side-title");
	aside.hidden = false;
	aside.dispatchEvent(new CustomEvent("shown", { detail: true }));
	heading.focus({ preventScroll: true });
	return body;
}

/** Close it, and give the focus back to what opened it. */
export function closeSide(aside) {
	if (aside.hidden) return;
	aside.hidden = true;
	fill(aside);
	aside.dispatchEvent(new CustomEvent("shown", { detail: false }));
	if (opener?.isConnected) opener.focus();
	opener = null;
}

export function listenForEscape(aside) {
	document.addEventListener("keydown", (event) => {
		const other = event.defaultPrevented || document.querySelector("dialog[open], details.menu[open]");
		if (event.key === "Escape" && !other) closeSide(aside);
	});
}

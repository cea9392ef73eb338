// The place beside the answer where sources, trees, versions and documents are shown, and the way
// back and forward over what was shown in it.

import { get } from "./api.js";
import { button, el, fill, said, trouble } from "./dom.js";
import { say } from "./language.js";
import { hooks } from "./state.js";

const MOST = 50;
const aside = () => document.getElementById("side");
/** Whether the pane lies over the page, and the conversations too. */
export const narrow = () => matchMedia("(max-width: 60rem)").matches;
let opener = null;
let views = [];
let at = -1;

/** What is shown in the pane, as long as Back can lead to it; its `render` opens and fills the pane. */
export class View {
	constructor(of) {
		Object.assign(this, of);
	}

	visit() {
		leave();
		views = aside().hidden ? [this] : [...views.slice(0, at + 1), this].slice(-MOST);
		at = views.length - 1;
		this.render();
	}

	/** Open the pane, and return its `body` to fill; `detail` is a smaller line below the title. */
	open(title, detail) {
		const place = aside();
		if (!place.contains(document.activeElement)) opener = document.activeElement;
		const heading = el("h2.side-title", { id: "side-title", tabindex: "-1" }, said(title));
		const close = button(say("close"), closeSide, { alone: "close", id: "side-close" });
		this.body = el("div.side-body", { tabindex: "-1", id: "side-body" });
		const heads = el("div.side-heads", heading, detail && el("p.detail", said(detail)));
		fill(place, el("div.side-head", heads, el("div.side-tools", tools(), close)), this.body);
		show(true);
		heading.focus({ preventScroll: true });
		return this.body;
	}

	/** Whether this is what is shown, so that what comes late is still wanted. */
	get isShown() {
		return !aside().hidden && views[at] === this;
	}

	/** Do something; where it fails its `note` says why, and offers to try again what may pass. */
	async attempt(act) {
		fill(this.note);
		try {
			await act();
		} catch (error) {
			const { name, status } = error;
			if (name === "AbortError" || !this.isShown) return;
			const passing = !status || status === 429 || status >= 500;
			fill(this.note, trouble(error, passing && (() => this.attempt(act))));
		}
	}

	/** Scroll to where it was left; false where it was not. */
	scrollBack() {
		if (this.scrolled === undefined) return false;
		this.body.scrollTop = this.scrolled;
		return true;
	}

	get(what, query) {
		return get(["collections", this.collection, what], query);
	}
}

function leave() {
	if (views[at]?.body) views[at].scrolled = views[at].body.scrollTop;
}

function tools() {
	const tool = (label, icon, by) => {
		const go = () => {
			leave();
			at += by;
			views[at].render();
		};
		return button(label, go, { alone: icon, disabled: !views[at + by] });
	};
	return views.length > 1 && [tool(say("back"), "back", -1), tool(say("forward"), "chevron", 1)];
}

function show(shown) {
	aside().hidden = !shown;
	hooks.sideShown(shown);
}

/** Close it, and give the focus back to what opened it; false where it is closed. */
export function closeSide() {
	if (aside().hidden) return false;
	fill(aside());
	show(false);
	if (opener?.isConnected) opener.focus();
	opener = null;
	return true;
}

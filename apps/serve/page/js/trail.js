// The way through the pane: back and forward over what was shown in it.

import { button, fill } from "./dom.js";
import { problem } from "./wording.js";

const MOST = 50;
let views = [];
let at = -1;

/** Show a view, which has `render(aside, tools)`, beside the answer; Back leads to the one before. */
export function visit(aside, view) {
	leave(aside);
	views = aside.hidden ? [view] : [...views.slice(0, at + 1), view].slice(-MOST);
	at = views.length - 1;
	view.render(aside, tools(aside));
}

/** Whether this is the view that is shown, so that what comes late is still wanted. */
export const isShown = (aside, view) => !aside.hidden && views[at] === view;

/**
 * Do something for a view; where it fails its `note` says why, and offers to try again what may pass.
 */
export async function attempt(aside, view, act) {
	fill(view.note);
	try {
		await act();
	} catch (error) {
		const { name, status } = error;
		if (name === "AbortError" || !isShown(aside, view)) return;
		const passing = !status || status === 429 || status >= 500;
		fill(view.note, problem(error, passing && (() => attempt(aside, view, act))));
	}
}

/** Scroll to where the view was left; false where it was not. */
export function scrollBack(aside, view) {
	if (view.scrolled === undefined) return false;
	aside.querySelector(".side-body").scrollTop = view.scrolled;
	return true;
}

function leave(aside) {
	const body = aside.querySelector(".side-body");
	if (views[at] && body) views[at].scrolled = body.scrollTop;
}

function tools(aside) {
	const tool = (label, icon, by) => {
		const go = () => {
			leave(aside);
			at += by;
			views[at].render(aside, tools(aside));
		};
		return button(label, go, { icon, hideLabel: true, disabled: !views[at + by] });
	};
	return views.length > 1 ? [tool("Back", "back", -1), tool("Forward", "chevron", 1)] : [];
}

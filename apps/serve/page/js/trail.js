// The way through the pane: what was shown before, and back and forward over it.

import { button } from "./dom.js";

const MOST = 50;
let views = [];
let at = -1;

/**
 * Show a view beside the answer, and remember the one before.
 * A view has `render(aside, tools)`, which fills the pane anew with the tools in its head.
 */
export function visit(aside, view) {
  if (aside.hidden) {
    views = [];
    at = -1;
  }
  leave(aside);
  views = [...views.slice(0, at + 1), view].slice(-MOST);
  at = views.length - 1;
  show(aside);
}

/** Whether this is the view that is shown, so that what comes late is still wanted. */
export const isShown = (aside, view) => !aside.hidden && views[at] === view;

/** Show the present view anew. */
export function show(aside) {
  views[at].render(aside, tools(aside));
}

/** Put the pane where it was scrolled to when the view was left; false where it was not. */
export function scrollBack(aside, view) {
  if (view.scrolled === undefined) return false;
  aside.querySelector(".side-body").scrollTop = view.scrolled;
  return true;
}

function leave(aside) {
  const body = aside.querySelector(".side-body");
  if (views[at] && body) views[at].scrolled = body.scrollTop;
}

function step(aside, by) {
  leave(aside);
  at += by;
  show(aside);
}

function tools(aside) {
  if (views.length < 2) return [];
  const [back, on] = [at > 0, at < views.length - 1];
  return [
    button("Back", () => step(aside, -1), { icon: "back", hideLabel: true, disabled: !back }),
    button("Forward", () => step(aside, 1), { icon: "chevron", hideLabel: true, disabled: !on }),
  ];
}

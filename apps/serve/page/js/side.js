// The place beside the answer where sources, trees, versions and documents are shown.

import { button, el, fill, said } from "./dom.js";

let opener = null;

/**
 * Open the place beside the answer, and return the element to fill.
 * `title` heads it, `detail` is a smaller line below; whatever was shown before is gone.
 */
export function openSide(aside, { title, detail = "", tools = [] }) {
  if (!aside.contains(document.activeElement)) opener = document.activeElement;
  const body = el("div", { class: "side-body", tabindex: "-1", id: "side-body" });
  const heading = el("h2", { id: "side-title", class: "side-title", tabindex: "-1" }, said(title));
  fill(
    aside,
    el(
      "div",
      { class: "side-head" },
      el("div", { class: "side-heads" }, heading, detail && el("p", { class: "detail" }, said(detail))),
      el(
        "div",
        { class: "side-tools" },
        tools,
        button("Close", () => closeSide(aside), { icon: "close", hideLabel: true, id: "side-close" }),
      ),
    ),
    body,
  );
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

/** Let Escape close it. */
export function listenForEscape(aside) {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || aside.hidden) return;
    if (document.querySelector("dialog[open], details.menu[open]")) return;
    closeSide(aside);
  });
}

// Dialogs: what they hold, and a question before something is gone for good.

import { append, button, el, said } from "./dom.js";

let opened = 0;

/**
 * Open a dialog, and return it; it is removed when it is closed.
 * `body` and `foot` are its children; `closed` is told of its return value.
 */
export function openDialog({ title, body, foot = [], closed = () => {}, id = null, wide = false }) {
  opened += 1;
  const heading = `dialog-title-${opened}`;
  const dialog = el(
    "dialog",
    { id, "aria-labelledby": heading, class: wide ? "roomy" : null },
    el(
      "div",
      { class: "dialog-head" },
      el("h2", { id: heading }, said(title)),
      button("Close", () => dialog.close(""), { icon: "close", hideLabel: true }),
    ),
    el("div", { class: "dialog-body" }, body),
  );
  if ([foot].flat().length) dialog.append(append(el("div", { class: "dialog-foot" }), foot));
  dialog.addEventListener("close", () => {
    dialog.remove();
    closed(dialog.returnValue);
  });
  // a click on what lies behind it
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close(""));
  document.getElementById("dialogs").append(dialog);
  dialog.showModal();
  return dialog;
}

/** Ask before something that cannot be undone. Resolves to whether it is wanted. */
export function confirmed({ title, text, action, danger = true }) {
  return new Promise((resolve) => {
    const yes = button(action, () => dialog.close("yes"), { class: danger ? "outlined danger" : "solid" });
    const dialog = openDialog({
      title,
      body: el("p", {}, said(text)),
      foot: [button("Cancel", () => dialog.close("")), yes],
      closed: (value) => resolve(value === "yes"),
    });
    yes.focus();
  });
}

/** Let menus (`details.menu`) close on Escape, on a click elsewhere, and when focus leaves them. */
export function listenForMenus() {
  const open = () => document.querySelectorAll("details.menu[open]");
  const within = (menu, target) => target instanceof Node && menu.contains(target);
  for (const event of ["pointerdown", "focusin"]) {
    document.addEventListener(event, ({ target }) => {
      for (const menu of open()) if (!within(menu, target)) menu.open = false;
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of open()) {
      menu.open = false;
      menu.querySelector("summary").focus();
      event.preventDefault();
    }
  });
}

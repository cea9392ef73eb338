// Dialogs, a question before something is gone for good, and menus.

import { button, el, onEscape, said } from "./dom.js";
import { say } from "./language.js";

/**
 * Open a dialog, and return it; it is removed when it is closed.
 * `body` and `foot` are its children; `closed` is told of its return value.
 */
export function openDialog({ title, body, foot, closed = () => {}, id = null, kind = "" }) {
	const close = button(say("close"), () => dialog.close(""), { alone: "close" });
	const dialog = el(
		"dialog",
		{ id, class: kind, "aria-labelledby": "dialog-title" },
		el("div.dialog-head", el("h2", { id: "dialog-title" }, said(title)), close),
		el("div.dialog-body", body),
		foot && el("div.dialog-foot", foot),
	);
	dialog.addEventListener("close", () => {
		dialog.remove();
		closed(dialog.returnValue);
	});
	// a click on what lies behind it
	dialog.addEventListener("click", (event) => event.target === dialog && dialog.close(""));
	document.body.append(dialog);
	dialog.showModal();
	return dialog;
}

/** Ask before something that cannot be undone. Resolves to whether it is wanted. */
export function confirmed({ title, text, action }) {
	return new Promise((resolve) => {
		const yes = button(action, () => dialog.close("yes"), { class: "outlined danger" });
		const foot = [button(say("cancel"), () => dialog.close("")), yes];
		const dialog = openDialog({ title, body: el("p", said(text)), foot, closed: (value) => resolve(value === "yes") });
		yes.focus();
	});
}

/** Let menus (`details.menu`) close on Escape, on a click elsewhere, and when focus leaves them. */
export function listenForMenus() {
	const close = ({ target, type }) => {
		// pressing on a label gives the focus to what is around the menu, which is not left by that
		const around = (menu) => type === "focusin" && target.contains(menu);
		for (const menu of document.querySelectorAll("details.menu[open]")) {
			if (!menu.contains(target) && !around(menu)) menu.open = false;
		}
	};
	document.addEventListener("pointerdown", close);
	document.addEventListener("focusin", close);
	onEscape(() => {
		const menu = document.querySelector("details.menu[open]");
		if (!menu) return false;
		menu.open = false;
		menu.querySelector("summary").focus();
		return true;
	});
}

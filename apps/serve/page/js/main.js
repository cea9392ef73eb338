// The page: who is there, what they may see, and its parts put in place.

import { get, remove } from "./api.js";
import { composer } from "./ask.js";
import { askingOptions } from "./choosing.js";
import { listenForMenus } from "./dialog.js";
import { openDocuments } from "./documents.js";
import { announce, button, el, fill, icon, onEscape, tried, trouble } from "./dom.js";
import { openSettings } from "./settings.js";
import { closeSide, narrow } from "./side.js";
import { openSource } from "./source.js";
import { asked, keep, kept, state } from "./state.js";
import { showThread, threadList } from "./threads.js";
import { signIn, terms, welcome } from "./welcome.js";

const at = (id) => document.getElementById(id);
const [room, aside, nav, form, toggle] = ["conversation", "side", "threads", "composer", "threads-toggle"].map(at);
const THEMES = ["system", "light", "dark"];
const crowded = () => matchMedia("(max-width: 96rem)").matches;

const asking = composer(form, room, { open: openSource, began, answered: () => threads.refresh(), refused: start });
const threads = threadList(nav, { start: () => go(null) });

/** Find out who is there, and show what they may see. */
async function start() {
	try {
		state.me = await get("me");
		state.collections = await get("collections");
	} catch (error) {
		form.hidden = true;
		at("app").classList.add("out");
		state.thread = undefined; // what stands in the room now is none
		at("terms").textContent = terms();
		if (error.status === 401) return signIn(room, start);
		return fill(room, el("div.welcome", trouble(error, start)));
	}
	state.settings = kept("settings", {});
	state.chosen = kept("collections", null);
	form.hidden = false;
	at("app").classList.remove("out");
	at("terms").textContent = terms();
	at("sign-out").hidden = !state.me.needs_key;
	showOptions();
	await Promise.all([threads.refresh(), follow()]);
	read(500);
}

/** Ask for the collections again, at longer and longer times, while one is being read. */
async function read(wait) {
	if (wait > 32_000 || !state.collections.some((one) => one.trouble)) return;
	await new Promise((done) => setTimeout(done, wait));
	const found = await get("collections").catch(() => state.collections);
	if (JSON.stringify(found) !== JSON.stringify(state.collections)) {
		state.collections = found;
		showOptions();
		if (room.querySelector("section.welcome")) showWelcome();
	}
	read(wait * 1.5);
}

function showOptions() {
	askingOptions(asking.options, () => {
		keep("collections", state.chosen);
		if (room.querySelector(".welcome")) showWelcome();
	});
}

function showWelcome() {
	welcome(room, async (questions) => {
		room.replaceChildren();
		for (const question of questions) if (!(await asking.ask(question))) return;
	});
}

function showEmpty() {
	showWelcome();
	if (!narrow()) asking.field.focus(); // which brings up the keyboard of a phone
}

/** Open what the address names: a thread, or nothing. */
async function follow() {
	const id = new URLSearchParams(location.hash.slice(1)).get("thread");
	if (id === state.thread && (id || room.firstChild)) return;
	asking.stop();
	closeSide();
	state.thread = id;
	threads.mark();
	if (!id) return showEmpty();
	try {
		await showThread(id, room, openSource);
	} catch (error) {
		if (state.thread !== id) return;
		if (error.status === 401) return start();
		fill(room, el("div.welcome", trouble(error, () => go(null), "New conversation")));
	}
}

function go(id) {
	if (narrow()) showThreads(false);
	if (!id && !state.thread) {
		asking.stop();
		showEmpty();
	}
	location.hash = id ? `#thread=${encodeURIComponent(id)}` : "#";
}

function began(id) {
	room.querySelector(".welcome")?.remove();
	if (!id || state.thread === id) return;
	state.thread = id;
	history.replaceState(null, "", `#thread=${encodeURIComponent(id)}`);
}

function showThreads(shown) {
	nav.hidden = !shown;
	toggle.setAttribute("aria-expanded", String(shown));
}

function showTheme(theme) {
	if (theme === "system") delete document.documentElement.dataset.theme;
	else document.documentElement.dataset.theme = theme;
	const named = `Colours: ${theme}`;
	for (const name of ["aria-label", "title"]) at("theme-switch").setAttribute(name, named);
	fill(at("theme-switch"), icon(theme));
	return named;
}

function setUp() {
	for (const place of document.querySelectorAll("[data-icon]")) place.prepend(icon(place.dataset.icon));
	listenForMenus();
	onEscape(closeSide);
	onEscape(() => {
		if (nav.hidden || !narrow()) return false;
		showThreads(false);
		toggle.focus();
		return true;
	});
	let theme = document.documentElement.dataset.theme ?? "system";
	showTheme(theme);
	at("theme-switch").addEventListener("click", () => {
		theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
		keep("theme", theme);
		announce(showTheme(theme));
	});
	showThreads(!narrow() && kept("threads-open", true));
	toggle.addEventListener("click", () => {
		showThreads(nav.hidden);
		if (!narrow()) keep("threads-open", !nav.hidden);
	});
	// a source needs the room
	aside.addEventListener("shown", ({ detail }) => {
		if (crowded()) showThreads(!detail && !narrow() && kept("threads-open", true));
	});
	nav.addEventListener("click", ({ target }) => narrow() && target.closest("a[href^='#']") && showThreads(false));
	at("settings-open").addEventListener("click", openSettings);
	at("documents-open").addEventListener("click", () => openDocuments(asked()[0]));
	const leave = async () => (await tried(() => remove("session"))) && location.reload();
	at("bar-tools").append(button("Sign out", leave, { id: "sign-out", hidden: true }));
	addEventListener("hashchange", follow);
	document.addEventListener("collections-changed", showOptions);
	document.addEventListener("ask-about", ({ detail }) => {
		const { field } = asking;
		field.value = `${[field.value.trim(), detail.label].filter(Boolean).join(" ")} `;
		field.dispatchEvent(new Event("input"));
		field.focus();
	});
}

setUp();
start();

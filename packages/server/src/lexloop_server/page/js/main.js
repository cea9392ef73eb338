// The page: who is there, what they may see, and its parts put in place.

import { get, remove } from "./api.js";
import { composer } from "./ask.js";
import { askingOptions } from "./choosing.js";
import { listenForMenus } from "./dialog.js";
import { openDocuments } from "./documents.js";
import { announce, button, el, fill, icon, onEscape, sign, tried, trouble } from "./dom.js";
import { add, filesPlace, listenForFiles, mayAdd, ownCollection, quieten } from "./files.js";
import { say } from "./language.js";
import { closeSide, narrow } from "./side.js";
import { asked, hasWorkbench, hooks, keep, kept, state } from "./state.js";
import { showShared } from "./sharing.js";
import { showThread, threadList } from "./threads.js";
import { signIn, terms, welcome } from "./welcome.js";
import { isTool, openTool, TOOLS } from "./work.js";

const at = (id) => document.getElementById(id);
const [room, nav, form, foot] = ["conversation", "threads", "composer", "terms"].map(at);
const THEMES = ["system", "light", "dark"];
const colours = document.documentElement.dataset;
const crowded = () => matchMedia("(max-width: 96rem)").matches;
let opening = null;
Object.assign(hooks, { added, adding, askAbout, askOnly, asking: beginning, began, collectionsChanged: changed, focusField, refused: start, sideShown, start: () => go(null) });
const asking = composer(form, room);
const toolLink = ([name, drawn]) => el("a.quiet", { href: `#tool=${name}`, id: `${name}-open` }, icon(drawn), say(`work.${name}`));
const threads = threadList(nav, Object.entries(TOOLS).map(toolLink));
hooks.answered = threads.refresh;
const leave = async () => (await tried(() => remove("session"))) && location.reload();
const toggle = button(say("threads"), () => keepThreads(nav.hidden), { alone: "menu", id: "threads-toggle", "aria-controls": "threads" });
const themeSwitch = button("", turnTheme);
const signOut = button(say("signout"), leave, { id: "sign-out", hidden: true });

async function start() {
	state.settings = kept("settings", {});
	state.chosen = kept("collections", null);
	try {
		state.me = await get("me");
		showIn(true);
		if (!/^#(thread|tool|shared)=/.test(location.hash)) showEmpty(); // a person types while the collections come
		state.collections = await get("collections");
	} catch (error) {
		showIn(false);
		state.thread = undefined; // what stands in the room now is none
		if (error.status === 401) return signIn(room, start);
		return replaced(el("div.welcome", trouble(error, start)));
	}
	showOptions();
	await Promise.all([threads.refresh(), follow()]);
	read(500);
}

function showIn(within) {
	settled();
	form.hidden = !within;
	fill(asking.attaching, within && mayAdd() && attaching());
	at("app").classList.toggle("out", !within);
	at("terms").textContent = terms();
	signOut.hidden = !state.me?.needs_key;
	for (const name of Object.keys(TOOLS)) at(`${name}-open`).hidden = !hasWorkbench();
	if (within && !narrow()) asking.field.focus();
}

/** Ask for the collections again, at longer and longer times, while one is being read or tried. */
async function read(wait) {
	if (wait > 32_000 || !state.collections.some((one) => one.trouble || one.trying)) return;
	await new Promise((done) => setTimeout(done, wait));
	const found = await get("collections").catch(() => state.collections);
	if (JSON.stringify(found) !== JSON.stringify(state.collections)) {
		state.collections = found;
		showOptions();
	}
	read(wait * 1.5);
}

function changed() {
	showOptions();
	read(500);
}

function showOptions() {
	askingOptions(asking.options, () => {
		keep("collections", state.chosen);
		opening?.show();
	});
	opening?.show();
}

/** Show the opening screen, which has the composer in it. */
function showEmpty() {
	state.thread = null;
	opening = welcome(room, [form, filesPlace], asking.ask);
	if (state.collections.length) opening.show();
	if (!narrow()) focusField(); // which brings up the keyboard of a phone
}

/** Put the composer back below the conversation. */
function settled() {
	if (!opening) return;
	opening = null;
	const focused = document.activeElement === asking.field;
	foot.before(filesPlace, form);
	if (focused) asking.field.focus();
}

/** What was the opening screen becomes a conversation. */
function beginning() {
	settled();
	quieten();
	room.querySelector(".welcome")?.remove();
}

/** Show this in the place of the conversation. */
function replaced(shown) {
	settled();
	fill(room, shown);
}

function focusField() {
	if (!form.hidden) asking.field.focus();
}

/** Open what the address names: a thread, or nothing. */
async function follow() {
	const place = new URLSearchParams(location.hash.slice(1));
	const tool = place.get("tool");
	for (const name of Object.keys(TOOLS)) at(`${name}-open`).ariaCurrent = name === tool ? "page" : null;
	if (isTool(tool) && hasWorkbench()) return work(tool);
	if (place.get("shared")) return shared(place.get("shared"));
	form.hidden = false;
	const id = place.get("thread");
	if (id === state.thread && (id || room.firstChild)) return;
	asking.stop();
	closeSide();
	state.thread = id;
	threads.mark();
	if (!id) return showEmpty();
	settled();
	try {
		await showThread(id, room, asking.ask);
	} catch (error) {
		if (state.thread !== id) return;
		if (error.status === 401) return start();
		replaced(el("div.welcome", trouble(error, () => go(null), say("threads.new"))));
	}
}

/** Show another's conversation, in which nothing is asked. */
async function shared(id) {
	leaveConversation();
	try {
		await showShared(id, room);
	} catch (error) {
		if (error.status === 401) return start();
		fill(room, el("div.welcome", trouble(error, () => go(null), say("threads.new"))));
	}
}

/** Let a tool take the place of the conversation, which is loaded anew when it comes back. */
function work(tool) {
	leaveConversation();
	return openTool(tool, room);
}

function leaveConversation() {
	asking.stop();
	closeSide();
	settled();
	state.before = state.thread ?? state.before;
	state.thread = undefined;
	threads.mark();
	form.hidden = true;
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
	state.thread ??= null;
	if (!id || state.thread === id) return;
	state.thread = id;
	history.replaceState(null, "", `#thread=${encodeURIComponent(id)}`);
}

function showThreads(shown) {
	nav.hidden = !shown;
	toggle.ariaExpanded = shown;
}

function keepThreads(shown) {
	showThreads(shown);
	if (!narrow()) keep("threads-open", shown);
}

/** A source needs the room. */
function sideShown(shown) {
	if (crowded()) showThreads(!shown && !narrow() && kept("threads-open", true));
	if (!filesPlace.isConnected) opening ? form.after(filesPlace) : form.before(filesPlace);
}

/** Where files go that are added now. */
function adding() {
	return document.querySelector("#side .documents")?.dataset.collection ?? ownCollection();
}

/** What was added is asked next, where it was added to ask it. */
function added(collection) {
	if (document.querySelector("#side .documents")) return;
	state.chosen = state.collections.length > 1 ? [collection] : null;
	keep("collections", state.chosen);
	showOptions();
	focusField();
}

function attaching() {
	const input = el("input", { type: "file", multiple: true, hidden: true, "data-testid": "attach" });
	input.addEventListener("change", () => {
		add([...input.files], adding());
		input.value = "";
	});
	return [input, button(say("files.add"), () => input.click(), { alone: "attach", id: "attach" })];
}

function askAbout(label) {
	const { field } = asking;
	field.value = `${[field.value.trim(), label].filter(Boolean).join(" ")} `;
	field.dispatchEvent(new Event("input"));
	field.focus();
}

/** Ask a document, or a passage of it, alone from now on. */
function askOnly(only) {
	state.only = only;
	if (form.hidden) location.hash = "#";
	showOptions();
	focusField();
}

function showTheme(theme) {
	if (theme === "system") delete colours.theme;
	else colours.theme = theme;
	themeSwitch.ariaLabel = themeSwitch.title = say(`colours.${theme}`);
	fill(themeSwitch, icon(theme));
}

function turnTheme() {
	const theme = THEMES[(THEMES.indexOf(colours.theme ?? "system") + 1) % THEMES.length];
	keep("theme", theme);
	showTheme(theme);
	announce(themeSwitch.title);
}

function setUp() {
	document.querySelector(".skip").textContent = say("skip");
	// what a screen reader says of marks, and the page where files are held over it
	for (const name of ["added", "cited", "end", "lead", "letgo", "removed"]) {
		document.documentElement.style.setProperty(`--said-${name}`, JSON.stringify(` ${say(`css.${name}`)} `));
	}
	nav.ariaLabel = say("threads");
	form.ariaLabel = say("ask.form");
	form.before(filesPlace);
	listenForFiles(asking.field);
	const tools = [
		sign(say("documents"), "documents", () => openDocuments(asked()[0]), { id: "documents-open" }),
		sign(say("settings"), "settings", () => tried(async () => (await import("./settings.js")).openSettings()), { id: "settings-open" }),
	];
	fill(at("bar"), toggle, el("h1.brand", "Lexloop"), el("div.bar-tools", tools, themeSwitch, signOut));
	showTheme(colours.theme ?? "system");
	showThreads(!narrow() && kept("threads-open", true));
	nav.addEventListener("click", ({ target }) => narrow() && target.closest("a[href^='#']") && showThreads(false));
	listenForMenus();
	onEscape(closeSide);
	onEscape(() => {
		if (nav.hidden || !narrow()) return false;
		showThreads(false);
		toggle.focus();
		return true;
	});
	addEventListener("hashchange", follow);
}

setUp();
start();

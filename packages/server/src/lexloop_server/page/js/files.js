// Files that are added: each with how far it is, and why it was not taken, until it is dismissed.

import { events, get, post } from "./api.js";
import { announce, button, el, fill, icon, said } from "./dom.js";
import { counted, say } from "./language.js";
import { asked, collectionNamed, hooks, keep, kept, state, titleOf } from "./state.js";
import { batches, dropped, pathOf, send, sendAll } from "./upload.js";
import { described } from "./words.js";

const MOST_SHOWN = 6;
const MOST_KEPT = 50;
const TROUBLED = ["refused", "unread", "partly", "there"];
const STAGES = ["waiting", "loading", "reading", "recognising", "embedding", "indexing"];
const SIGNS = { ready: "check", refused: "close", unread: "close", partly: "more", there: "documents" };

/** {name, collection, state, reason, file}; the state is sending, reading, ready or one of the troubled. */
let rows = kept("files", []);
let progress = null;
let stopping = null;
const following = new Map();

/** Where the files are shown, in the page or beside the documents. */
export const filesPlace = el("section.files", { id: "files", "aria-label": say("files"), hidden: true });

export const mayAdd = () => Boolean(state.me?.may_upload);

/** Buttons with pickers of files, and of a folder; `collection` is told when files were chosen. */
export function pickers(collection) {
	const pick = (label, testid, props) => {
		const input = el("input", { type: "file", multiple: true, hidden: true, "data-testid": testid, ...props });
		input.addEventListener("change", () => {
			add([...input.files], collection());
			input.value = "";
		});
		return [input, button(label, () => input.click(), { class: "outlined", icon: "upload" })];
	};
	return [pick(say("files.choose"), "files"), pick(say("files.folder"), "folder", { webkitdirectory: true })];
}

/** A place to drop files on, or to choose them at. */
export function dropPlace(collection) {
	const hosts = state.me?.hosts ?? [];
	const goes = hosts.length ? say("files.goes", { hosts: hosts.join(", ") }) : say("files.stays");
	return el(
		"div.drop",
		el("p", say("files.drop")),
		el("div.acts", pickers(collection)),
		el("p.hint", `${say("files.kinds")} ${goes}`),
	);
}

/** Let files be dropped anywhere, and pasted into a field. */
export function listenForFiles(field) {
	const holds = (event) => mayAdd() && event.dataTransfer?.types.includes("Files");
	const over = (event) => {
		if (!holds(event)) return;
		event.preventDefault();
		document.body.classList.toggle("dropping", event.type === "dragover");
		if (event.type === "drop") dropped(event.dataTransfer).then((files) => add(files, hooks.adding()));
	};
	for (const type of ["dragover", "dragleave", "drop"]) document.addEventListener(type, over);
	field.addEventListener("paste", (event) => {
		if (!mayAdd() || !event.clipboardData.files.length) return;
		event.preventDefault();
		add([...event.clipboardData.files], hooks.adding());
	});
}

/** The collection that takes files which are added to the field: the one asked, or one of one's own. */
export function ownCollection() {
	const names = asked();
	const own = (name) => collectionNamed(name)?.may_change;
	if (names.length === 1 && own(names[0])) return names[0];
	return state.collections.find((one) => one.may_change)?.name ?? null;
}

/** Send files to a collection, made where it is null, and follow them until they can be asked. */
export async function add(chosen, collection, replace = null) {
	// what a system hides is not what was meant
	const files = chosen.filter((file) => !/(^|\/)\./.test(pathOf(file)));
	if (!files.length) return;
	let mine = [];
	try {
		const into = collection ?? (await made());
		rows = rows.filter((row) => row.collection !== into || !files.some((file) => pathOf(file) === row.name));
		mine = files.map((file) => ({ name: pathOf(file), collection: into, state: "sending", file }));
		rows = [...mine, ...rows];
		announce(say("files.sending", { files: counted(files.length, "file") }));
		const added = await sent(files, into, mine, replace);
		if (added && (await follow(into)) && hooks.added) hooks.added(into);
	} catch (error) {
		for (const row of mine) if (row.state === "sending") Object.assign(row, { state: "refused", reason: error.message });
		if (!mine.length) rows = [...files.map((file) => ({ name: pathOf(file), collection: "", state: "refused", reason: error.message })), ...rows];
	}
	progress = stopping = null;
	show();
}

async function made() {
	const { name } = await post("collections", { name: say("files.mine") });
	await refresh();
	return name;
}

async function refresh() {
	state.collections = await get("collections");
	hooks.collectionsChanged();
}

async function sent(files, collection, mine, replace) {
	const sizeOf = (some) => some.reduce((sum, file) => sum + file.size, 0);
	const all = sizeOf(files);
	const lists = batches(files);
	const stop = (stopping = new AbortController());
	const row = (name) => mine.find((one) => one.name === name) ?? {};
	let added = 0;
	const one = (some) => {
		const before = all - sizeOf(lists.flat());
		const told = (bytes) => tell(say("files.sending", { files: counted(files.length, "file") }), before + bytes, all);
		told(0);
		return send(collection, some, { replace, told, signal: stop.signal });
	};
	for await (const answer of sendAll(lists, one)) {
		for (const name of answer.added) Object.assign(row(name), { state: "reading" });
		for (const { name, reason, exists } of answer.refused) Object.assign(row(name), { state: exists && !replace ? "there" : "refused", reason });
		added += answer.added.length;
		show();
	}
	stopping = null;
	return added;
}

/** A question was asked: what is ready has been told, what is in the way is closed. */
export function quieten() {
	rows = rows.filter((row) => row.state !== "ready");
	show();
	const told = filesPlace.querySelector("details");
	if (told && !progress) told.open = false;
}

export const isFollowed = (collection) => following.has(collection);

/** Follow the indexing of a collection, and say what became of each file. Resolves to whether it is done. */
export async function follow(collection) {
	following.get(collection)?.abort();
	const { signal } = following.set(collection, new AbortController()).get(collection);
	try {
		for await (const { event, data } of events("GET", ["collections", collection, "indexing"], { signal })) {
			if (event !== "progress") continue;
			tell(say(`files.stage.${STAGES.includes(data.stage) ? data.stage : "reading"}`), data.done, data.of);
		}
		const { documents, skipped } = await get(["collections", collection, "documents"]);
		for (const row of rows.filter((one) => one.collection === collection && one.state === "reading")) became(row, documents, skipped);
		await refresh();
		announce(say("files.done", { documents: counted(documents.length, "document") }));
		return true;
	} catch (error) {
		if (signal.aborted) return false;
		for (const row of rows) if (row.collection === collection && row.state === "reading") Object.assign(row, { state: "unread", reason: error.message });
		return false;
	} finally {
		if (!signal.aborted) {
			progress = null;
			following.delete(collection);
		}
		show();
		if (!signal.aborted) hooks.filesRead?.(collection);
	}
}

function became(row, documents, skipped) {
	const within = (name) => name === row.name || name.startsWith(`${row.name}/`);
	const lost = skipped.find((one) => within(one.name));
	const found = documents.filter((one) => one.file === row.name || within(one.name));
	const pages = found.reduce((sum, one) => sum + one.pages, 0);
	if (!lost) Object.assign(row, { state: "ready", reason: described([found.length > 1 && counted(found.length, "document"), pages > 0 && counted(pages, "page")]) });
	else Object.assign(row, { state: found.length ? "partly" : "unread", reason: lost.reason });
}

function tell(label, done, of) {
	const percent = of > 0 ? Math.min(100, Math.floor((100 * done) / of)) : 0;
	progress = { words: of > 1 ? `${label}: ${percent} %` : `${label} …`, percent };
	const bar = filesPlace.querySelector("progress");
	// an element that stays is not read out at every step
	if (!bar) return show();
	bar.value = percent;
	filesPlace.querySelector("#work-label").textContent = progress.words;
}

function show() {
	keep("files", rows.filter((row) => TROUBLED.includes(row.state) && row.state !== "there").slice(0, MOST_KEPT).map(({ file, ...row }) => row));
	filesPlace.hidden = !rows.length && !progress;
	const sorted = rows.toSorted((a, b) => TROUBLED.includes(b.state) - TROUBLED.includes(a.state));
	const there = rows.filter((row) => row.state === "there");
	const over = rows.filter((row) => !["sending", "reading"].includes(row.state));
	const bar = progress && el("progress", { max: 100, value: progress.percent, "aria-labelledby": "work-label" });
	const counts = Map.groupBy(sorted, (row) => row.state);
	const summary = [...counts].map(([state, some]) => `${counted(some.length, "file")} ${say(`files.${state}`)}`);
	const left = rows.length - MOST_SHOWN;
	fill(
		filesPlace,
		progress && el("div.work", el("p", { id: "work-label" }, progress.words), bar, stopping && button(say("stop"), () => stopping?.abort())),
		rows.length > 0 &&
			el(
				"details",
				{ open: filesPlace.querySelector("details")?.open ?? true },
				el("summary", described(summary)),
				el("ul", sorted.slice(0, MOST_SHOWN).map(shown)),
				left > 0 && el("details.reasons", el("summary", say("files.more", { files: counted(left, "file") })), el("ul", sorted.slice(MOST_SHOWN).map(shown))),
				el(
					"div.acts",
					there.length > 1 && button(say("files.replaceall", { files: counted(there.length, "file") }), () => replaced(there), { class: "outlined" }),
					over.length > 1 && button(say("files.dismissall"), () => dismiss(over)),
				),
			),
	);
}

function shown(row) {
	const told = [say(`files.${row.state}`), row.reason];
	return el(
		"li",
		{ data: { state: row.state, testid: "file" } },
		el("span.seal", SIGNS[row.state] && icon(SIGNS[row.state])),
		el("p", el("strong", said(row.name)), el("span.detail", row.collection && [said(titleOf(row.collection)), " · "], said(told.filter(Boolean).join(": ")))),
		row.state === "there" && row.file && button(say("files.replace"), () => replaced([row]), { class: "outlined" }),
		!["sending", "reading"].includes(row.state) && button(say("files.dismiss", row), () => dismiss([row]), { alone: "close" }),
	);
}

function dismiss(some) {
	rows = rows.filter((row) => !some.includes(row));
	show();
	hooks.focusField();
}

function replaced(some) {
	for (const [collection, its] of Map.groupBy(some, (row) => row.collection)) add(its.map((row) => row.file), collection, true);
}

show();

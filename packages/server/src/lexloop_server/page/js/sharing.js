// A conversation that people of the same server may read by its link.

import { answerView, turnView } from "./answer.js";
import { get, put, remove } from "./api.js";
import { openDialog } from "./dialog.js";
import { button, copy, el, field, fill, said, tried } from "./dom.js";
import { counted, say } from "./language.js";

/** Make the link to a conversation of one's own, and show it with a way to withdraw it. */
export function shareThread(thread) {
	tried(async () => {
		const { id } = await put(["threads", thread.id, "link"]);
		const address = new URL(`#shared=${encodeURIComponent(id)}`, document.baseURI).href;
		const shown = el("input", { id: "share-link", readonly: true, value: address });
		const withdraw = async () => {
			if (await tried(() => remove(["threads", thread.id, "link"]))) dialog.close("");
		};
		const body = [el("p", say("share.who")), field(say("share.link"), shown)];
		const foot = [button(say("share.withdraw"), withdraw, { class: "outlined danger" }), button(say("copy"), () => copy(address, say("copied")), { class: "solid" })];
		const dialog = openDialog({ title: say("share.title", thread), body, foot });
		shown.select();
	});
}

// what is told of one's own answers alone
const UNTOLD = { usage: null, degraded: [], passages: [] };

/** Show another's conversation: what of it rests on documents that one may see. */
export async function showShared(id, room) {
	const { person, title, turns, left_out: left } = await get(["shared", id]);
	const shown = turns.map((answer) => {
		const { article, body } = turnView(answer.question, {});
		fill(body, answerView({ ...UNTOLD, ...answer }, null, false));
		return article;
	});
	const head = el("header.shared-head", title && el("h2.question", { dir: "auto" }, said(title)), el("p.note", say("share.of", { person: said(person) }), left > 0 && [" ", say("share.left", { answers: counted(left, "answer") })]));
	fill(room, head, shown);
}

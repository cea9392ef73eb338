// Earlier conversations: listed, opened, renamed, exported, deleted.

import { answerView, exportsOf, turnView } from "./answer.js";
import { get, patch, remove } from "./api.js";
import { confirmed } from "./dialog.js";
import { announce, button, el, fill, form, icon, said, tried } from "./dom.js";
import { say } from "./language.js";
import { shareThread } from "./sharing.js";
import { hooks, state } from "./state.js";
import { when } from "./words.js";

const TURNS = 20;
const THREADS = 100;

/** Fill the list of conversations below the `tools`, and return {refresh, mark}. */
export function threadList(nav, tools) {
	const list = el("ul.thread-list", { "data-testid": "threads" });
	const problem = el("p.hint");
	const older = button(say("threads.earlier"), () => load(list.lastElementChild.dataset.id), { hidden: true });
	fill(nav, button(say("threads.new"), hooks.start, { icon: "add", id: "new-thread", class: "outlined" }), el("div.tool-list", tools), problem, list, older);

	async function load(before) {
		try {
			const { threads } = await get("threads", { before, limit: THREADS });
			if (!before) fill(list);
			list.append(...threads.map(row));
			mark();
			older.hidden = threads.length < THREADS;
			problem.textContent = list.firstChild ? "" : say("threads.none");
		} catch (error) {
			problem.textContent = error.message;
		}
	}
	function mark() {
		for (const item of list.children) {
			const link = item.querySelector("a");
			if (link) link.ariaCurrent = item.dataset.id === state.thread ? "page" : null;
		}
	}
	function row(thread) {
		const item = el("li", { data: { id: thread.id } });
		const words = [said(thread.title), el("span.detail", when(thread.updated))];
		const renamed = () => {
			fill(item, renaming(thread, item));
			item.querySelector("input").select();
		};
		const sheet = el(
			"div.sheet",
			button(say("threads.rename"), renamed, { icon: "edit" }),
			exportsOf("threads", thread.id),
			state.me?.needs_key && button(say("share"), () => shareThread(thread), { icon: "share" }),
			button(say("delete"), () => gone(thread), { icon: "remove", class: "quiet danger" }),
		);
		const more = el("summary.quiet.icon", { "aria-label": say("threads.more", thread) }, icon("more"));
		const link = el("a", { href: `#thread=${encodeURIComponent(thread.id)}` }, words);
		return fill(item, link, el("details.menu", more, sheet));
	}
	function renaming(thread, item) {
		const back = () => {
			const shown = row(thread);
			item.replaceWith(shown);
			mark();
			shown.querySelector("a").focus();
		};
		const keydown = (event) => {
			if (event.key !== "Escape") return;
			event.preventDefault();
			back();
		};
		const field = el("input", { value: thread.title, "aria-label": say("threads.name"), maxlength: 200, on: { keydown } });
		const renamed = async () => {
			const title = field.value.trim();
			const kept = await tried(async () => title && Object.assign(thread, await patch(["threads", thread.id], { title })));
			if (kept) back();
			else field.focus();
		};
		const keep = el("button.quiet.icon", { "aria-label": say("threads.keep") }, icon("check"));
		return form("form.renaming", renamed, field, keep);
	}
	async function gone(thread) {
		const text = say("threads.gone", thread);
		if (!(await confirmed({ title: say("threads.delete"), text, action: say("delete") }))) return;
		await tried(async () => {
			await remove(["threads", thread.id]);
			announce(say("threads.deleted"));
			if (thread.id === state.thread) hooks.start();
		});
		await load();
	}
	return { refresh: () => load(), mark };
}

/** Show a conversation's last turns, and the earlier ones as they are wanted; `ask` asks on. */
export async function showThread(id, room, ask) {
	const page = async (before) => (await get(["threads", id], { limit: TURNS, before })).turns;
	const shown = (answer, last = false) => {
		const { article, body } = turnView(answer.question, { again: ask, id: answer.id });
		fill(body, answerView(answer, last && ask));
		return article;
	};
	const more = async () => {
		earlier.disabled = true;
		await tried(async () => {
			const next = earlier.nextElementSibling;
			const turns = await page(next.dataset.id);
			if (state.thread !== id) return;
			earlier.after(...turns.map((one) => shown(one)));
			next.scrollIntoView();
			earlier.hidden = turns.length < TURNS;
		});
		earlier.disabled = false;
	};
	const turns = await page();
	if (state.thread !== id) return; // another was opened meanwhile
	const earlier = button(say("threads.questions"), more, { class: "outlined earlier", hidden: turns.length < TURNS });
	fill(room, earlier, turns.map((one) => shown(one, one === turns.at(-1))));
	room.lastElementChild.scrollIntoView();
}

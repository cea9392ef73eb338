// Earlier conversations: listed, opened, renamed, exported, deleted.

import { address, get, part, patch, remove } from "./api.js";
import { confirmed } from "./dialog.js";
import { announce, button, el, fill, icon, said } from "./dom.js";
import { flash } from "./answer.js";
import { storedTurn } from "./ask.js";
import { state } from "./state.js";
import { when } from "./words.js";

const TURNS = 20;

/** Fill the list of conversations; `hooks` are told to `start` anew or to `show` one. */
export function threadList(nav, hooks) {
  const list = el("ul", { class: "thread-list", data: { testid: "threads" } });
  const problem = el("p", { class: "hint" });
  fill(nav, button("New conversation", hooks.start, { icon: "add", id: "new-thread", class: "outlined" }), problem, list);

  async function refresh() {
    try {
      const { threads } = await get("threads");
      problem.textContent = threads.length ? "" : "Conversations are kept here.";
      fill(list, threads.map((thread) => row(thread)));
    } catch (error) {
      problem.textContent = error.message;
    }
  }
  function mark() {
    for (const item of list.children) {
      const open = item.querySelector("a");
      if (item.dataset.id === state.thread) open.setAttribute("aria-current", "page");
      else open.removeAttribute("aria-current");
    }
  }
  function row(thread) {
    const title = thread.title || "Untitled";
    const current = thread.id === state.thread ? "page" : null;
    const open = el("a", { href: `#thread=${part(thread.id)}`, "aria-current": current }, said(title), el("span", { class: "detail" }, when(thread.updated)));
    const file = (format, label) =>
      el("a", { class: "quiet", download: true, href: address(`threads/${part(thread.id)}/export`, { format }) }, icon("documents"), label);
    const item = el("li", { data: { id: thread.id } });
    const menu = el(
      "details",
      { class: "menu" },
      el("summary", { class: "quiet icon", "aria-label": `More for ${title}` }, icon("more")),
      el(
        "div",
        { class: "sheet" },
        button("Rename", () => fill(item, renaming(thread, item)) && item.querySelector("input").select(), { icon: "edit" }),
        file("docx", "Export to Word (.docx)"),
        file("md", "Export to Markdown"),
        button("Delete", () => gone(thread, title), { icon: "remove", class: "quiet danger" }),
      ),
    );
    return fill(item, open, menu);
  }
  function renaming(thread, item) {
    const field = el("input", { value: thread.title ?? "", "aria-label": "Name of the conversation", maxlength: 200 });
    const back = () => {
      item.replaceWith(row(thread));
      list.querySelector(`[data-id="${CSS.escape(thread.id)}"] a`)?.focus();
    };
    const named = async (event) => {
      event.preventDefault();
      const title = field.value.trim();
      if (!title) return back();
      try {
        await patch(`threads/${part(thread.id)}`, { title });
        thread.title = title;
        announce("Renamed.");
        return back();
      } catch (error) {
        flash(error.message);
        return field.focus();
      }
    };
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      back();
    });
    return el("form", { class: "renaming", on: { submit: named } }, field, el("button", { type: "submit", class: "quiet icon", "aria-label": "Keep the name" }, icon("check")));
  }
  async function gone(thread, title) {
    const text = `“${title}” and its answers are deleted for good.`;
    if (!(await confirmed({ title: "Delete this conversation?", text, action: "Delete" }))) return;
    try {
      await remove(`threads/${part(thread.id)}`);
      announce("Deleted.");
      if (thread.id === state.thread) hooks.start();
    } catch (error) {
      flash(error.message);
    }
    await refresh();
  }
  return { refresh, mark };
}

/**
 * Show a conversation's last turns, and the earlier ones as they are wanted.
 * Nothing is shown where another was opened meanwhile.
 */
export async function showThread(id, room, open) {
  const page = (before) => get(`threads/${part(id)}`, { query: { limit: TURNS, before } });
  const first = await page();
  if (state.thread !== id) return;
  const earlier = button("Earlier questions", more, { class: "outlined earlier" });
  let oldest = first.turns?.[0]?.id;
  fill(room, first.turns.length === TURNS && earlier, first.turns.map((turn) => storedTurn(turn, open)));
  room.lastElementChild?.scrollIntoView({ block: "start" });

  async function more() {
    earlier.disabled = true;
    try {
      const { turns } = await page(oldest);
      if (state.thread !== id) return;
      oldest = turns[0]?.id ?? oldest;
      const next = earlier.nextElementSibling;
      earlier.after(...turns.map((turn) => storedTurn(turn, open)));
      next?.scrollIntoView({ block: "start" });
      if (turns.length < TURNS) earlier.remove();
    } catch (error) {
      flash(error.message);
    }
    earlier.disabled = false;
  }
}

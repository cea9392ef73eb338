// The page: who is there, what they may see, and its parts put in place.

import { get, remove } from "./api.js";
import { askingOptions, composer } from "./ask.js";
import { flash } from "./answer.js";
import { listenForMenus } from "./dialog.js";
import { openDocuments } from "./documents.js";
import { announce, button, el, fill, icon, said } from "./dom.js";
import { openSettings } from "./settings.js";
import { closeSide, listenForEscape } from "./side.js";
import { openSource } from "./source.js";
import { asked, keep, kept, state } from "./state.js";
import { showThread, threadList } from "./threads.js";
import { signIn, terms, welcome } from "./welcome.js";

const at = (id) => document.getElementById(id);
const [room, aside, nav, form] = ["conversation", "side", "threads", "composer"].map(at);
const THEMES = ["system", "light", "dark"];

const open = (source) => openSource(aside, source);
const asking = composer(form, room, { open, began, answered, refused: start });
const threads = threadList(nav, { start: () => go(null) });

/** Find out who is there, and show what they may see. */
async function start() {
  try {
    state.me = await get("me");
    state.collections = await get("collections");
  } catch (error) {
    form.hidden = true;
    at("terms").textContent = terms();
    if (error.status === 401) return signIn(room, start);
    return fill(room, el("div", { class: "welcome" }, el("p", { class: "note bad", role: "alert" }, said(error.message)), button("Try again", start, { class: "outlined" })));
  }
  state.settings = kept("settings", {});
  state.chosen = kept("collections", null);
  form.hidden = false;
  at("terms").textContent = terms();
  at("sign-out").hidden = !state.me.needs_key;
  showOptions();
  await Promise.all([threads.refresh(), follow()]);
}

function showOptions() {
  askingOptions(asking.options, () => {
    keep("collections", state.chosen);
    if (!state.thread && room.querySelector(".welcome")) showWelcome();
  });
}

function showWelcome() {
  welcome(room, (question) => {
    room.replaceChildren();
    asking.ask(question);
  });
}

/** Open what the address names: a thread, or nothing. */
async function follow() {
  const id = new URLSearchParams(location.hash.slice(1)).get("thread");
  if (id === state.thread && (id || room.firstChild)) return;
  asking.stop();
  closeSide(aside);
  state.thread = id;
  threads.mark();
  if (!id) {
    showWelcome();
    asking.field.focus();
    return;
  }
  try {
    await showThread(id, room, open);
  } catch (error) {
    if (state.thread !== id) return;
    if (error.status === 401) return start();
    fill(room, el("div", { class: "welcome" }, el("p", { class: "note bad", role: "alert" }, said(error.message)), button("New conversation", () => go(null), { class: "outlined" })));
  }
}

function go(id) {
  if (narrow()) showThreads(false);
  const hash = id ? `#thread=${encodeURIComponent(id)}` : "#";
  if (!id && !state.thread) {
    asking.stop();
    showWelcome();
    asking.field.focus();
  }
  location.hash = hash;
}

function began(id) {
  room.querySelector(".welcome")?.remove();
  if (!id || state.thread === id) return;
  state.thread = id;
  history.replaceState(null, "", `#thread=${encodeURIComponent(id)}`);
}

async function answered() {
  await threads.refresh();
}

const narrow = () => matchMedia("(max-width: 60rem)").matches;
const crowded = () => matchMedia("(max-width: 96rem)").matches;

function showThreads(shown) {
  nav.hidden = !shown;
  at("threads-toggle").setAttribute("aria-expanded", String(shown));
}

/** Show or hide the conversations as the reader wants it. */
function chooseThreads(shown) {
  showThreads(shown);
  if (!narrow()) keep("threads-open", shown);
}

function showTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const drawn = { system: "theme", light: "sun", dark: "moon" }[theme];
  const toggle = at("theme-switch");
  toggle.setAttribute("aria-label", `Colours: ${theme}`);
  toggle.title = `Colours: ${theme}`;
  fill(toggle, icon(drawn));
}

function setUp() {
  for (const place of document.querySelectorAll("[data-icon]")) place.prepend(icon(place.dataset.icon));
  listenForEscape(aside);
  listenForMenus();
  let theme = THEMES.includes(document.documentElement.dataset.theme) ? document.documentElement.dataset.theme : "system";
  showTheme(theme);
  at("theme-switch").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    keep("theme", theme === "system" ? null : theme);
    showTheme(theme);
    announce(`Colours: ${theme}`);
  });
  showThreads(!narrow() && kept("threads-open", true));
  at("threads-toggle").addEventListener("click", () => chooseThreads(nav.hidden));
  // a source needs the room
  aside.addEventListener("shown", ({ detail }) => {
    if (crowded()) showThreads(!detail && !narrow() && kept("threads-open", true));
  });
  nav.addEventListener("click", ({ target }) => narrow() && target.closest("a[href^='#']") && showThreads(false));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || nav.hidden || !narrow()) return;
    showThreads(false);
    at("threads-toggle").focus();
  });
  at("settings-open").addEventListener("click", openSettings);
  at("documents-open").addEventListener("click", () => openDocuments(aside, asked()[0] ?? null));
  const leave = async () => {
    try {
      await remove("session");
      location.reload();
    } catch (error) {
      flash(error.message);
    }
  };
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

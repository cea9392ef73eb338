// The composer, and a question while it runs.

import { events } from "./api.js";
import { answerView, heard, questionView, written } from "./answer.js";
import { announce, append, button, el, fill, icon, said } from "./dom.js";
import { asked, state, titleOf } from "./state.js";
import { brought, counted, doing, following, lawAsOf } from "./words.js";

/** Settings with which a question is answered without the model. */
const WITHOUT_MODEL = {
  "retrieval.rewriter": "embedded",
  "answer.generator": "embedded",
  "loop.evaluator": "embedded",
  "loop.prompt_engineer": "embedded",
};
const ANNOUNCED_MS = 1200;

/**
 * Fill the composer, and return {ask, setBusy}.
 * `room` is where turns are added; `hooks` are told of what happens: `open` a source, `began` a
 * thread, `answered`, `refused` for want of a key.
 */
export function composer(form, room, hooks) {
  const field = el("textarea", {
    id: "question", rows: 1, placeholder: "Ask about the law", "aria-label": "Your question", autocomplete: "off",
    enterkeyhint: "send", dir: "auto", "aria-describedby": "composer-hint",
  });
  const send = el("button", { type: "submit", id: "ask", class: "solid icon", "aria-label": "Ask" }, icon("send"));
  const stop = button("Stop", () => running?.abort(), { icon: "stop", id: "stop", class: "outlined", hidden: true });
  const options = el("div", { class: "options" });
  fill(
    form,
    el("div", { class: "writing" }, field, send, stop),
    el("div", { class: "under" }, options, el("p", { class: "hint", id: "composer-hint" }, "Enter asks, Shift+Enter begins a new line")),
  );
  let running = null;
  const ready = () => (send.disabled = !field.value.trim() || running !== null);
  field.addEventListener("input", ready);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const question = field.value.trim();
    if (question && !running) ask(question);
  });

  /** Ask, with further settings for this once. */
  async function ask(question, once = {}) {
    if (running) return;
    running = new AbortController();
    field.value = "";
    stop.hidden = false;
    send.hidden = true;
    const turn = turnOf(question, room);
    try {
      await run(turn, question, once, running.signal);
    } catch (error) {
      if (!field.value.trim()) field.value = question;
      failed(turn, question, once, error);
    } finally {
      running = null;
      const focused = document.activeElement === stop;
      stop.hidden = true;
      send.hidden = false;
      if (focused) field.focus();
      ready();
    }
  }

  async function run(turn, question, once, signal) {
    const steps = progress(turn.body);
    const body = {
      question,
      collections: state.chosen === null ? null : asked(),
      thread: state.thread,
      as_of: state.asOf || null,
      settings: { ...state.settings, ...once },
    };
    const inThread = state.thread;
    for await (const { event, data } of events("POST", "ask", { body, signal })) {
      if (event === "begin") {
        if (state.thread === inThread) hooks.began(data.thread);
        steps.begin(data.collections ?? []);
      } else if (event === "step") steps.step(data);
      else if (event === "token") steps.token(data);
      else if (event === "answer") {
        fill(turn.body, answerView(data, { open: hooks.open, steps: steps.seen }));
        turn.article.dataset.id = data.id;
        announce(heard(data));
        hooks.answered(data);
        return;
      }
    }
    throw Object.assign(new Error("The connection ended before the answer was there."), { hint: "Ask again." });
  }

  function failed(turn, question, once, error) {
    const stopped = error.name === "AbortError";
    const again = (label, more) => button(label, () => {
      turn.article.remove();
      if (field.value.trim() === question) field.value = "";
      ask(question, more);
    }, { class: "outlined" });
    const what = stopped ? "Stopped. The question is in the field below." : error.what ?? error.message;
    const wait = error.retryAfter ? ` Wait ${counted(Math.ceil(error.retryAfter), "second")}.` : "";
    fill(
      turn.body,
      el(
        "div",
        { class: stopped ? "note" : "note bad", data: { testid: "failure", kind: error.kind ?? "" } },
        el("p", {}, el("strong", {}, said(what)), " ", said(error.hint ?? ""), wait),
        again("Ask again", once),
        error.ofModel && again("Answer without the model", { ...once, ...WITHOUT_MODEL }),
      ),
    );
    announce(`${what} ${error.hint ?? ""} The question is kept.`);
    if (error.status === 401) hooks.refused();
  }

  ready();
  return { ask, options, field, busy: () => running !== null, stop: () => running?.abort() };
}

/** Add a turn with its question, and bring it to the top of the room. */
function turnOf(question, room) {
  const body = el("div", { class: "turn-body" });
  const article = append(el("article", { class: "turn", data: { testid: "turn" } }), questionView(question), body);
  room.append(article);
  article.scrollIntoView({ block: "start" });
  return { article, body };
}

/** Show a stored turn. */
export function storedTurn(answer, open) {
  return el(
    "article",
    { class: "turn", data: { testid: "turn", id: answer.id } },
    questionView(answer.question),
    el("div", { class: "turn-body" }, answerView(answer, { open, steps: answer.steps ?? [] })),
  );
}

/** Show the steps as they run and the text as it is written; `seen` are the steps that ended. */
function progress(place) {
  const list = el("ol", { class: "steps", data: { testid: "steps" }, "aria-label": "Steps" });
  const draft = el("div", { class: "prose draft", hidden: true, data: { testid: "draft" } });
  const seen = [];
  const now = new Map();
  let text = "";
  let drawn = false;
  let told = performance.now();
  fill(place, list, draft);

  function show(collection, node) {
    now.get(collection)?.remove();
    now.delete(collection);
    if (!node) return;
    const label = doing(node) + of(collection);
    const item = el("li", { class: "now" }, said(label));
    now.set(collection, item);
    list.append(item);
    // not every step of a quick run, which would only delay the answer
    if (performance.now() - told > ANNOUNCED_MS) {
      told = performance.now();
      announce(label);
    }
  }
  let several = false;
  const of = (collection) => (several && collection ? ` of ${titleOf(collection)}` : "");
  function draw() {
    drawn = false;
    draft.hidden = !text;
    fill(draft, written(text, (numbers) => el("span", { class: "chip waiting" }, numbers.join(", "))));
  }

  return {
    seen,
    begin(collections) {
      several = collections.length > 1;
      show("", several ? "route" : "classify");
    },
    step(step) {
      seen.push(step);
      const collection = several ? step.collection ?? "" : "";
      if (collection) show("", null);
      const told = brought(step);
      show(collection, null);
      list.append(el("li", { class: "done" }, said(doing(step.node) + of(collection)), told && el("span", { class: "detail" }, ` · ${told}`)));
      if (step.node === "engineer_prompt") text = "";
      show(collection, following(step.node));
    },
    token(data) {
      text = (data.restart ? "" : text) + data.text;
      if (drawn) return;
      drawn = true;
      requestAnimationFrame(draw);
    },
  };
}

/** Fill the composer's options: which collections are asked, and the law of which day. */
export function askingOptions(place, changed) {
  fill(place, collectionPicker(changed), dayPicker(changed));
}

function collectionPicker(changed) {
  if (state.collections.length < 2) {
    const only = state.collections[0];
    return only && el("p", { class: "option" }, said(only.title || only.name));
  }
  const label = el("span", {});
  const boxes = state.collections.map((one) =>
    el("input", { type: "checkbox", value: one.name, checked: asked().includes(one.name), on: { change: picked } }),
  );
  const every = el("input", { type: "checkbox", on: { change: () => {
    for (const box of boxes) box.checked = true;
    picked();
  } } });
  function picked() {
    const names = boxes.filter((box) => box.checked).map((box) => box.value);
    // none chosen is no choice: all are asked
    state.chosen = names.length === 0 || names.length === boxes.length ? null : names;
    if (!names.length) for (const box of boxes) box.checked = true;
    show();
    changed();
  }
  function show() {
    const names = asked();
    every.checked = state.chosen === null;
    every.disabled = every.checked;
    label.textContent = state.chosen === null ? "All collections" : names.length === 1 ? titleOf(names[0]) : counted(names.length, "collection");
  }
  show();
  const row = (box, title, more) =>
    el("label", { class: "choice" }, box, el("span", {}, said(title), more && el("span", { class: "detail" }, said(more))));
  return el(
    "details",
    { class: "menu upward", data: { testid: "collections-menu" } },
    el("summary", { class: "quiet option" }, icon("documents"), el("span", { class: "unseen" }, "Collections asked: "), label),
    el(
      "fieldset",
      { class: "sheet" },
      el("legend", { class: "unseen" }, "Collections to ask"),
      row(every, "All collections"),
      state.collections.map((one, at) => row(boxes[at], one.title || one.name, counted(one.documents, "document"))),
    ),
  );
}

function dayPicker(changed) {
  const label = el("span", {}, lawAsOf(state.asOf));
  const field = el("input", { type: "date", id: "as-of", "aria-label": "Day", min: "1000-01-01", max: "9999-12-31", on: { change: () => set(field.value) } });
  if (/^\d/.test(state.asOf)) field.value = state.asOf;
  const radio = (value, text) =>
    el("label", { class: "choice" }, el("input", { type: "radio", name: "as-of", value, checked: value === kind(), on: { change: () => set(value === "day" ? field.value : value) } }), el("span", {}, text));
  const radios = [radio("", "Today"), radio("any", "Any day: all versions"), radio("day", "On this day:")];
  function kind() {
    return /^\d/.test(state.asOf) ? "day" : state.asOf;
  }
  function set(value) {
    state.asOf = value;
    if (/^\d/.test(value)) radios[2].querySelector("input").checked = true;
    label.textContent = lawAsOf(value);
    changed();
  }
  return el(
    "details",
    { class: "menu upward", data: { testid: "as-of-menu" } },
    el("summary", { class: "quiet option" }, icon("calendar"), label),
    el("fieldset", { class: "sheet" }, el("legend", { class: "unseen" }, "Which law answers"), radios, field),
  );
}

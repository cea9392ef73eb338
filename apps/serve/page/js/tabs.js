// What lies behind an answer: passages, relations, plan, attempts, cost. Closed until wanted.

import { el, fill, said } from "./dom.js";
import { relations } from "./graph.js";
import { titleOf } from "./state.js";
import { CLASSES, SIGNALS, brought, counted, doing, labelOf, score, seconds, share, whole } from "./words.js";

let made = 0;

/** Return the closed details of an answer, which are made when they are first opened. */
export function behind(answer, { open, steps }) {
  const place = el("div", {});
  const opened = ({ target }) => {
    if (target.open && !place.firstChild) fill(place, tabs(answer, open, steps));
  };
  return el(
    "details",
    { class: "behind no-print", data: { testid: "behind" }, on: { toggle: opened } },
    el("summary", {}, "How this answer came about"),
    place,
  );
}

function tabs(answer, open, steps) {
  made += 1;
  const parts = [
    ["Passages", () => passages(answer, open)],
    ["Relations", () => relations(answer.triplets ?? [], open)],
    ["Plan", () => plan(answer)],
    ["Attempts", () => attempts(answer)],
    ["Cost", () => cost(answer, steps)],
  ];
  const panels = [];
  const heads = parts.map(([name, make], at) => {
    const id = `tab-${made}-${at}`;
    const panel = el("div", { role: "tabpanel", id: `${id}-panel`, "aria-labelledby": id, tabindex: "0", hidden: true });
    panels.push(panel);
    const choose = () => {
      if (!panel.firstChild) fill(panel, make());
      heads.forEach((head, nth) => {
        head.setAttribute("aria-selected", String(nth === at));
        head.tabIndex = nth === at ? 0 : -1;
        panels[nth].hidden = nth !== at;
      });
    };
    return el(
      "button",
      { type: "button", role: "tab", id, "aria-controls": panel.id, data: { testid: `tab-${name.toLowerCase()}` }, on: { click: choose } },
      name,
    );
  });
  const move = (event) => {
    const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const at = heads.indexOf(document.activeElement);
    const to = Number.isFinite(steps[event.key])
      ? (at + steps[event.key] + heads.length) % heads.length
      : event.key === "Home" ? 0 : heads.length - 1;
    heads[to].focus();
    heads[to].click();
  };
  const list = el("div", { role: "tablist", class: "tabs", "aria-label": "How this answer came about", on: { keydown: move } }, heads);
  heads[0].click();
  return [list, panels];
}

function passages(answer, open) {
  const found = answer.passages ?? [];
  if (!found.length) return el("p", { class: "hint" }, "No passage was found.");
  const names = Object.keys(SIGNALS).filter((name) => found.some((one) => name in one.signals));
  const others = [...new Set(found.flatMap((one) => Object.keys(one.signals)))].filter((name) => !(name in SIGNALS));
  const columns = [...names, ...others];
  const row = (one) =>
    el(
      "tr",
      {},
      el("td", { class: "number" }, one.n ?? ""),
      el(
        "th",
        { scope: "row" },
        el("button", { type: "button", class: "link", on: { click: () => open({ ...one, quote: one.text }) } }, said(labelOf(one))),
        el("span", { class: "detail" }, said(one.document)),
      ),
      el("td", { class: "number" }, score(one.score)),
      columns.map((name) => el("td", { class: "number" }, name in one.signals ? score(one.signals[name]) : "")),
    );
  const heads = ["Score", ...columns.map((name) => SIGNALS[name] ?? name)];
  return [
    el("p", { class: "hint" }, "The passages that the answer was written from, with what each way of searching made of them."),
    scrolled(
      "Passages and their scores",
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, el("th", { class: "number" }, "n"), el("th", { scope: "col" }, "Passage"), heads.map((head) => el("th", { class: "number", scope: "col" }, head)))),
        el("tbody", {}, found.map(row)),
      ),
    ),
  ];
}

function scrolled(label, table) {
  return el("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": label }, table);
}

function plan(answer) {
  const told = [
    ["k", "passage", "to write the answer from"],
    ["Q", "further wording", "of the question"],
    ["K", "term", "to follow in the relations"],
    ["S", "step", "from each of them"],
  ];
  // several collections each have a plan of their own, which their attempts tell of
  const one = answer.plan && [
    el("p", {}, `This was read as ${CLASSES[answer.complexity]}.`),
    el(
      "ul",
      { class: "shares" },
      answer.probabilities.map((value, at) =>
        el("li", {}, el("span", {}, CLASSES[at]), el("meter", { min: 0, max: 1, value, "aria-label": CLASSES[at] }), el("span", {}, share(value))),
      ),
    ),
    el("p", {}, "So the search took at most:"),
    el("ul", { class: "plain" }, told.map(([name, thing, what]) => el("li", {}, `${counted(answer.plan[name], thing)} ${what} (${name})`))),
  ];
  return [
    one,
    items([
      ["Asked", answer.standalone],
      ["Searched for", answer.queries],
      ["Terms", answer.keywords],
      ["Variant", answer.variant],
      ["Collections", answer.collections?.map(titleOf)],
    ]),
  ];
}

function items(pairs) {
  const shown = pairs.filter(([, value]) => (Array.isArray(value) ? value.length : value));
  return el(
    "dl",
    { class: "items" },
    shown.map(([name, value]) => [el("dt", {}, name), [value].flat().map((one) => el("dd", {}, said(one)))]),
  );
}

function attempts(answer) {
  const tried = answer.attempts ?? [];
  return el("ol", { class: "attempts" }, tried.map((attempt, at) => attemptView(attempt, tried[at - 1]?.collection === attempt.collection && tried[at - 1])));
}

function attemptView(attempt, before) {
  const judged = attempt.evaluation;
  const passed = judged.passed ? "passed" : attempt.abstained ? "abstained" : "not passed";
  return el(
    "li",
    {},
    el("h3", {}, attempt.collection && [said(titleOf(attempt.collection)), ": "], `attempt ${attempt.number}, ${passed}`),
    before && el("p", { class: "changed" }, said(changes(attempt, before))),
    el(
      "ul",
      { class: "scores" },
      [
        ["Answers the question", judged.answers],
        ["About the question", judged.answer_relevance],
        ["Passages about it", judged.context_relevance],
        ["Borne out by the sources", judged.groundedness],
      ]
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => el("li", {}, el("b", {}, score(value)), ` ${name}`)),
      el("li", {}, el("b", {}, judged.citations_verified ? "✓" : "✗"), judged.citations_verified ? " Citations verified" : " Citations not verified"),
    ),
    items([
      ["Question", attempt.question],
      ["Searched for", attempt.queries],
      ["Faults", judged.reasons],
      ["Advice", attempt.advice && [attempt.advice.guidance].filter(Boolean)],
    ]),
    el("details", {}, el("summary", {}, "Its answer"), el("p", { class: "serif", dir: "auto" }, attempt.answer)),
  );
}

const WAYS = {
  reread: "the question was read another way",
  whole: "whole provisions were taken instead of parts",
  operative: "recitals and notes were left out",
  broaden: "more candidates and passages were taken",
};

/** Return what an attempt did otherwise than the one before it. */
function changes(attempt, before) {
  const told = [];
  const way = (before.advice ?? attempt.advice)?.strategy;
  if (way) told.push(WAYS[way] ?? way);
  if (attempt.question !== before.question) told.push("the question was worded anew");
  const known = new Set(before.passages.map((one) => one.id));
  const fresh = attempt.passages.filter((one) => !known.has(one.id)).length;
  told.push(fresh ? `${counted(fresh, "passage")} came in that the attempt before did not have` : "the passages stayed the same");
  return `What changed: ${told.join("; ")}.`;
}

function cost(answer, steps) {
  const { model_calls: calls, tokens_in: into, tokens_out: out, seconds: took } = answer.usage ?? {};
  const hosts = answer.hosts ?? [];
  return [
    items([
      ["Time", took !== undefined && seconds(took)],
      ["Model", calls ? `${answer.model}: ${counted(calls, "call")}, ${whole(into)} tokens in, ${whole(out)} out` : "none was asked"],
      ["Text went to", hosts.length ? hosts : "nowhere: all of it stayed on this server"],
    ]),
    steps.length > 0 &&
      scrolled(
        "Steps",
        el(
          "table",
          {},
          el("thead", {}, el("tr", {}, ["Step", "It brought"].map((head) => el("th", { scope: "col" }, head)), el("th", { class: "number", scope: "col" }, "Time"))),
          el("tbody", {}, steps.map((step) =>
            el("tr", {}, el("td", {}, doing(step.node)), el("td", {}, said(brought(step))), el("td", { class: "number" }, typeof step.seconds === "number" ? seconds(step.seconds) : "")),
          )),
        ),
      ),
  ];
}

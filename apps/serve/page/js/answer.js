// A turn of the conversation: the question, its answer with citations, what they are worth.

import { address, part } from "./api.js";
import { announce, append, button, el, icon, said } from "./dom.js";
import { opinion } from "./feedback.js";
import { blocks, pieces, withoutMarkers } from "./prose.js";
import { state, titleOf } from "./state.js";
import { behind } from "./tabs.js";
import { day, labelOf, lawAsOf, placeOf, share, when } from "./words.js";

const FEW_CHARS = 260;
const MARKS = { answers: "check", "in part": "more", near: "search", absent: "search" };

/**
 * Return what is shown of an answer, below its question.
 * `open` is told which source is wanted, `steps` are those that were seen while it ran.
 */
export function answerView(answer, { open: opened, steps = [] }) {
  const abstained = answer.abstained;
  const open = (source) => opened({ ...source, as_of: answer.as_of });
  return el(
    "div",
    { class: "answered" },
    readings(answer.read_as),
    abstained ? abstention(answer) : prose(answer, open),
    caution(answer),
    verdict(answer),
    abstained
      ? sources(answer.near, "Nearest to it in the documents", open)
      : sources(answer.citations, "Sources", open),
    tools(answer),
    behind(answer, { open, steps }),
  );
}

function readings(read) {
  return (read ?? []).map((item) =>
    el("p", { class: "reading" }, "“", said(item.written), "” was read as “", said(item.read), "”."),
  );
}

function abstention(answer) {
  return el("div", { class: "prose abstained", dir: "auto", data: { testid: "answer" } }, el("p", {}, answer.answer));
}

function prose(answer, open) {
  const seen = new Set();
  const by = Map.groupBy(answer.citations, (citation) => citation.n);
  const chips = (numbers) =>
    [...new Set(numbers)].flatMap((n) => {
      const cited = by.get(n);
      if (!cited) return `[${n}]`;
      const chip = citationChip(cited[0], !seen.has(n), open);
      seen.add(n);
      return chip;
    });
  return el("div", { class: "prose", data: { testid: "answer" } }, written(answer.answer, chips));
}

/** Return a text's blocks as elements; `chips` makes what stands for numbers in brackets. */
export function written(text, chips) {
  return blocks(text).map((block) => {
    const inside = pieces(block.text).map((piece) => {
      if (piece.numbers) return chips(piece.numbers);
      return piece.strong ? el("strong", {}, piece.strong) : piece.text;
    });
    const props = { class: block.kind, dir: "auto" };
    if (block.kind !== "item") return el("p", props, inside);
    const depth = Math.min(block.depth, 4);
    const bullet = /\w/.test(block.mark) ? block.mark : "•";
    return el("p", { ...props, data: { depth } }, el("span", { class: "mark" }, bullet), el("span", {}, inside));
  });
}

function citationChip(citation, first, open) {
  const label = labelOf(citation);
  const place = [label, citation.document, ...placeOf(citation).slice(1)].join(", ");
  return el(
    "button",
    {
      type: "button",
      class: "chip",
      title: place,
      "aria-label": `Source ${citation.n}: ${place}`,
      data: { testid: "chip", n: citation.n },
      on: { click: () => open(citation) },
    },
    el("span", { class: "n" }, citation.n),
    first && said(label, { class: "label" }),
  );
}

function caution(answer) {
  const degraded = (answer.degraded ?? []).map((item) =>
    el("p", {}, said(item.used), " stood in for ", said(item.wanted), ". ", said(item.reason)),
  );
  if (!answer.warning && !degraded.length) return null;
  return el(
    "div",
    { class: "note cautions", data: { testid: "caution" } },
    answer.warning && el("p", {}, el("strong", {}, "Take care. "), said(answer.warning)),
    degraded,
  );
}

function verdict(answer) {
  const { head, words = [], probability, checked = [] } = answer.verdict;
  const likely = typeof probability === "number";
  // an abstention has said already what the first sentence says
  const short = head.replace(/^Abstained: /, "");
  const told = answer.abstained ? short[0].toUpperCase() + short.slice(1) : words[0] ?? head;
  return el(
    "div",
    { class: "verdict", role: "group", "aria-label": "Verdict", data: { finding: answer.finding, testid: "verdict" } },
    el("p", { class: "head" }, el("span", { class: "seal" }, icon(MARKS[answer.finding] ?? "more")), said(told)),
    likely && gauge(probability),
    !answer.abstained && words.slice(likely ? 2 : 1).map((sentence) => el("p", { class: "more" }, said(sentence))),
    checked.length > 0 &&
      el(
        "details",
        { class: "checked" },
        el("summary", {}, "What was checked"),
        el("ul", {}, checked.map((sentence) => el("li", {}, said(sentence)))),
      ),
  );
}

function gauge(probability) {
  const bar = el("meter", { min: 0, max: 1, value: probability, "aria-label": "Likely to answer the question" });
  const told = el("span", {}, `${share(probability)} likely to answer the question`);
  return el("p", { class: "gauge" }, bar, told);
}

function sources(citations, title, open) {
  if (!citations?.length) return null;
  const sorted = [...citations].sort((a, b) => a.n - b.n || a.start - b.start);
  const keys = new Set();
  const once = sorted.filter((citation) => {
    const key = [citation.n, citation.collection, citation.document, citation.start, citation.end].join("\n");
    return !keys.has(key) && keys.add(key);
  });
  return el(
    "div",
    { class: "sources", role: "group", "aria-label": title, data: { testid: "sources" } },
    el("h3", {}, title),
    el("ol", {}, once.map((citation) => source(citation, open))),
  );
}

function source(citation, open) {
  const collection = state.collections.length > 1 && citation.collection && titleOf(citation.collection);
  const where = [collection, citation.document, ...placeOf(citation).slice(citation.section ? 1 : 0)];
  return el(
    "li",
    { value: citation.n },
    el("span", { class: "n", "aria-hidden": "true" }, citation.n),
    el(
      "div",
      {},
      el(
        "p",
        {},
        el("button", { type: "button", class: "link", on: { click: () => open(citation) } }, said(labelOf(citation))),
        el("span", { class: "detail" }, where.filter(Boolean).map((one) => [" · ", said(one)])),
      ),
      quote(citation),
    ),
  );
}

/** The quoted words, shortened where they are many, with the lead-in that they complete. */
function quote(citation) {
  const lead = citation.lead && el("span", { class: "lead", dir: "auto" }, said(citation.lead), " … ");
  const all = citation.quote;
  if (all.length <= FEW_CHARS) return el("blockquote", { dir: "auto" }, lead, said(all));
  const words = said(cut(all));
  const more = button("Show all", () => {
    const whole = more.getAttribute("aria-expanded") !== "true";
    more.setAttribute("aria-expanded", whole);
    more.firstChild.textContent = whole ? "Show less" : "Show all";
    words.textContent = whole ? all : cut(all);
  }, { class: "link no-print", "aria-expanded": "false" });
  return el("blockquote", { dir: "auto" }, lead, words, " ", more);
}

const cut = (text) => `${text.slice(0, FEW_CHARS).replace(/\s+\S*$/, "")} …`;

function tools(answer) {
  const made = [
    when(answer.at),
    lawAsOf(answer.as_of),
    answer.model ? answer.model : "Written without a model",
  ];
  const file = (format) => address(`answers/${part(answer.id)}/export`, { format });
  const save = (format, label) => el("a", { class: "quiet", href: file(format), download: true }, label);
  return el(
    "div",
    { class: "tools" },
    opinion(answer),
    button("Copy", () => copy(answer), { icon: "copy", hideLabel: true, data: { testid: "copy" } }),
    el("details", { class: "menu save" },
      el("summary", { class: "quiet" }, "Export"),
      el("div", { class: "sheet" }, save("docx", "Word (.docx)"), save("md", "Markdown"))),
    el("p", { class: "detail made" }, made.filter(Boolean).map((one, at) => [at ? " · " : "", said(one)])),
  );
}

async function copy(answer) {
  const noted = answer.citations.map(
    (citation) => `[${citation.n}] ${[citation.document, ...placeOf(citation)].join(", ")}: “${citation.quote}”`,
  );
  const head = answer.verdict?.words?.join(" ") ?? "";
  const text = [answer.question, answer.answer, noted.join("\n"), head, day(answer.as_of)];
  try {
    await navigator.clipboard.writeText(text.filter(Boolean).join("\n\n"));
    announce("Copied.");
    flash("Copied");
  } catch {
    flash("Not copied: the browser allows that only on this machine or over https");
  }
}

/** Say something for a moment at the foot of the page. */
export function flash(text) {
  const shown = el("p", { class: "flash" }, text);
  document.getElementById("notices").append(shown);
  announce(text);
  setTimeout(() => shown.remove(), 4000);
}

/** Return what screen readers hear of an answer once it is there. */
export function heard(answer) {
  return `${answer.verdict?.head ?? ""}. ${withoutMarkers(answer.answer).slice(0, 600)}`;
}

/** Return the head of a turn. */
export function questionView(question) {
  return append(el("h2", { class: "question", dir: "auto", data: { testid: "question" } }), question);
}

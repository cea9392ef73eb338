// The relations of an answer drawn: terms in columns, a labelled line for each relation.

import { el, said, svg } from "./dom.js";
import { labelOf } from "./words.js";

const WIDTH = 225;
const GAP = 170;
const ROW = 18;
const LINE_CHARS = 31;
const MOST_LINES = 3;
const PAD = 9;
const BETWEEN = 16;
const MOST_COLUMNS = 4;

/** Return how a relation reads between its subject and its object. */
export const reads = (triplet) => triplet.reads || triplet.predicate.replaceAll("_", " ");

/**
 * Place terms and relations: {nodes: [{text, lines, x, y, height}], edges: [{from, to, triplet}],
 * width, height}. A term stands in the column after the last of those that lead to it.
 */
export function layout(triplets) {
  const index = new Map();
  const nodes = [];
  const nodeOf = (text) => {
    const key = text.trim().toLowerCase();
    if (!index.has(key)) {
      index.set(key, nodes.length);
      const lines = wrapped(text.trim());
      nodes.push({ text, lines, column: 0, height: lines.length * ROW + 2 * PAD });
    }
    return index.get(key);
  };
  const edges = triplets.map((triplet) => ({
    from: nodeOf(triplet.subject),
    to: nodeOf(triplet.object),
    triplet,
  }));
  // as many rounds as there are columns: a circle of relations ends there too
  for (let round = 1; round < MOST_COLUMNS; round += 1) {
    for (const { from, to } of edges) {
      if (from !== to && nodes[to].column <= nodes[from].column && nodes[from].column < round)
        nodes[to].column = Math.min(nodes[from].column + 1, MOST_COLUMNS - 1);
    }
  }
  return { nodes, edges, ...placed(nodes, edges) };
}

/** Give every node its place: sources beside the middle of what they lead to, nothing over another. */
function placed(nodes, edges) {
  const columns = [];
  for (const node of nodes) (columns[node.column] ??= []).push(node);
  const used = columns.filter(Boolean);
  const around = (node, end, other) => edges.filter((edge) => nodes[edge[end]] === node).map((edge) => nodes[edge[other]]);
  const mean = (values, otherwise) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : otherwise);
  used.forEach((column, at) => {
    const order = new Map(column.map((node) => [node, mean(around(node, "to", "from").map((one) => one.order ?? 0), 0)]));
    if (at) column.sort((a, b) => order.get(a) - order.get(b));
    column.forEach((node, nth) => Object.assign(node, { order: nth, x: at * (WIDTH + GAP) }));
    stack(column, () => 0);
  });
  for (const column of used.slice(0, -1).reverse()) {
    const wanted = new Map(column.map((node) => [node, mean(around(node, "from", "to").filter((one) => one.x > node.x).map((one) => one.y + one.height / 2), 0)]));
    column.sort((a, b) => wanted.get(a) - wanted.get(b));
    stack(column, (node) => wanted.get(node) - node.height / 2);
  }
  const height = Math.max(...nodes.map((node) => node.y + node.height));
  return { width: used.length * (WIDTH + GAP) - GAP, height };
}

function stack(column, wanted) {
  let free = 0;
  for (const node of column) {
    node.y = Math.max(free, wanted(node));
    free = node.y + node.height + BETWEEN;
  }
}

/** Return a text in lines that fit a box, the last ending in … where more follows. */
export function wrapped(text, chars = LINE_CHARS, most = MOST_LINES) {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    for (let rest = word; rest; ) {
      const room = chars - lines.at(-1).length - (lines.at(-1) ? 1 : 0);
      if (rest.length <= room) {
        lines.push(`${lines.pop()} ${rest}`.trim());
        rest = "";
      } else if (lines.at(-1)) lines.push("");
      else {
        lines.push(`${lines.pop()}${rest.slice(0, chars)}`, "");
        rest = rest.slice(chars);
      }
    }
  }
  const full = lines.filter(Boolean);
  if (full.length <= most) return full;
  return [...full.slice(0, most - 1), `${full[most - 1].slice(0, chars - 1).trimEnd()}…`];
}

/** Return the relations as a drawing and as a list; `open` is told which one is wanted. */
export function relations(triplets, open) {
  if (!triplets.length) return el("p", { class: "hint" }, "No relations were found for this question.");
  return el(
    "div",
    { class: "relations" },
    el("p", { class: "hint" }, "How the documents connect the terms of the question. Each line opens its source."),
    el(
      "div",
      { class: "scrolled drawing", tabindex: "0", role: "region", "aria-label": "Relations, drawn" },
      drawn(layout(triplets), open),
    ),
    el("details", {}, el("summary", {}, "The same as a list"), listed(triplets, open)),
  );
}

function listed(triplets, open) {
  return el(
    "ul",
    { class: "relation-list" },
    triplets.map((triplet) =>
      el(
        "li",
        {},
        said(triplet.subject),
        el("em", {}, ` ${reads(triplet)} `),
        said(triplet.object),
        " ",
        el("button", { type: "button", class: "link", on: { click: () => open(triplet) } }, said(labelOf(triplet))),
      ),
    ),
  );
}

function drawn({ nodes, edges, width, height }, open) {
  const share = new Map();
  const lines = edges.map(({ from, to, triplet }) => {
    const pair = `${from}-${to}`;
    const nth = share.get(pair) ?? 0;
    share.set(pair, nth + 1);
    return relation(nodes[from], nodes[to], triplet, nth, open);
  });
  const size = { width: width + 4, height: height + 4, viewBox: `-2 -2 ${width + 4} ${height + 4}` };
  return svg("svg", { class: "graph", ...size, role: "group", "aria-label": "Relations" }, lines, nodes.map(term));
}

function relation(from, to, triplet, nth, open) {
  const back = to.x <= from.x;
  const start = { x: from.x + (back && to.x < from.x ? 0 : WIDTH), y: from.y + from.height / 2 };
  const end = { x: to.x + (back && to.x === from.x ? WIDTH : back ? WIDTH : 0), y: to.y + to.height / 2 };
  const bend = back && to.x === from.x ? GAP * 0.5 : (end.x - start.x) / 2;
  const path = `M${start.x} ${start.y}C${start.x + bend} ${start.y} ${end.x - (to.x === from.x ? -bend : bend)} ${end.y} ${end.x} ${end.y}`;
  const middle = { x: (start.x + end.x) / 2 + (to.x === from.x ? bend * 0.75 : 0), y: (start.y + end.y) / 2 + nth * ROW };
  // labels of lines that leave one term stand apart where the lines end
  const towards = to.x === from.x ? middle : { x: start.x + (end.x - start.x) * 0.6, y: start.y + (end.y - start.y) * 0.65 + nth * ROW };
  const chosen = (event) => {
    if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    open(triplet);
  };
  const named = `${triplet.subject} ${reads(triplet)} ${triplet.object}: ${labelOf(triplet)}`;
  return svg(
    "g",
    { class: "relation", tabindex: "0", role: "button", "aria-label": named, on: { click: chosen, keydown: chosen } },
    svg("path", { d: path, class: "hit" }),
    svg("path", { d: path, class: "line" }),
    svg("circle", { cx: end.x, cy: end.y, r: 3 }),
    svg("text", { ...towards, "text-anchor": "middle", dy: "0.35em" }, wrapped(reads(triplet), 20, 1)[0]),
  );
}

function term(node) {
  return svg(
    "g",
    { class: "term" },
    svg("title", {}, node.text),
    svg("rect", { x: node.x, y: node.y, width: WIDTH, height: node.height, rx: 7 }),
    node.lines.map((line, at) =>
      svg("text", { x: node.x + PAD, y: node.y + PAD + ROW * (at + 0.5), dy: "0.35em" }, line),
    ),
  );
}

// The relations of an answer drawn: terms in columns, a labelled line for each relation.

import { el, link, said, svg } from "./dom.js";
import { say } from "./language.js";
import { labelOf } from "./words.js";

const WIDTH = 225;
const GAP = 170;
const ROW = 18;
const LINE_CHARS = 31;
const MOST_LINES = 3;
const PAD = 9;
const BETWEEN = 16;
const MOST_COLUMNS = 4;

const reads = (triplet) => triplet.reads || triplet.predicate.replaceAll("_", " ");

/**
 * Place terms and relations: {nodes: [{text, lines, x, y, height}], edges: [{from, to, triplet}],
 * width, height}. A term stands in a column after those that lead to it.
 */
export function layout(triplets) {
	const known = new Map();
	const nodeOf = (text) => {
		const key = text.trim().toLowerCase();
		const lines = wrapped(text);
		if (!known.has(key)) known.set(key, { text, lines, column: 0, height: lines.length * ROW + 2 * PAD });
		return known.get(key);
	};
	const edges = triplets.map((triplet) => ({ from: nodeOf(triplet.subject), to: nodeOf(triplet.object), triplet }));
	// as many rounds as there are columns: a circle of relations ends there too
	for (let round = 1; round < MOST_COLUMNS; round += 1) {
		for (const { from, to } of edges) {
			if (from !== to && to.column <= from.column && from.column < round) to.column = from.column + 1;
		}
	}
	const nodes = [...known.values()];
	return { nodes, edges, ...placed(nodes, edges) };
}

/** Give every node its place: sources beside the middle of what they lead to, nothing over another. */
function placed(nodes, edges) {
	const found = [];
	for (const node of nodes) (found[node.column] ??= []).push(node);
	const columns = found.filter(Boolean);
	const arrange = (column, near) => {
		const middle = (near) => near.reduce((sum, { y, height }) => sum + y + height / 2, 0) / (near.length || 1);
		const wanted = new Map(column.map((node) => [node, middle(near(node))]));
		let free = 0;
		for (const node of column.sort((a, b) => wanted.get(a) - wanted.get(b))) {
			node.y = Math.max(free, wanted.get(node) - node.height / 2);
			free = node.y + node.height + BETWEEN;
		}
	};
	columns.forEach((column, at) => {
		for (const node of column) node.x = at * (WIDTH + GAP);
		arrange(column, (node) => edges.filter(({ from, to }) => to === node && from.x < node.x).map(({ from }) => from));
	});
	for (const column of columns.slice(0, -1).reverse()) {
		arrange(column, (node) => edges.filter(({ from, to }) => from === node && to.x > node.x).map(({ to }) => to));
	}
	const height = Math.max(...nodes.map((node) => node.y + node.height));
	return { width: columns.length * (WIDTH + GAP) - GAP, height };
}

/** A text in lines that fit a box, the last ending in … where more follows. */
export function wrapped(text, chars = LINE_CHARS, most = MOST_LINES) {
	const words = text.trim().split(/\s+/).flatMap((word) => word.match(new RegExp(`.{1,${chars}}`, "gu")) ?? []);
	const lines = [];
	for (const word of words) {
		const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
		if (lines.length && longer.length <= chars) lines[lines.length - 1] = longer;
		else lines.push(word);
	}
	if (lines.length <= most) return lines;
	return [...lines.slice(0, most - 1), `${lines[most - 1].slice(0, chars - 1).trimEnd()}…`];
}

export function relations(triplets, open) {
	if (!triplets.length) return el("p.hint", say("relations.none"));
	const region = { tabindex: 0, role: "region", "aria-label": say("relations.drawn") };
	const rows = triplets.map((triplet) => {
		const source = link(labelOf(triplet), () => open(triplet));
		return el("li", said(triplet.subject), el("em", ` ${reads(triplet)} `), said(triplet.object), " ", source);
	});
	return el(
		"div.relations",
		el("p.hint", say("relations.hint")),
		el("div.scrolled.drawing", region, drawn(layout(triplets), open)),
		el("details", el("summary", say("relations.list")), el("ul.relation-list", rows)),
	);
}

function drawn({ nodes, edges, width, height }, open) {
	const size = { width: width + 4, height: height + 4, viewBox: `-2 -2 ${width + 4} ${height + 4}` };
	const drawing = { class: "graph", ...size, role: "group", "aria-label": say("tab.relations") };
	const pairs = new Map();
	const lines = edges.map(({ from, to, triplet }) => {
		// several between the same terms have their labels below one another
		const nth = pairs.get(from)?.get(to) ?? 0;
		pairs.set(from, (pairs.get(from) ?? new Map()).set(to, nth + 1));
		return relation(from, to, triplet, nth, open);
	});
	return svg("svg", drawing, lines, nodes.map(term));
}

function relation(from, to, triplet, nth, open) {
	// to the right; within a column by the right of both; back from left to right
	const level = to.x === from.x;
	const start = { x: from.x + (to.x < from.x ? 0 : WIDTH), y: from.y + from.height / 2 };
	const end = { x: to.x + (to.x > from.x ? 0 : WIDTH), y: to.y + to.height / 2 };
	const bend = level ? GAP / 2 : (end.x - start.x) / 2;
	const d = `M${start.x} ${start.y}C${start.x + bend} ${start.y} ${end.x + (level ? bend : -bend)} ${end.y} ${end.x} ${end.y}`;
	// nearer to the end, where the lines of one term stand apart
	const x = level ? start.x + bend * 0.75 : start.x + (end.x - start.x) * 0.6;
	const y = start.y + (end.y - start.y) * (level ? 0.5 : 0.65) + nth * ROW;
	const chosen = (event) => {
		if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
		event.preventDefault();
		open(triplet);
	};
	const named = `${triplet.subject} ${reads(triplet)} ${triplet.object}: ${labelOf(triplet)}`;
	return svg(
		"g",
		{ class: "relation", tabindex: 0, role: "button", "aria-label": named, on: { click: chosen, keydown: chosen } },
		svg("path", { d, class: "hit" }),
		svg("path", { d, class: "line" }),
		svg("circle", { cx: end.x, cy: end.y, r: 3 }),
		svg("text", { x, y, "text-anchor": "middle", dy: "0.35em" }, wrapped(reads(triplet), 20, 1)[0]),
	);
}

function term({ text, lines, x, y, height }) {
	const line = (words, at) => svg("text", { x: x + PAD, y: y + PAD + ROW * (at + 0.5), dy: "0.35em" }, words);
	const box = svg("rect", { x, y, width: WIDTH, height, rx: 7 });
	return svg("g", { class: "term" }, svg("title", text), box, lines.map(line));
}

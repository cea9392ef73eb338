// Spans of a document's text. Offsets count code points, as the server does, not UTF-16 units.

const HEADED = ["part", "annex", "provision", "table"];
const ITEMS = ["paragraph", "point", "definition"];

/**
 * Join two excerpts, {text, start, end, units}, that overlap or touch; of others the second stands
 * alone, since nothing may be shown as if it followed.
 */
export function joined(one, other) {
	const [first, second] = one.start <= other.start ? [one, other] : [other, one];
	if (second.start > first.end) return other;
	const text = first.text + Array.from(second.text).slice(first.end - second.start).join("");
	const units = new Map([...first.units, ...second.units].map((u) => [`${u.start} ${u.end} ${u.kind}`, u]));
	return {
		...other,
		text,
		start: first.start,
		end: Math.max(first.end, second.end),
		units: [...units.values()].sort((a, b) => a.start - b.start || b.end - a.end),
	};
}

/**
 * Cut an excerpt into its lines, and these where a span, {start, end, kind}, begins or ends.
 * Returns {start, end, level, heading, pieces} for each line that is not blank: `level` is how deep
 * in a list it stands, `heading` whether it is nothing else; a piece is {text, kinds}.
 */
export function linesOf({ text, start: base, units }, spans = []) {
	const chars = Array.from(text);
	const headings = units
		.filter((unit) => HEADED.includes(unit.kind))
		.map(({ start, body }) => ({ start, end: body, kind: "heading" }));
	const marked = [...spans, ...headings].filter((span) => span.start < span.end);
	const found = [];
	let open = [];
	let next = 0;
	let from = 0;
	for (const line of text.split("\n").map((one) => Array.from(one).length)) {
		const [start, end] = [base + from, base + from + line];
		from += line + 1;
		while (units[next]?.start <= start) open.push(units[next++]);
		open = open.filter((unit) => unit.end > start);
		const pieces = piecesOf(chars, base, start, end, marked);
		const worded = pieces.filter((piece) => piece.text.trim());
		if (!worded.length) continue;
		const heading = worded.every((piece) => piece.kinds.includes("heading"));
		const level = Math.max(0, open.filter((unit) => ITEMS.includes(unit.kind)).length - 1);
		found.push({ start, end, level, heading, pieces });
	}
	return found;
}

function piecesOf(chars, base, start, end, spans) {
	const here = spans.filter((span) => span.start < end && span.end > start);
	const inside = here.flatMap((span) => [span.start, span.end]).filter((at) => at > start && at < end);
	const edges = [...new Set([start, ...inside, end])].sort((a, b) => a - b);
	return edges.slice(1).map((to, place) => {
		const from = edges[place];
		const over = here.filter((span) => span.start <= from && span.end >= to).map((span) => span.kind);
		return { text: chars.slice(from - base, to - base).join(""), kinds: [...new Set(over)] };
	});
}

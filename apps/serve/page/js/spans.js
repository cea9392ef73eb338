// Spans of a document's text. Offsets count code points, as the server does, not UTF-16 units.

const HEADED = new Set(["part", "annex", "provision", "table"]);
const ITEMS = new Set(["paragraph", "point", "definition"]);
const HEADING_WITHIN = 400;

/** How many code points a text has. */
export function length(text) {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * Join two excerpts, {text, start, end, length, units}, that overlap or touch.
 * Where they do neither, the second stands alone: nothing is shown as if it followed.
 */
export function joined(one, other) {
  const [first, second] = one.start <= other.start ? [one, other] : [other, one];
  if (second.start > first.end) return other;
  const rest = Array.from(second.text).slice(first.end - second.start);
  const units = new Map();
  for (const unit of [...first.units, ...second.units]) {
    units.set(`${unit.start} ${unit.end} ${unit.kind}`, unit);
  }
  return {
    ...other,
    text: first.text + rest.join(""),
    start: first.start,
    end: Math.max(first.end, second.end),
    units: [...units.values()].sort((a, b) => a.start - b.start || b.end - a.end),
  };
}

/**
 * Cut an excerpt into its lines, and each line where a span begins or ends.
 *
 * `spans` are {start, end, kind} in the document's offsets. Returns {start, end, level, heading,
 * pieces} for each line that is not blank: `level` says how deep in a list it stands, `heading`
 * whether it is nothing else; a piece is {text, kinds}, and the texts of a line's pieces are the line.
 */
export function linesOf(excerpt, spans = []) {
  const chars = Array.from(excerpt.text);
  const headings = excerpt.units
    .filter((unit) => HEADED.has(unit.kind))
    .map((unit) => ({ start: unit.start, end: headingEnd(unit, chars, excerpt.start), kind: "heading" }));
  const marked = [...spans, ...headings].filter((span) => span.start < span.end);
  const found = [];
  let open = [];
  let next = 0;
  for (const [from, to] of lineSpans(chars)) {
    const start = excerpt.start + from;
    while (next < excerpt.units.length && excerpt.units[next].start <= start) {
      open.push(excerpt.units[next]);
      next += 1;
    }
    open = open.filter((unit) => unit.end > start);
    const pieces = piecesOf(chars, excerpt.start, from, to, marked);
    const worded = pieces.filter((piece) => piece.text.trim());
    if (!worded.length) continue;
    found.push({
      start,
      end: excerpt.start + to,
      level: Math.max(0, open.filter((unit) => ITEMS.has(unit.kind)).length - 1),
      heading: worded.every((piece) => piece.kinds.includes("heading")),
      pieces,
    });
  }
  return found;
}

function* lineSpans(chars) {
  let from = 0;
  for (let at = 0; at <= chars.length; at += 1) {
    if (at < chars.length && chars[at] !== "\n") continue;
    if (at > from) yield [from, at];
    from = at + 1;
  }
}

function piecesOf(chars, base, from, to, spans) {
  const here = spans.filter((span) => span.start < base + to && span.end > base + from);
  const edges = new Set([from, to]);
  for (const span of here) {
    edges.add(Math.max(from, span.start - base));
    edges.add(Math.min(to, span.end - base));
  }
  const cuts = [...edges].sort((a, b) => a - b);
  return cuts.slice(1).map((end, place) => {
    const start = cuts[place];
    const over = here.filter((span) => span.start - base <= start && span.end - base >= end);
    return { text: chars.slice(start, end).join(""), kinds: [...new Set(over.map((s) => s.kind))] };
  });
}

/** Where a unit's heading ends: where its own words begin, if the server says it. */
function headingEnd(unit, chars, base) {
  if (unit.start < base) return unit.start;
  if (unit.body !== undefined) return Math.min(unit.body, unit.end);
  const first = chars.slice(unit.start - base, Math.min(unit.end, unit.start + HEADING_WITHIN) - base).join("");
  const at = unit.heading ? first.indexOf(unit.heading) : -1;
  if (at < 0) return unit.start;
  const rest = first.slice(at + unit.heading.length).match(/^[.:\s]*/)[0];
  return unit.start + length(first.slice(0, at) + unit.heading + rest);
}

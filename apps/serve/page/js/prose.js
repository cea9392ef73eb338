// An answer taken apart: lines of a list at their depth, citation markers, words in bold.

const MARKER = /\[\s*(\d{1,3}(?:\s*[-–,;]\s*\d{1,3})*)\s*\]/g;
const WIDEST_RANGE = 50;
const ITEM = /^\s*([-*•]|\(?(?:[ivxl]{1,6}|[a-z]{1,2}|\d{1,3})[.)])\s+(?=\S)/i;
const HEADING = /^\s*#{1,6}\s+/;
// how an answer made of quotes names the place of the lines below
const PLACE = /^In \S.*:$/;

/** Return the numbers that a marker names: of "1, 3-5" 1, 3, 4 and 5. */
export function markerNumbers(marker) {
  return marker.split(/[,;]/).flatMap((item) => {
    const ends = item.split(/[-–]/).map(Number);
    const [first, last] = [ends[0], ends.at(-1)];
    if (first > last || last > first + WIDEST_RANGE) return ends;
    return Array.from({ length: last - first + 1 }, (_, more) => first + more);
  });
}

/** Return a line as pieces in order: {text}, {strong} or {numbers}. */
export function pieces(line) {
  const found = [];
  let at = 0;
  for (const match of line.matchAll(MARKER)) {
    // a mark stays with the word before it
    found.push(...emphasised(line.slice(at, match.index).replace(/\s$/, "\u00a0")));
    const numbers = markerNumbers(match[1]);
    // markers side by side are one group
    if (found.at(-1)?.text === "\u00a0" && found.at(-2)?.numbers) found.pop();
    if (found.at(-1)?.numbers) found.at(-1).numbers.push(...numbers);
    else found.push({ numbers });
    at = match.index + match[0].length;
  }
  found.push(...emphasised(line.slice(at)));
  return found;
}

function emphasised(text) {
  if (!text) return [];
  return text
    .split(/\*\*([^*\n]+)\*\*/)
    .map((part, index) => (index % 2 ? { strong: part } : { text: part }))
    .filter((piece) => piece.strong || piece.text);
}

/** Return the text without its markers. */
export function withoutMarkers(text) {
  return text.replace(MARKER, "").replace(/ +(?=[.,;:!?]|$|\n)/gm, "").replace(/  +/g, " ");
}

/** Return an answer's lines as {kind, text, mark, depth}; kind is p, item, place or heading. */
export function blocks(answer) {
  const levels = [];
  const found = [];
  for (const line of answer.split("\n")) {
    if (!line.trim()) continue;
    const item = ITEM.exec(line);
    if (item) {
      const text = line.slice(item[0].length);
      found.push({ kind: "item", mark: item[1], depth: depthOf(item[1], levels), text });
      continue;
    }
    levels.length = 0;
    const bare = withoutMarkers(line).trim();
    if (HEADING.test(line)) found.push({ kind: "heading", text: line.replace(HEADING, "") });
    else found.push({ kind: PLACE.test(bare) ? "place" : "p", text: line.trim() });
  }
  return found;
}

/** Return how deep an item lies, given the styles of the lists that are open; changes those. */
function depthOf(mark, levels) {
  const bare = mark.replace(/[().]/g, "");
  const around = mark.replace(/\w+/, "_");
  const follows = (level) =>
    level.style === `letter${around}` && bare.length === 1 && next(level.last) === bare;
  let style;
  if (/^\d+$/.test(bare)) style = `number${around}`;
  else if (!/^[a-z]+$/i.test(bare)) style = "bullet";
  else if (/^[ivxl]+$/i.test(bare) && !levels.some(follows)) style = `roman${around}`;
  else style = `letter${around}`;
  let depth = levels.findIndex((level) => level.style === style);
  if (depth < 0) depth = levels.length;
  levels.length = depth;
  levels.push({ style, last: bare });
  return depth;
}

const next = (letter) => String.fromCharCode(letter.charCodeAt(0) + 1);

// An answer taken apart: lines of a list at their depth, citation markers, words in bold.

const MARKER = /\[\s*(\d{1,3}(?:\s*[-–,;]\s*\d{1,3})*)\s*\]/g;
const WIDEST_RANGE = 50;
const ITEM = /^\s*([-*•]|\(?(?:[ivxl]{1,6}|[a-z]{1,2}|\d{1,3})[.)])\s+(?=\S)/i;
const HEADING = /^\s*#{1,6}\s+/;
// how an answer made of quotes names the place of the lines below
const PLACE = /^In \S.*:$/;

/** The numbers that a marker names: of "1, 3-5" 1, 3, 4 and 5. */
export function markerNumbers(marker) {
	return marker.split(/[,;]/).flatMap((item) => {
		const ends = item.split(/[-–]/).map(Number);
		const [first, last] = [ends[0], ends.at(-1)];
		if (first > last || last > first + WIDEST_RANGE) return ends;
		return Array.from({ length: last - first + 1 }, (_, more) => first + more);
	});
}

/** A line as pieces in order: {text}, {strong} or {numbers}. Markers side by side are one. */
export function pieces(line) {
	const found = [];
	let at = 0;
	for (const match of line.matchAll(MARKER)) {
		const before = line.slice(at, match.index);
		const numbers = markerNumbers(match[1]);
		at = match.index + match[0].length;
		if (found.at(-1)?.numbers && !before.trim()) found.at(-1).numbers.push(...numbers);
		// a mark stays with the word before it
		else found.push(...emphasised(before.replace(/\s$/, "\u00a0")), { numbers });
	}
	return [...found, ...emphasised(line.slice(at))];
}

function emphasised(text) {
	const parts = text.split(/\*\*([^*\n]+)\*\*/);
	return parts.map((part, at) => (at % 2 ? { strong: part } : { text: part })).filter((one) => one.strong || one.text);
}

export const withoutMarkers = (text) =>
	text.replace(MARKER, "").replace(/ +(?=[.,;:!?]|$|\n)/gm, "").replace(/  +/g, " ");

/** An answer's lines as {kind, text, mark, depth}; kind is p, item, place or heading. */
export function blocks(answer) {
	const levels = [];
	return answer.split("\n").filter((line) => line.trim()).map((line) => {
		const item = ITEM.exec(line);
		if (item) return { kind: "item", mark: item[1], depth: depthOf(item[1], levels), text: line.slice(item[0].length) };
		levels.length = 0;
		if (HEADING.test(line)) return { kind: "heading", text: line.replace(HEADING, "") };
		return { kind: PLACE.test(withoutMarkers(line).trim()) ? "place" : "p", text: line.trim() };
	});
}

// how a quoting answer says that what follows takes from what stands before, changes it or hangs on it, that others say
// otherwise, what the main document has of it, and what it leaves out, in each language of the server
const LIMITS = [
	["except", /^(?:Except|Außer):$/],
	["changed", /^(?:Changed by|Geändert durch):$/],
	["footnote", /^(?:Footnote|Fußnote):$/],
	["otherwise", / (?:(?:says|said) otherwise|(?:sagt|sagte) etwas anderes): /],
	["nearer", /, (?:which is far longer, has nothing nearer to this than|das viel länger ist, hat nichts, was dem näher kommt als): /],
	["omitted", /^(?:Left out: |The rest is left out\.|Weggelassen: |Der Rest ist weggelassen\.)/],
];

/** Blocks in parts, {part, blocks}: what limits an answer apart from what is not limiting, "". */
export function parted(blocks) {
	const parts = [];
	let taking = ""; // what the blocks to come are of, while they belong to a limit
	for (const block of blocks) {
		const [part] = LIMITS.find(([, said]) => said.test(withoutMarkers(block.text))) ?? [""];
		if (part === "except") {
			parts.push({ part, blocks: [] });
			taking = part;
			continue;
		}
		const goesOn = taking && (block.kind === "item" || !parts.at(-1).blocks.length);
		if (!goesOn) taking = "";
		if (!goesOn && parts.at(-1)?.part !== part) parts.push({ part, blocks: [] });
		if (!parts.length) parts.push({ part, blocks: [] });
		parts.at(-1).blocks.push(block);
	}
	return parts.filter((one) => one.blocks.length);
}

/** How deep an item lies, given the styles of the lists that are open; changes those. */
function depthOf(mark, levels) {
	const bare = mark.replace(/[().]/g, "");
	const around = mark.replace(/\w+/, "_");
	const next = (letter) => String.fromCharCode(letter.charCodeAt(0) + 1);
	const follows = ({ style, last }) => style === `letter${around}` && next(last) === bare;
	let style = `letter${around}`;
	if (/^\d+$/.test(bare)) style = `number${around}`;
	else if (!/^[a-z]+$/i.test(bare)) style = "bullet";
	else if (/^[ivxl]+$/i.test(bare) && !levels.some(follows)) style = `roman${around}`;
	const open = levels.findIndex((level) => level.style === style);
	if (open >= 0) levels.length = open;
	levels.push({ style, last: bare });
	return levels.length - 1;
}

// Two versions of a document side by side: what changed, moved, was renumbered, came in or is gone.

import { address, get } from "./api.js";
import { shownPiece, sides } from "./compare.js";
import { el, field, fill, icon, said, trouble } from "./dom.js";
import { counted, say, whole } from "./language.js";
import { state } from "./state.js";
import { described } from "./words.js";
import { collectionChoice, documentsInto, placeLink } from "./work.js";

const MOST_SHOWN = 200;
/** A file's name by which "rules" comes before "rules-2027", and "rules-9" before "rules-10". */
const stem = ({ name }) => name.replace(/\.\w+$/, "");

/** Show two choices of documents, and below them what became of each provision. */
export function show(place) {
	const told = el("div.told");
	const shown = el("div.changes");
	let collection = "";
	let asked = 0;
	let kind = "";
	const load = async () => {
		const mine = (asked += 1);
		fill(told, el("p.detail", say("loading")));
		fill(shown);
		try {
			const query = { old: picks.old.value, new: picks.new.value };
			const report = await get(["collections", collection, "diff"], { ...query, thread: state.before });
			if (mine !== asked) return;
			kind = "";
			draw(report, query);
		} catch (error) {
			if (mine !== asked) return;
			fill(told);
			fill(shown, trouble(error, load));
		}
	};
	const picks = Object.fromEntries(["old", "new"].map((name) => [name, el("select", { id: `diff-${name}`, on: { change: load } })]));

	function draw(report, query) {
		const filters = Object.entries(report.counts).map(([name, count]) => {
			const heard = () => {
				kind = kind === name ? "" : name;
				draw(report, query);
				told.querySelector(`[data-kind="${name}"]`).focus();
			};
			return el("button.pick", { type: "button", "aria-pressed": kind === name, data: { kind: name }, on: { click: heard } }, `${say(`diff.${name}`)} ${whole(count)}`);
		});
		const href = address(["collections", collection, "diff", "export"], query);
		const file = el("a.outlined", { href, download: true }, icon("documents"), say("diff.export"));
		fill(told, el("div.picks", { role: "group", "aria-label": say("diff.kinds") }, filters), el("p.detail", { role: "status" }, say("diff.unchanged", { lines: counted(report.unchanged, "line") })), el("div.acts", file));
		const rows = report.changes.filter((one) => !kind || one.kinds.includes(kind));
		fill(
			shown,
			!report.changes.length && el("p.note", say("versions.same")),
			el("ol.change-list", rows.slice(0, MOST_SHOWN).map((one) => change(one, collection))),
			rows.length > MOST_SHOWN && el("p.hint", say("diff.first", { most: MOST_SHOWN, rows: counted(rows.length, "change") })),
			listed("diff.stale", report.stale, ({ at, said: words, now }) => [placeLink(collection, at), ": ", said(words), " → ", now ? said(now) : say("diff.gone")]),
			listed("diff.answers", report.answers, ({ question, was, became }) => [said(question), " ", placeLink(collection, was), ": ", say(`diff.quote.${became}`)]),
		);
	}

	const choice = collectionChoice(async (name) => {
		collection = name;
		try {
			const [documents] = await Promise.all(Object.values(picks).map((select) => documentsInto(select, name)));
			if (documents.length < 2) {
				fill(told);
				return fill(shown, el("p.note", say("diff.two")));
			}
			const [first, second] = documents.toSorted((one, other) => stem(one).localeCompare(stem(other), undefined, { numeric: true }));
			const newest = documents.find((one) => one.supersedes) ?? second;
			picks.new.value = newest.name;
			picks.old.value = newest.supersedes ?? first.name;
			load();
		} catch (error) {
			fill(shown, trouble(error));
		}
	});
	fill(place, el("div.choices", choice, field(say("versions.earlier"), picks.old), field(say("versions.later"), picks.new)), told, shown);
}

function listed(key, found, row) {
	return found.length > 0 && el("section", el("h3", say(key)), el("ul.plain", found.map((one) => el("li", row(one)))));
}

function change({ kinds, old, new: now, parts }, collection) {
	const [before, after] = sides(parts);
	const words = (at, pieces) => el("div.words", { dir: "auto" }, pieces.length ? pieces.map(shownPiece) : at.quote);
	const column = (at, pieces, label) => el("div", { role: "group", "aria-label": label }, at ? [el("p.detail", placeLink(collection, at)), words(at, pieces)] : null);
	const heading = described([(now ?? old).section, (now ?? old).heading !== (now ?? old).section && (now ?? old).heading]);
	return el(
		"li",
		el("h3", said(heading || (now ?? old).document), el("span.tags", kinds.map((one) => el("span.tag", { data: { kind: one } }, say(`diff.${one}`))))),
		el("div.columns", column(old, before, say("versions.earlier")), column(now, after, say("versions.later"))),
	);
}

// The register: who must, may or must not do what, by when, unless what, and where it says so.

import { address, get } from "./api.js";
import { el, field, fill, icon, said, trouble } from "./dom.js";
import { counted, say } from "./language.js";
import { day, described, fileOf } from "./words.js";
import { choiceOf, collectionChoice, documentsInto, longTable, placeLink } from "./work.js";

const KINDS = ["duty", "right", "prohibition", "deadline", "sum", "penalty"];
const FILES = ["xlsx", "docx", "ics"];

/** Show the register of a collection, or of one document of it. */
export function show(place) {
	const choices = el("div.choices");
	const told = el("p.detail", { role: "status" });
	const files = el("div.acts");
	const shown = el("div");
	const wanted = { collection: "", document: "", kind: "", who: "" };
	let register = null;
	let asked = 0;

	async function load() {
		const mine = (asked += 1);
		const { collection, document } = wanted;
		told.textContent = say("loading");
		fill(shown);
		try {
			const found = await get(["collections", collection, "register"], { document });
			if (mine !== asked) return;
			register = found;
			filter();
		} catch (error) {
			if (mine !== asked) return;
			told.textContent = "";
			fill(shown, trouble(error, load));
		}
	}
	function filter() {
		const { collection, document, kind, who } = wanted;
		const actor = who.trim().toLowerCase();
		const rows = (register?.entries ?? []).filter((one) => (!kind || one.kinds.includes(kind)) && one.who.toLowerCase().includes(actor));
		const unread = register?.unread.length ? say("register.unread", { documents: register.unread.map(fileOf).join(", ") }) : "";
		told.textContent = described([counted(rows.length, "entry"), unread]);
		const href = (format) => address(["collections", collection, "register"], { document, kind, actor: who.trim(), format });
		fill(files, FILES.map((format) => el("a.outlined", { href: href(format), download: true }, icon("documents"), say(`export.${format}`))));
		fill(shown, rows.length > 0 && longTable(say("work.register"), ["who", "what", "when", "unless", "where"].map((name) => say(`register.${name}`)), rows, (one) => cells(one, collection)));
		const actors = [...new Set(register?.entries.map((one) => one.who))].filter(Boolean);
		fill(actorList, actors.slice(0, 200).map((one) => el("option", { value: one })));
	}
	const set = (name) => (value) => {
		wanted[name] = value;
		if (name === "document") load();
		else filter();
	};
	const documents = el("select", { id: "register-document", on: { change: () => set("document")(documents.value) } });
	const who = el("input", { id: "register-who", type: "search", list: "register-actors", autocomplete: "off", on: { input: () => set("who")(who.value) } });
	const actorList = el("datalist", { id: "register-actors" });
	const collection = collectionChoice((name) => {
		Object.assign(wanted, { collection: name, document: "" });
		documentsInto(documents, name, say("documents.all")).catch(() => fill(documents));
		load();
	});
	const kinds = [["", say("register.all")], ...KINDS.map((one) => [one, say(`register.${one}`)])];
	fill(choices, collection, field(say("register.document"), documents), choiceOf("register-kind", say("register.kind"), kinds, set("kind")), field(say("register.who"), who), actorList);
	fill(place, choices, el("div.told", told, files), shown);
}

function cells(entry, collection) {
	const { who, what, when, event, day: date, note, unless, kinds } = entry;
	const kind = el("span.tags", kinds.map((one) => el("span.tag", { data: { kind: one } }, say(`register.${one}`))));
	return [
		[who && said(who), kind],
		what,
		[when && said(when), event && !when.includes(event) && el("span.detail", said(event)), date && el("strong.day", day(date)), note && el("span.detail", said(note))],
		unless.join("; "),
		placeLink(collection, entry),
	];
}

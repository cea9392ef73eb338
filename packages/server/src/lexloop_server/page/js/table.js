// Tables: the same questions asked of many documents, each cell with its source.

import { exportsOf } from "./answer.js";
import { get, post, put, remove } from "./api.js";
import { confirmed, openDialog } from "./dialog.js";
import { announce, button, el, field, fill, form, icon, link, said, tried, trouble } from "./dom.js";
import { counted, say, whole } from "./language.js";
import { narrow } from "./side.js";
import { openSource } from "./source.js";
import { asked, state, titleOf } from "./state.js";
import { described, fileOf, share, titleBeside, when } from "./words.js";
import { choiceOf } from "./work.js";

const STATES = ["stated", "in part", "not stated", "refused", "failed"];
const DEVIATIONS = ["standard", "acceptable", "deviates"];
const SORTS = ["document", "-document", "state", "-state", "probability", "-probability"];
const GRIDS = { xlsx: { format: "xlsx" }, csv: { format: "csv" } };
const ROWS = 50;
const LOOK_MS = 1000;
const nameOf = (one) => say(`table.${one.replaceAll(" ", "")}`);

/** Show the tables that there are, and a form for another. */
export function show(place) {
	const list = el("div");
	const back = () => show(place);
	async function load() {
		try {
			const found = await get("tables");
			fill(
				list,
				el("ul.rows", found.map((one) => row(one))),
				!found.length && el("p.hint", say("table.none")),
			);
		} catch (error) {
			fill(list, trouble(error, load));
		}
	}
	function row(one) {
		const told = described([titleOf(one.corpus), one.progress && counted(one.progress.documents, "document"), one.progress && counted(one.progress.questions, "question"), when(one.created), one.trouble]);
		const gone = async () => {
			if (!(await confirmed({ title: say("table.deleting"), text: say("table.gone", one), action: say("delete") }))) return;
			await tried(() => remove(["tables", one.id]));
			load();
		};
		const named = one.title || titleOf(one.corpus);
		return el("li", el("div", link(named, () => new Table(place, one, back).open()), el("p.detail", said(told))), button(say("table.delete", { title: named }), gone, { alone: "remove" }));
	}
	fill(place, list, el("details.making", el("summary", say("table.new")), newTable((made) => new Table(place, made, back).open())));
	load();
}

function newTable(made) {
	const collection = el("select", { id: "table-collection" }, state.collections.map((one) => el("option", { value: one.name, selected: one.name === asked()[0] }, one.title || one.name)));
	const title = el("input", { id: "table-title", maxlength: 200, autocomplete: "off" });
	const questions = el("textarea", { id: "table-questions", rows: 4, dir: "auto" });
	const lists = el("fieldset", el("legend.unseen", say("table.checklists")));
	const note = el("div");
	get("checklists").then(
		(found) => lists.append(...found.map((one) => el("label.choice", el("input", { type: "checkbox", value: one.name }), el("span", said(one.title || one.name), el("span.detail", counted(one.questions.length, "question")))))),
		(error) => fill(lists, trouble(error)),
	);
	const submitted = async () => {
		fill(note);
		const body = {
			collection: collection.value,
			title: title.value.trim(),
			questions: questions.value.split("\n").map((line) => line.trim()).filter(Boolean),
			checklists: [...lists.querySelectorAll("input:checked")].map((one) => one.value),
		};
		try {
			made(await post("tables", body));
		} catch (error) {
			fill(note, trouble(error));
		}
	};
	return form("form.new-table", submitted, field(say("documents.collection"), collection), field(say("table.title"), title), field(say("table.questions"), questions), lists, note, el("button.solid", say("table.make")));
}

/** One table: how far it is, which rows are wanted, and these. */
class Table {
	wanted = { containing: "", states: "", deviations: "", question: "", disagreeing: "", sort: "document" };

	constructor(place, info, back) {
		Object.assign(this, { place, info, back });
	}

	async open() {
		this.told = el("div.told");
		this.note = el("div");
		this.grid = el("div");
		const set = (name) => (value) => {
			this.wanted[name] = value;
			this.load();
		};
		const any = ["", say("register.all")];
		const containing = el("input", { id: "table-containing", type: "search", autocomplete: "off", on: { input: () => set("containing")(containing.value) } });
		const disagreeing = el("input", { id: "table-disagreeing", type: "checkbox", on: { change: () => set("disagreeing")(disagreeing.checked || "") } });
		const choices = el(
			"div.choices",
			field(say("register.document"), containing),
			choiceOf("table-question", say("table.column"), [any, ...this.info.checklist.questions.map((one) => [one.id, one.title])], set("question")),
			choiceOf("table-state", say("table.state"), [any, ...STATES.map((one) => [one, nameOf(one)])], set("states")),
			choiceOf("table-deviation", say("table.playbook"), [any, ...DEVIATIONS.map((one) => [one, nameOf(one)])], set("deviations")),
			choiceOf("table-sort", say("table.sort"), SORTS.map((one) => [one, say(`table.sort.${one}`)]), set("sort")),
			el("label.any-form", disagreeing, say("table.disagreeing")),
		);
		const filters = el("details.filters", { open: !narrow() }, el("summary", say("table.filter")), choices);
		fill(this.place, el("div.acts", button(say("table.all"), this.back, { icon: "back" })), el("h3", said(this.info.title || titleOf(this.info.corpus))), this.told, filters, this.note, this.grid);
		this.look();
		await this.load();
	}

	get isShown() {
		return this.grid.isConnected;
	}

	/** Tell how far it is, and look again as long as it is being filled. */
	async look() {
		try {
			this.info = await get(["tables", this.info.id]);
		} catch (error) {
			return fill(this.note, trouble(error, () => this.look()));
		}
		if (!this.isShown) return;
		const { run, progress } = this.info;
		const runs = run && ["waiting", "running"].includes(run.state);
		const act = (how, method) => () => tried(async () => {
			await method(["tables", this.info.id, "run"]);
			this.look();
		});
		const bar = runs && el("progress", { max: run.of || 1, value: run.done, "aria-label": say("table.progress") });
		const states = Object.entries(progress?.states ?? {}).map(([name, count]) => `${nameOf(name)} ${whole(count)}`);
		const files = [el("summary.quiet", say("export")), el("div.sheet", exportsOf("tables", this.info.id, GRIDS))];
		fill(
			this.told,
			el("p.detail", runs ? say("table.done", { done: whole(run.done), of: whole(run.of) }) : described([...states, progress?.corrected > 0 && say("table.corrected", { number: whole(progress.corrected) })])),
			bar,
			el("div.acts", runs ? button(say("stop"), act("stop", remove)) : button(say("table.run"), act("run", post)), el("details.menu.save", files)),
			run?.trouble && el("p.hint", said(run.trouble)),
		);
		if (runs) setTimeout(() => this.isShown && this.look(), LOOK_MS);
		if (this.ran !== run?.done) this.load();
		this.ran = run?.done;
	}

	async load() {
		const mine = (this.asking = (this.asking ?? 0) + 1);
		try {
			const page = await get(["tables", this.info.id, "rows"], { ...this.wanted, limit: ROWS });
			if (mine !== this.asking || !this.isShown) return;
			fill(this.note);
			this.draw(page);
		} catch (error) {
			if (mine === this.asking) fill(this.note, trouble(error, () => this.load()));
		}
	}

	draw({ total, rows }) {
		const { questions } = this.info.checklist;
		const head = el("tr", el("th", { scope: "col" }, say("register.document")), questions.map((one) => el("th", { scope: "col", title: one.question }, said(one.title))));
		const body = el("tbody", rows.map((row) => this.#row(row)));
		const more = button(say("work.more"), async () => {
			const next = await get(["tables", this.info.id, "rows"], { ...this.wanted, limit: ROWS, offset: body.children.length });
			body.append(...next.rows.map((row) => this.#row(row)));
			more.hidden = body.children.length >= total;
		}, { class: "outlined", hidden: rows.length >= total });
		fill(this.grid, el("p.detail", { role: "status" }, counted(total, "document")), el("div.scrolled", { tabindex: 0, role: "group", "aria-label": say("work.table") }, el("table.long.cells", el("thead", head), body)), more);
	}

	#row({ document, title, cells }) {
		const name = el("th", { scope: "row" }, said(fileOf(document)), el("span.detail", said(titleBeside(document, title))));
		const row = el("tr", name);
		const drawn = () => this.info.checklist.questions.map((one) => this.#cell(cells[one.id], one, (made) => {
			cells[one.id] = made;
			fill(row, name, drawn());
		}));
		return fill(row, name, drawn());
	}

	/** A cell: what the document says, marked where it deviates, disagrees, or was corrected. */
	#cell(cell, question, changed) {
		if (!cell) return el("td", { data: { label: question.title } });
		const { correction, citations, disagrees, probability, reason } = cell;
		const shown = { state: cell.state, answer: cell.answer, deviation: cell.deviation, ...(correction ?? {}) };
		const [first] = citations;
		const open = () => openSource({ collection: this.info.corpus, ...first });
		const words = shown.answer || (shown.state === "refused" || shown.state === "failed" ? reason : "");
		const tags = [shown.state !== "stated" && shown.state, shown.deviation].filter(Boolean);
		return el(
			"td",
			{ dir: "auto", data: { label: question.title, deviation: shown.deviation || "", disagrees: disagrees ? "yes" : "" } },
			words && first ? link(words, open, { class: "link cell-words" }) : said(words),
			el("span.tags", tags.map((one) => el("span.tag", { data: { kind: one } }, nameOf(one))), correction && el("span.tag", { data: { kind: "corrected" } }, say("table.iscorrected"))),
			disagrees && el("span.detail.unlike", said(disagrees)),
			el("span.cell-foot", typeof probability === "number" && el("span.detail", share(probability)), button(say("table.correct", { document: cell.document, question: question.title }), () => this.#correct(cell, shown, question, changed), { alone: "edit" })),
		);
	}

	#correct(cell, shown, question, changed) {
		const stated = el("select", { id: "cell-state" }, STATES.slice(0, 3).map((one) => el("option", { value: one, selected: one === shown.state }, nameOf(one))));
		const answer = el("textarea", { id: "cell-answer", rows: 4, dir: "auto", maxlength: 10000 }, shown.answer);
		const note = el("textarea", { id: "cell-note", rows: 2, dir: "auto", maxlength: 2000 }, shown.note ?? "");
		const deviation = el("select", { id: "cell-deviation" }, [["", say("table.byrules")], ...DEVIATIONS.map((one) => [one, nameOf(one)])].map(([value, words]) => el("option", { value, selected: value === shown.deviation }, words)));
		const problem = el("div");
		const quotes = cell.citations.map((one) => el("li", el("blockquote", { dir: "auto" }, said(one.quote)), el("span.detail", said([fileOf(one.document), one.section].filter(Boolean).join(", ")))));
		const submitted = async () => {
			const body = { document: cell.document, question: cell.question, expected: cell.revision, state: stated.value, answer: answer.value, note: note.value, deviation: deviation.value || null };
			try {
				changed(await put(["tables", this.info.id, "cell"], body));
				dialog.close("kept");
				announce(say("table.kept"));
			} catch (error) {
				fill(problem, trouble(error));
			}
		};
		const made = form("form.correcting", submitted, field(say("table.state"), stated), field(say("table.answer"), answer), field(say("table.playbook"), deviation), field(say("table.note"), note), problem, el("button.solid", say("table.keep")));
		const title = `${fileOf(cell.document)}: ${question.title}`;
		const body = [question.title !== question.question && el("p", said(question.question)), cell.correction && el("p.hint", say("table.by", { by: cell.correction.by, at: when(cell.correction.at) })), quotes.length > 0 && el("ul.quotes", quotes), made];
		const dialog = openDialog({ title, body, kind: "roomy" });
	}
}
